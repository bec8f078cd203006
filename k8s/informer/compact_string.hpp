#pragma once

#include <compare>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>
#include <string_view>

namespace k8s {

/// An immutable string of one pointer: what a stored view pays for text that no other view shares
/// (its name). The empty one owns nothing.
class compact_string {
public:
  compact_string() = default;
  compact_string(std::string_view text);
  compact_string(const char* text) : compact_string(std::string_view(text)) {}
  compact_string(const std::string& text) : compact_string(std::string_view(text)) {}
  compact_string(const compact_string& other) : compact_string(other.view()) {}
  compact_string(compact_string&& other) noexcept : block_(other.block_) { other.block_ = nullptr; }
  compact_string& operator=(compact_string other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~compact_string() { delete[] block_; }

  std::string_view view() const noexcept {
    if (!block_) return {};
    std::uint32_t length = 0;
    std::memcpy(&length, block_, sizeof length);
    return {block_ + sizeof length, length};
  }
  operator std::string_view() const noexcept { return view(); }
  std::string str() const { return std::string(view()); }
  bool empty() const noexcept { return !block_; }
  std::size_t size() const noexcept { return view().size(); }
  /// What it holds outside of itself.
  std::size_t heap_bytes() const noexcept { return block_ ? size() + sizeof(std::uint32_t) : 0; }

  friend bool operator==(const compact_string& a, const compact_string& b) noexcept {
    return a.view() == b.view();
  }
  friend bool operator==(const compact_string& a, std::string_view b) noexcept {
    return a.view() == b;
  }
  friend bool operator==(const compact_string& a, const char* b) noexcept { return a.view() == b; }
  friend bool operator==(const compact_string& a, const std::string& b) noexcept {
    return a.view() == b;
  }
  friend auto operator<=>(const compact_string& a, const compact_string& b) noexcept {
    return a.view() <=> b.view();
  }
  friend std::ostream& operator<<(std::ostream& out, const compact_string& s) {
    return out << s.view();
  }

private:
  char* block_ = nullptr;  // length, then the characters
};

}  // namespace k8s
