#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace re2 {
class RE2;
class StringPiece;
}  // namespace re2

namespace formats {

/// The expression as RE2 takes it: Go names a group by (?<n>…), too, and RE2 by (?P<n>…) alone.
std::string regex_for_re2(std::string_view pattern);
/// Go's words for what is wrong with an expression that RE2 refused: error parsing regexp: missing
/// closing ): `(`
std::string regex_syntax_text(const re2::RE2& re, const std::string& pattern);

/// What a program and its automaton may take where work is limited.
inline constexpr std::int64_t expression_bytes = 2 << 20;
/// Counts the steps of a pattern that is compiled, and of a text of so many bytes that is looked
/// through: one for some bytes or, where the automaton outgrows its memory, for each byte and
/// instruction.
/// Errors   std::length_error, also for a text that is too long for so large an expression.
void count_pattern(std::size_t bytes);
void count_match(const re2::RE2& re, std::size_t bytes);

/// The first match at or behind `from` and its groups, of which there must be one or more. As for
/// Go, no match is between the bytes of one character: RE2 finds an empty one there, by \B.
bool find_match(const re2::RE2& re, std::string_view text, std::size_t from,
                re2::StringPiece* groups, int count);

/// A text as Go's expressions see it, for which each byte that is no UTF-8 is U+FFFD. Views the
/// text that it was made of.
class regex_text {
public:
  explicit regex_text(std::string_view given);
  std::string_view seen() const noexcept { return replaced_.empty() ? given_ : seen_; }
  /// The part of the given text that `part`, of what is seen, stands for.
  std::string_view given(std::string_view part) const;

private:
  std::size_t place(std::size_t at) const;
  std::string_view given_;
  std::string seen_;
  std::vector<std::size_t> replaced_;  // where in seen_ the U+FFFD stand, in order
};

/// One of Go's regular expressions, which are RE2's: matched in time linear in the text, whatever
/// the expression and text come from.
class regex {
public:
  /// Null for what is none; `why` says so in Go's words.
  static std::shared_ptr<const regex> compile(std::string_view source, std::string* why = nullptr);
  /// True when it is found anywhere in `text`.
  bool found_in(std::string_view text) const { return place_in(text).has_value(); }
  /// The byte at which its first match begins.
  std::optional<std::size_t> place_in(std::string_view text) const;
  const std::string& source() const noexcept;

private:
  std::shared_ptr<const re2::RE2> compiled_;
  std::string source_;
};

}  // namespace formats
