#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace reactor {

/// Text that must not reach a log, an event, a metric or an error: it has no conversion and no way to be printed, and
/// its memory is overwritten when it is no longer used. reveal() is what a reviewer searches for.
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
  /// Takes the same time wherever the first difference is.
  friend bool operator==(const secret& a, const secret& b) noexcept {
    return equal(a.text_, b.text_);
  }

  template <class Stream>
  friend Stream& operator<<(Stream&, const secret&) = delete;

private:
  static void wipe(std::string& text) noexcept;
  static bool equal(const std::string& a, const std::string& b) noexcept;
  std::string text_;
};

/// `text` without what looks like a credential: user information in URLs, bearer and basic tokens, JSON web tokens, and
/// query parameters named after one. For text that came from elsewhere; our own secrets never get into a text.
std::string redact(std::string_view text);

}  // namespace reactor
