#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace reactor {

/// Text that must not reach a log, an event, a metric or an error: it has no conversion and no way
/// to be printed. reveal() is what a reviewer searches for.
class secret {
public:
  secret() = default;
  explicit secret(std::string text) : text_(std::move(text)) {}

  /// Views this object.
  const std::string& reveal() const noexcept { return text_; }
  bool empty() const noexcept { return text_.empty(); }
  friend bool operator==(const secret&, const secret&) = default;

private:
  std::string text_;
};

}  // namespace reactor
