#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace formats {

/// UTF-8 that may be invalid, decoded code point by code point.

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

/// The text between quote marks with escapes as in C (\n, \x07, \u00ad) for what does not print, or
/// for all beyond ASCII.
enum class quoting { printable, ascii };
std::string quote(std::string_view s, char mark = '"', quoting how = quoting::printable);
std::string quote_rune(char32_t r, quoting how = quoting::printable);

std::string_view trim_space(std::string_view s);
std::string_view trim_set(std::string_view s, std::string_view cutset);
/// As std::string_view::find, in time that grows with the two lengths and not with their product.
std::size_t find_text(std::string_view s, std::string_view what, std::size_t from = 0);
std::vector<std::string> split(std::string_view s, std::string_view separator, int limit = -1);
std::string replace_all(std::string_view s, std::string_view from, std::string_view to);
bool equal_fold(std::string_view a, std::string_view b);

}  // namespace formats
