#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>

namespace k8s {

/// An immutable array of one pointer, counted, so that copying a view copies no array. The empty
/// one owns nothing. One thread: the count is not atomic.
template <class T>
class shared_array {
public:
  shared_array() = default;
  explicit shared_array(std::span<T> moved_from) {
    if (moved_from.empty()) return;
    static_assert(alignof(T) <= alignof(header));
    block_ = static_cast<header*>(::operator new(sizeof(header) + moved_from.size() * sizeof(T)));
    new (block_) header{1, static_cast<std::uint32_t>(moved_from.size())};
    T* at = elements();
    for (T& value : moved_from) new (at++) T(std::move(value));
  }
  shared_array(const shared_array& other) noexcept : block_(other.block_) {
    if (block_) ++block_->references;
  }
  shared_array(shared_array&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  shared_array& operator=(shared_array other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~shared_array() {
    if (!block_ || --block_->references) return;
    for (T& value : std::span<T>(elements(), block_->count)) value.~T();
    ::operator delete(block_);
  }

  std::span<const T> view() const noexcept {
    return block_ ? std::span<const T>(elements(), block_->count) : std::span<const T>();
  }
  const T* begin() const noexcept { return view().data(); }
  const T* end() const noexcept { return view().data() + view().size(); }
  std::size_t size() const noexcept { return block_ ? block_->count : 0; }
  bool empty() const noexcept { return !block_; }
  const T& operator[](std::size_t i) const noexcept { return view()[i]; }
  std::size_t heap_bytes() const noexcept {
    return block_ ? sizeof(header) + size() * sizeof(T) : 0;
  }

  friend bool operator==(const shared_array& a, const shared_array& b) noexcept {
    if (a.block_ == b.block_) return true;
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!(a[i] == b[i])) return false;
    return true;
  }

private:
  struct alignas(8) header {
    std::uint32_t references, count;
  };
  T* elements() const noexcept { return reinterpret_cast<T*>(block_ + 1); }
  header* block_ = nullptr;
};

}  // namespace k8s
