#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace formats {

/// Go's words for what is wrong with an expression that RE2 refused: error parsing regexp: missing
/// closing ): `(`
std::string regex_syntax_text(const re2::RE2& re, const std::string& pattern);

/// One of Go's regular expressions, which are RE2's: matched in time linear in the text, wherever
/// expression and text come from.
class regex {
public:
  /// Null for what is none; `why` says so in Go's words.
  static std::shared_ptr<const regex> compile(std::string_view source, std::string* why = nullptr);
  /// True when it is found anywhere in `text`.
  bool found_in(std::string_view text) const;
  const std::string& source() const noexcept;

private:
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace formats
