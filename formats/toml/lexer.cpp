// One state machine with all its states; they refer to one another too much to be parted.
#include "formats/toml/lexer.hpp"

#include "formats/plain/text.hpp"

#include <cstdio>
#include <utility>

namespace formats {
namespace {

constexpr char32_t end_of_text = 0;

bool is_white(char32_t r) {
  return r == '\t' || r == ' ';
}
bool is_newline(char32_t r) {
  return r == '\n' || r == '\r';
}
bool is_control(char32_t r) {
  return r != '\t' && !is_newline(r) && (r < ' ' || r == 0x7f);
}
bool is_decimal(char32_t r) {
  return r >= '0' && r <= '9';
}
bool is_binary(char32_t r) {
  return r == '0' || r == '1';
}
bool is_octal(char32_t r) {
  return r >= '0' && r <= '7';
}
bool is_hexadecimal(char32_t r) {
  return is_decimal(r) || ((r | 0x20) >= 'a' && (r | 0x20) <= 'f');
}
bool is_bare(char32_t r) {
  return (r >= 'A' && r <= 'Z') || (r >= 'a' && r <= 'z') || is_decimal(r) || r == '_' || r == '-';
}

std::string text_of(char32_t r) {
  std::string s;
  append_rune(s, r);
  return s;
}
std::string byte_text(const char* format, unsigned n) {
  char buffer[80];
  std::snprintf(buffer, sizeof buffer, format, n);
  return buffer;
}
std::string rune_or_end(char32_t r) {
  return r == end_of_text ? "end of file" : "'" + text_of(r) + "'";
}

}  // namespace

toml_item toml_lexer::next_item() {
  while (items_.empty()) {
    try {
      state_ = (this->*state_.run)();
    } catch (const failed&) {
      state_ = {};
    }
  }
  toml_item first = std::move(items_.front());
  items_.pop_front();
  return first;
}

char32_t toml_lexer::next() {
  if (at_ >= text_.size()) {
    at_end_ = true;
    return end_of_text;
  }
  if (text_[at_] == '\n') ++line_;
  const decoded d = decode_rune(text_.substr(at_));
  if (!d.valid()) {
    emit_error(byte_text("invalid UTF-8 byte: 0x%02x", static_cast<unsigned char>(text_[at_])),
               line_);
    throw failed{};
  }
  const bool alone = d.rune == '\r' && (at_ + 1 == text_.size() || text_[at_ + 1] != '\n');
  if (is_control(d.rune) || alone) {
    emit_error(byte_text("TOML files cannot contain control characters: '0x%02x'", d.rune), line_);
    throw failed{};
  }
  for (int i = 3; i > 0; --i) widths_[i] = widths_[i - 1];
  widths_[0] = static_cast<std::size_t>(d.size);
  at_ += widths_[0];
  return d.rune;
}

void toml_lexer::back() {
  if (at_end_) {
    at_end_ = false;
    return;
  }
  at_ -= widths_[0];
  for (int i = 0; i < 3; ++i) widths_[i] = widths_[i + 1];
  if (at_ < text_.size() && text_[at_] == '\n') --line_;
}

bool toml_lexer::accept(char32_t wanted) {
  if (next() == wanted) return true;
  back();
  return false;
}

char32_t toml_lexer::peek() {
  const char32_t r = next();
  back();
  return r;
}

template <class Test>
void toml_lexer::skip(Test test) {
  while (test(next())) {
  }
  back();
  ignore();
}

void toml_lexer::emit(kind what) {
  items_.push_back({what, std::string(current()), line_});
  start_ = at_;
}

void toml_lexer::emit_error(std::string text, int line) {
  items_.push_back({kind::error, std::move(text), line});
}

void toml_lexer::fail(std::string text) {
  const bool behind_newline = at_end_ && at_ >= 1 && text_[at_ - 1] == '\n';
  emit_error(std::move(text), behind_newline ? line_ - 1 : line_);
  throw failed{};
}
void toml_lexer::fail_on_line(std::string text) {
  emit_error(std::move(text), at_end_ ? line_ - 1 : line_);
  throw failed{};
}
void toml_lexer::fail_on_previous_line(std::string text) {
  emit_error(std::move(text), line_ - 1);
  throw failed{};
}

toml_lexer::state toml_lexer::pop() {
  const state last = stack_.back();
  stack_.pop_back();
  return last;
}
toml_lexer::state toml_lexer::skipped(state (toml_lexer::*then)()) {
  ignore();
  return {then};
}

toml_lexer::state toml_lexer::top() {
  const char32_t r = next();
  if (is_white(r) || is_newline(r)) return skipped(&toml_lexer::top);
  if (r == '#') {
    stack_.push_back({&toml_lexer::top});
    return {&toml_lexer::comment_start};
  }
  if (r == '[') return {&toml_lexer::table_start};
  if (r == end_of_text) {
    emit(kind::end);
    return {};
  }
  back();
  stack_.push_back({&toml_lexer::top_end});
  return {&toml_lexer::key_start};
}

toml_lexer::state toml_lexer::top_end() {
  const char32_t r = next();
  if (r == '#') {
    stack_.push_back({&toml_lexer::top});
    return {&toml_lexer::comment_start};
  }
  if (is_white(r)) return {&toml_lexer::top_end};
  if (is_newline(r)) return skipped(&toml_lexer::top);
  if (r == end_of_text) {
    emit(kind::end);
    return {};
  }
  fail("expected a top-level item to end with a newline, comment, or EOF, but got " +
       quote_rune(r) + " instead");
}

toml_lexer::state toml_lexer::table_start() {
  if (peek() == '[') {
    next();
    emit(kind::array_table_start);
    stack_.push_back({&toml_lexer::array_table_end});
  } else {
    emit(kind::table_start);
    stack_.push_back({&toml_lexer::table_end});
  }
  return {&toml_lexer::table_name_start};
}

toml_lexer::state toml_lexer::table_end() {
  emit(kind::table_end);
  return {&toml_lexer::top_end};
}

toml_lexer::state toml_lexer::array_table_end() {
  if (const char32_t r = next(); r != ']')
    fail("expected end of table array name delimiter ']', but got " + quote_rune(r) + " instead");
  emit(kind::array_table_end);
  return {&toml_lexer::top_end};
}

toml_lexer::state toml_lexer::table_name_start() {
  skip(is_white);
  const char32_t r = peek();
  if (r == ']' || r == end_of_text)
    fail("unexpected end of table name (table names cannot be empty)");
  if (r == '.') fail("unexpected table separator (table names cannot be empty)");
  stack_.push_back({&toml_lexer::table_name_end});
  if (r == '"' || r == '\'') return skipped(&toml_lexer::quoted_name);
  return {&toml_lexer::bare_name};
}

toml_lexer::state toml_lexer::table_name_end() {
  skip(is_white);
  const char32_t r = next();
  if (r == '.') return skipped(&toml_lexer::table_name_start);
  if (r == ']') return pop();
  fail("expected '.' or ']' to end table name, but got " + quote_rune(r) + " instead");
}

toml_lexer::state toml_lexer::bare_name() {
  while (is_bare(next())) {
  }
  back();
  emit(kind::text);
  return pop();
}

toml_lexer::state toml_lexer::quoted_name() {
  const bool raw = next() == '\'';
  return skipped(raw ? &toml_lexer::raw_string : &toml_lexer::string);
}

toml_lexer::state toml_lexer::key_start() {
  skip(is_white);
  const char32_t r = peek();
  if (r == '=' || r == end_of_text) fail("unexpected '=': key name appears blank");
  if (r == '.') fail("unexpected '.': keys cannot start with a '.'");
  emit(kind::key_start);
  return {&toml_lexer::key_name_start};
}

toml_lexer::state toml_lexer::key_name_start() {
  skip(is_white);
  const char32_t r = peek();
  if (r == '=' || r == end_of_text) fail("unexpected '='");
  if (r == '.') fail("unexpected '.'");
  stack_.push_back({&toml_lexer::key_end});
  if (r == '"' || r == '\'') return skipped(&toml_lexer::quoted_name);
  return {&toml_lexer::bare_name};
}

toml_lexer::state toml_lexer::key_end() {
  skip(is_white);
  const char32_t r = next();
  if (r == end_of_text) fail("unexpected EOF; expected key separator '='");
  if (r == '.') return skipped(&toml_lexer::key_name_start);
  if (r == '=') {
    emit(kind::key_end);
    return skipped(&toml_lexer::value);
  }
  std::string text = "expected '.' or '=', but got " + quote_rune(r) + " instead";
  if (r == '\n') fail_on_previous_line(std::move(text));
  fail(std::move(text));
}

toml_lexer::state toml_lexer::value() {
  const char32_t r = next();
  if (is_white(r)) return skipped(&toml_lexer::value);
  if (is_decimal(r)) {
    back();
    return {&toml_lexer::number_or_date_start};
  }
  switch (r) {
    case '[':
      ignore();
      emit(kind::array);
      return {&toml_lexer::array_value};
    case '{':
      ignore();
      emit(kind::inline_table);
      return {&toml_lexer::inline_table_value};
    case '"':
    case '\'':
      if (accept(r)) {
        if (accept(r))
          return skipped(r == '"' ? &toml_lexer::multiline_string
                                  : &toml_lexer::multiline_raw_string);
        back();
      }
      return skipped(r == '"' ? &toml_lexer::string : &toml_lexer::raw_string);
    case '.': fail("floats must start with a digit, not '.'");
    case 'i':
    case 'n':
      if ((accept('n') && accept('f')) || (accept('a') && accept('n'))) {
        emit(kind::real);
        return pop();
      }
      break;
    case '-':
    case '+': return {&toml_lexer::decimal_number_start};
    default: break;
  }
  if (is_letter(r)) {
    back();
    return {&toml_lexer::boolean};
  }
  if (r == end_of_text) fail("unexpected EOF; expected value");
  std::string text = "expected value but found " + quote_rune(r) + " instead";
  if (r == '\n') fail_on_previous_line(std::move(text));
  fail(std::move(text));
}

toml_lexer::state toml_lexer::array_value() {
  const char32_t r = next();
  if (is_white(r) || is_newline(r)) return skipped(&toml_lexer::array_value);
  if (r == '#') {
    stack_.push_back({&toml_lexer::array_value});
    return {&toml_lexer::comment_start};
  }
  if (r == ',') fail("unexpected comma");
  if (r == ']') return {&toml_lexer::array_end};
  back();
  stack_.push_back({&toml_lexer::array_value_end});
  return {&toml_lexer::value};
}

toml_lexer::state toml_lexer::array_value_end() {
  const char32_t r = next();
  if (is_white(r) || is_newline(r)) return skipped(&toml_lexer::array_value_end);
  if (r == '#') {
    stack_.push_back({&toml_lexer::array_value_end});
    return {&toml_lexer::comment_start};
  }
  if (r == ',') return skipped(&toml_lexer::array_value);
  if (r == ']') return {&toml_lexer::array_end};
  fail("expected a comma (',') or array terminator (']'), but got " + rune_or_end(r));
}

toml_lexer::state toml_lexer::array_end() {
  ignore();
  emit(kind::array_end);
  return pop();
}

toml_lexer::state toml_lexer::inline_table_value() {
  const char32_t r = next();
  if (is_white(r) || is_newline(r)) return skipped(&toml_lexer::inline_table_value);
  if (r == '#') {
    stack_.push_back({&toml_lexer::inline_table_value});
    return {&toml_lexer::comment_start};
  }
  if (r == ',') fail("unexpected comma");
  if (r == '}') return {&toml_lexer::inline_table_end};
  back();
  stack_.push_back({&toml_lexer::inline_table_value_end});
  return {&toml_lexer::key_start};
}

toml_lexer::state toml_lexer::inline_table_value_end() {
  const char32_t r = next();
  if (is_white(r) || is_newline(r)) return skipped(&toml_lexer::inline_table_value_end);
  if (r == '#') {
    stack_.push_back({&toml_lexer::inline_table_value_end});
    return {&toml_lexer::comment_start};
  }
  if (r == ',') {
    ignore();
    skip(is_white);
    return {peek() == '}' ? &toml_lexer::inline_table_value_end : &toml_lexer::inline_table_value};
  }
  if (r == '}') return {&toml_lexer::inline_table_end};
  fail("expected a comma or an inline table terminator '}', but got " + rune_or_end(r) +
       " instead");
}

toml_lexer::state toml_lexer::inline_table_end() {
  ignore();
  emit(kind::inline_table_end);
  return pop();
}

toml_lexer::state toml_lexer::string() {
  for (;;) {
    const char32_t r = next();
    if (r == end_of_text) fail("unexpected EOF; expected '\"'");
    if (is_newline(r)) fail_on_previous_line("strings cannot contain newlines");
    if (r == '\\') {
      stack_.push_back({&toml_lexer::string});
      return {&toml_lexer::string_escape};
    }
    if (r != '"') continue;
    back();
    emit(std::exchange(escaped_, false) ? kind::escaped_string : kind::string);
    next();
    ignore();
    return pop();
  }
}

toml_lexer::state toml_lexer::multiline_string() {
  for (;;) {
    const char32_t r = next();
    if (r == end_of_text) fail("unexpected EOF; expected '\"\"\"'");
    if (r == '\\') return {&toml_lexer::multiline_string_escape};
    if (r != '"' || !accept('"')) continue;
    if (!accept('"')) {
      back();
      continue;
    }
    // One or two quotes may stand before the last three, also one that is escaped; more are an
    // error.
    if (peek() != '"') return end_of_multiline_string(kind::multiline_string);
    if (current().ends_with("\"\"\"\"\"") && !current().ends_with("\\\"\"\"\"\""))
      fail("unexpected '\"\"\"\"\"\"'");
    back();
    back();
  }
}

toml_lexer::state toml_lexer::multiline_raw_string() {
  for (;;) {
    const char32_t r = next();
    if (r == end_of_text) fail("unexpected EOF; expected \"'''\"");
    if (r != '\'' || !accept('\'')) continue;
    if (!accept('\'')) {
      back();
      continue;
    }
    if (peek() != '\'') return end_of_multiline_string(kind::raw_multiline_string);
    if (current().ends_with("'''''")) fail("unexpected \"''''''\"");
    back();
    back();
  }
}

toml_lexer::state toml_lexer::end_of_multiline_string(kind what) {
  for (int i = 0; i < 3; ++i) back();
  if (what == kind::multiline_string) escaped_ = false;
  emit(what);
  for (int i = 0; i < 3; ++i) next();
  ignore();
  return pop();
}

toml_lexer::state toml_lexer::raw_string() {
  for (;;) {
    const char32_t r = next();
    if (r == end_of_text) fail("unexpected EOF; expected \"'\"");
    if (is_newline(r)) fail_on_previous_line("strings cannot contain newlines");
    if (r != '\'') continue;
    back();
    emit(kind::raw_string);
    next();
    ignore();
    return pop();
  }
}

toml_lexer::state toml_lexer::multiline_string_escape() {
  if (is_newline(next())) return {&toml_lexer::multiline_string};
  back();
  stack_.push_back({&toml_lexer::multiline_string});
  return string_escape();
}

toml_lexer::state toml_lexer::string_escape() {
  escaped_ = true;
  const char32_t r = next();
  if (r != end_of_text && r < 0x80 &&
      std::string_view("ebtnfr\" \t\\").find(static_cast<char>(r)) != std::string_view::npos)
    return pop();
  if (r == 'x') return hexadecimal(2, "two hexadecimal digits after '\\x'");
  if (r == 'u') return hexadecimal(4, "four hexadecimal digits after '\\u'");
  if (r == 'U') return hexadecimal(8, "eight hexadecimal digits after '\\U'");
  fail_on_line("invalid escape in string '\\" + text_of(r) + "'");
}

toml_lexer::state toml_lexer::hexadecimal(int digits, const char* what) {
  for (int i = 0; i < digits; ++i)
    if (!is_hexadecimal(next()))
      fail("expected " + std::string(what) + ", but got " + quote(current()) + " instead");
  return pop();
}

toml_lexer::state toml_lexer::number_or_date_start() {
  return {next() == '0' ? &toml_lexer::base_number_or_date : &toml_lexer::number_or_date};
}

toml_lexer::state toml_lexer::number_or_date() {
  for (;;) {
    const char32_t r = next();
    if (is_decimal(r)) continue;
    if (r == '-' || r == ':') return {&toml_lexer::date};
    if (r == '_') return {&toml_lexer::decimal_number};
    if (r == '.' || r == 'e' || r == 'E') return {&toml_lexer::real};
    back();
    emit(kind::integer);
    return pop();
  }
}

toml_lexer::state toml_lexer::date() {
  for (;;) {
    const char32_t r = next();
    const bool inside =
        r != end_of_text && r < 0x80 &&
        std::string_view("-:Tt .Zz+").find(static_cast<char>(r)) != std::string_view::npos;
    if (is_decimal(r) || inside) continue;
    back();
    items_.push_back({kind::date, std::string(trim_space(current())), line_});
    start_ = at_;
    return pop();
  }
}

toml_lexer::state toml_lexer::integer_of(bool (*is_one)(char32_t)) {
  for (;;) {
    const char32_t r = next();
    if (is_one(r) || r == '_') continue;
    back();
    emit(kind::integer);
    return pop();
  }
}

toml_lexer::state toml_lexer::decimal_number() {
  for (;;) {
    const char32_t r = next();
    if (is_decimal(r) || r == '_') continue;
    if (r == '.' || r == 'e' || r == 'E') return {&toml_lexer::real};
    back();
    emit(kind::integer);
    return pop();
  }
}

toml_lexer::state toml_lexer::decimal_number_start() {
  const char32_t r = next();
  if (r == 'i' || r == 'n') {
    const bool whole = r == 'i' ? accept('n') && accept('f') : accept('a') && accept('n');
    if (!whole) fail("invalid float: '" + std::string(current()) + "'");
    emit(kind::real);
    return pop();
  }
  if (r == '0') {
    const char32_t base = peek();
    if (base == 'b' || base == 'o' || base == 'x')
      fail("cannot use sign with non-decimal numbers: '" + std::string(current()) + text_of(base) +
           "'");
  }
  if (r == '.') fail("floats must start with a digit, not '.'");
  if (is_decimal(r)) return {&toml_lexer::decimal_number};
  fail("expected a digit but got " + quote_rune(r));
}

toml_lexer::state toml_lexer::base_number_or_date() {
  const char32_t r = next();
  if (is_decimal(r)) return {&toml_lexer::number_or_date};
  if (r == '_') return {&toml_lexer::decimal_number};
  if (r == '.' || r == 'e' || r == 'E') return {&toml_lexer::real};
  const auto based = [&](bool (*is_one)(char32_t), const char* what) {
    if (const char32_t first = peek(); !is_one(first))
      fail("not " + std::string(what) + " number: '" + std::string(current()) + text_of(first) +
           "'");
    return integer_of(is_one);
  };
  if (r == 'b') return based(is_binary, "a binary");
  if (r == 'o') return based(is_octal, "an octal");
  if (r == 'x') return based(is_hexadecimal, "a hexadecimal");
  back();
  emit(kind::integer);
  return pop();
}

toml_lexer::state toml_lexer::real() {
  for (;;) {
    const char32_t r = next();
    if (is_decimal(r) || r == '_' || r == '.' || r == '-' || r == '+' || r == 'e' || r == 'E')
      continue;
    back();
    emit(kind::real);
    return pop();
  }
}

toml_lexer::state toml_lexer::boolean() {
  std::string letters;
  char32_t r = next();
  for (; is_letter(r); r = next()) append_rune(letters, r);
  back();
  if (letters != "true" && letters != "false")
    fail("expected value but found " + quote(letters) + " instead");
  emit(kind::boolean);
  return pop();
}

toml_lexer::state toml_lexer::comment_start() {
  ignore();
  emit(kind::comment);
  return {&toml_lexer::comment};
}

toml_lexer::state toml_lexer::comment() {
  char32_t r = next();
  while (!is_newline(r) && r != end_of_text) r = next();
  back();
  emit(kind::text);
  return pop();
}

}  // namespace formats
