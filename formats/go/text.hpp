#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace formats {

/// Text as Go sees it: UTF-8 bytes that may be invalid, decoded rune by rune.

inline constexpr char32_t rune_error = 0xfffd;

struct decoded {
  char32_t rune;
  int size;  // bytes consumed; 0 at the end of the text
  bool valid() const { return !(rune == rune_error && size == 1); }
};

decoded decode_rune(std::string_view s);
void append_rune(std::string& out, char32_t rune);
std::size_t rune_count(std::string_view s);
bool valid_utf8(std::string_view s);
/// Every invalid byte becomes U+FFFD.
std::string to_valid_utf8(std::string_view s);

bool is_letter(char32_t r);
bool is_digit(char32_t r);   // decimal digits
bool is_number(char32_t r);  // any number
bool is_print(char32_t r);
bool is_upper(char32_t r);
bool is_lower(char32_t r);
bool is_title(char32_t r);
bool is_space(char32_t r);
bool is_punct(char32_t r);
char32_t to_upper(char32_t r);
char32_t to_lower(char32_t r);
char32_t to_title(char32_t r);
std::string upper(std::string_view s);
std::string lower(std::string_view s);

/// strconv.Quote, with its quote character and the variant that escapes all beyond ASCII.
enum class quoting { printable, ascii };
std::string quote(std::string_view s, char mark = '"', quoting how = quoting::printable);
std::string quote_rune(char32_t r, quoting how = quoting::printable);
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

std::string_view trim_space(std::string_view s);
std::string_view trim_set(std::string_view s, std::string_view cutset);
/// As std::string_view::find, in time that grows with the two lengths and not with their product.
std::size_t find_text(std::string_view s, std::string_view what, std::size_t from = 0);
std::vector<std::string> split(std::string_view s, std::string_view separator, int limit = -1);
std::string replace_all(std::string_view s, std::string_view from, std::string_view to);
bool equal_fold(std::string_view a, std::string_view b);

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
