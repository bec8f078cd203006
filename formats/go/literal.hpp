#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace formats {

/// Go's literals and numbers as text (strconv).

/// strconv.Unquote for all three kinds of Go literals; nothing when the syntax is wrong.
std::optional<std::string> unquote(std::string_view literal);
struct unquoted_char {
  char32_t rune;
  bool multibyte;  // false: a single byte, perhaps not valid UTF-8
  std::size_t size;
};
std::optional<unquoted_char> unquote_char(std::string_view s, char mark);
/// True when `s` can be written between back quotes.
bool can_backquote(std::string_view s);
/// "U+0041 'A'" (%#U).
std::string unicode_name(char32_t r);

/// Shortest digits that read back as the same number. `format` is e, f or g as in
/// strconv.FormatFloat with precision -1; bits 32 rounds to float first.
std::string format_float(double d, char format = 'g', int bits = 64);
/// strconv.ParseFloat; nothing on a syntax error, ±Inf with `out_of_range` set beyond the range.
struct parsed_float {
  double number;
  bool out_of_range;
};
std::optional<parsed_float> parse_float(std::string_view s);
enum class int_error { none, syntax, range };
struct parsed_int {
  std::int64_t number = 0;
  int_error error = int_error::none;
};
struct parsed_uint {
  std::uint64_t number = 0;
  int_error error = int_error::none;
};
/// strconv.ParseInt and ParseUint; base 0 takes prefixes and underscores.
parsed_int parse_int(std::string_view s, int base);
parsed_uint parse_uint(std::string_view s, int base);
/// Go's float64 → int64 conversion on amd64: out of range gives the smallest number.
std::int64_t to_int64(double d);

}  // namespace formats
