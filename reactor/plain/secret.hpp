#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace reactor {

/// Overwrites memory that will not be read, which a compiler would otherwise leave out.
inline void wipe(void* at, std::size_t n) noexcept {
  if (n == 0) return;
  std::memset(at, 0, n);
  asm volatile("" : : "r"(at) : "memory");
}
/// The whole capacity: a short text leaves its bytes in the object when it is moved away.
inline void wipe(std::string& text) noexcept {
  text.resize(text.capacity());
  wipe(text.data(), text.size());
  text.clear();
}

/// Overwrites what it gets back.
template <class T>
struct wiping_allocator {
  using value_type = T;
  wiping_allocator() = default;
  template <class U>
  wiping_allocator(const wiping_allocator<U>&) noexcept {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T))); }
  void deallocate(T* at, std::size_t n) noexcept {
    wipe(at, n * sizeof(T));
    ::operator delete(at);
  }
  friend bool operator==(const wiping_allocator&, const wiping_allocator&) { return true; }
};

/// A text on its way in or out that a secret may be a part of: every piece of memory that it
/// outgrows or leaves is overwritten. Its first 15 bytes may stand in the object itself, where they
/// are not.
using wiped_string = std::basic_string<char, std::char_traits<char>, wiping_allocator<char>>;

/// Text that must not reach a log, an event, a metric or an error: it has no conversion and no way
/// to be printed, and its memory is overwritten when it is no longer used. reveal() is what a
/// reviewer searches for.
class secret {
public:
  secret() = default;
  explicit secret(std::string text) noexcept : text_(std::move(text)) { wipe(text); }
  secret(const secret&) = default;
  secret(secret&& other) noexcept : text_(std::move(other.text_)) { wipe(other.text_); }
  secret& operator=(const secret& other) {
    if (this != &other) *this = secret(other);
    return *this;
  }
  secret& operator=(secret&& other) noexcept {
    if (this != &other) {
      std::swap(text_, other.text_);
      wipe(other.text_);
    }
    return *this;
  }
  ~secret() { wipe(text_); }

  /// Views this object.
  const std::string& reveal() const noexcept { return text_; }
  bool empty() const noexcept { return text_.empty(); }
  /// Takes the same time whatever the place of the first difference.
  friend bool operator==(const secret& a, const secret& b) noexcept {
    return equal(a.text_, b.text_);
  }

  template <class Stream>
  friend Stream& operator<<(Stream&, const secret&) = delete;

private:
  static bool equal(const std::string& a, const std::string& b) noexcept;
  std::string text_;
};

/// `text` without what looks like a credential: user information in URLs, bearer and basic tokens,
/// JSON web tokens, and query parameters named after one. For text that came from elsewhere; our
/// own secrets never get into a text.
std::string redact(std::string_view text);

}  // namespace reactor
