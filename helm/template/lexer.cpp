#include "helm/template/lexer.hpp"

#include "helm/go.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace helm {
namespace {

constexpr std::string_view spaces = " \t\r\n";

bool is_blank(char32_t r) {
  return r == ' ' || r == '\t' || r == '\r' || r == '\n';
}
bool is_alphanumeric(char32_t r) {
  if (r < 0x80)
    return r == '_' || (r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z');
  return r <= 0x10ffff && (is_letter(r) || is_digit(r));
}
bool has_left_trim(std::string_view s) {
  return s.size() >= 2 && s[0] == '-' && is_blank(static_cast<unsigned char>(s[1]));
}
bool has_right_trim(std::string_view s) {
  return s.size() >= 2 && is_blank(static_cast<unsigned char>(s[0])) && s[1] == '-';
}

constexpr std::array<std::pair<std::string_view, token_kind>, 12> keywords{{
    {"block", token_kind::block},
    {"break", token_kind::break_},
    {"continue", token_kind::continue_},
    {"define", token_kind::define},
    {"else", token_kind::else_},
    {"end", token_kind::end},
    {"if", token_kind::if_},
    {"nil", token_kind::nil},
    {"range", token_kind::range},
    {"template", token_kind::template_},
    {"with", token_kind::with},
    {".", token_kind::dot},
}};

}  // namespace

std::string token_text(const token& t) {
  if (t.kind == token_kind::eof) return "EOF";
  if (t.kind == token_kind::error) return t.message;
  if (t.kind >= token_kind::block) return "<" + std::string(t.text) + ">";
  if (t.text.size() > 10) {
    std::size_t at = 0;
    for (int n = 0; n < 10 && at < t.text.size(); ++n)
      at += static_cast<std::size_t>(decode_rune(t.text.substr(at)).size);
    return quote(t.text.substr(0, at)) + "...";
  }
  return quote(t.text);
}

char32_t template_lexer::read() {
  if (position_ >= input_.size()) {
    at_end_ = true;
    return end_of_text;
  }
  auto d = decode_rune(rest());
  position_ += static_cast<std::size_t>(d.size);
  last_size_ = d.size;
  if (d.rune == '\n') ++line_;
  return d.rune;
}

void template_lexer::back() {
  if (at_end_ || position_ == 0) return;
  // Only the rune read last is ever given back.
  position_ -= static_cast<std::size_t>(last_size_);
  if (input_[position_] == '\n') --line_;
}

char32_t template_lexer::peek() {
  auto r = read();
  back();
  return r;
}

bool template_lexer::accept(std::string_view set) {
  auto r = read();
  if (r < 0x80 && set.find(static_cast<char>(r)) != set.npos) return true;
  back();
  return false;
}

void template_lexer::accept_run(std::string_view set) {
  while (accept(set)) {
  }
}

int template_lexer::newlines(std::size_t from, std::size_t to) const {
  return static_cast<int>(std::count(input_.begin() + static_cast<std::ptrdiff_t>(from),
                                     input_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
}

token template_lexer::take(token_kind kind) {
  token t{kind, start_, input_.substr(start_, position_ - start_), start_line_, {}};
  start_ = position_;
  start_line_ = line_;
  return t;
}

void template_lexer::ignore() {
  line_ += newlines(start_, position_);
  start_ = position_;
  start_line_ = line_;
}

token template_lexer::error(std::string message) {
  token t{token_kind::error, start_, {}, start_line_, std::move(message)};
  start_ = 0;
  position_ = 0;
  input_ = {};
  return t;
}

token template_lexer::next() {
  return inside_ ? lex_inside() : lex_text();
}

token template_lexer::lex_text() {
  for (;;) {
    auto at = rest().find("{{");
    if (at == std::string_view::npos) {
      position_ = input_.size();
      if (position_ > start_) {
        line_ += newlines(start_, position_);
        return take(token_kind::text);
      }
      return token{token_kind::eof, start_, "EOF", start_line_, {}};
    }
    if (at > 0) {
      position_ += at;
      std::size_t trim = 0;
      if (has_left_trim(input_.substr(position_ + 2))) {
        auto text = input_.substr(start_, position_ - start_);
        auto last = text.find_last_not_of(spaces);
        trim = text.size() - (last == text.npos ? 0 : last + 1);
      }
      position_ -= trim;
      line_ += newlines(start_, position_);
      auto t = take(token_kind::text);
      position_ += trim;
      ignore();
      if (!t.text.empty()) return t;
    }
    // At the left delimiter.
    position_ += 2;
    bool trims = has_left_trim(rest());
    std::size_t after = trims ? 2 : 0;
    if (input_.substr(position_ + after).starts_with("/*")) {
      position_ += after;
      ignore();
      token failure;
      if (!skip_comment(failure)) return failure;
      continue;
    }
    auto t = take(token_kind::left_delimiter);
    inside_ = true;
    position_ += after;
    ignore();
    parens_ = 0;
    return t;
  }
}

bool template_lexer::skip_comment(token& failure) {
  position_ += 2;
  auto close = rest().find("*/");
  if (close == std::string_view::npos) {
    failure = error("unclosed comment");
    return false;
  }
  position_ += close + 2;
  auto delimiter = at_right_delimiter();
  if (!delimiter.there) {
    failure = error("comment ends before closing delimiter");
    return false;
  }
  line_ += newlines(start_, position_);
  take(token_kind::text);
  if (delimiter.trims) position_ += 2;
  position_ += 2;
  if (delimiter.trims) {
    auto first = rest().find_first_not_of(spaces);
    position_ += first == std::string_view::npos ? rest().size() : first;
  }
  ignore();
  return true;
}

template_lexer::delimiter template_lexer::at_right_delimiter() const {
  if (has_right_trim(rest()) && rest().substr(2).starts_with("}}")) return {true, true};
  return {rest().starts_with("}}"), false};
}

token template_lexer::lex_right_delimiter() {
  auto delimiter = at_right_delimiter();
  if (delimiter.trims) {
    position_ += 2;
    ignore();
  }
  position_ += 2;
  auto t = take(token_kind::right_delimiter);
  if (delimiter.trims) {
    auto first = rest().find_first_not_of(spaces);
    position_ += first == std::string_view::npos ? rest().size() : first;
    ignore();
  }
  inside_ = false;
  return t;
}

token template_lexer::lex_inside() {
  if (at_right_delimiter().there) {
    if (parens_ == 0) return lex_right_delimiter();
    return error("unclosed left paren");
  }
  auto r = read();
  if (r == end_of_text) return error("unclosed action");
  if (is_blank(r)) {
    back();
    return lex_space();
  }
  switch (r) {
    case '=': return take(token_kind::assign);
    case ':':
      if (read() != '=') return error("expected :=");
      return take(token_kind::declare);
    case '|': return take(token_kind::pipe);
    case '"': return lex_quoted('"', token_kind::string, "unterminated quoted string");
    case '`': return lex_raw();
    case '$': return lex_name(token_kind::variable);
    case '\'':
      return lex_quoted('\'', token_kind::char_constant, "unterminated character constant");
    case '(': ++parens_; return take(token_kind::left_paren);
    case ')':
      if (--parens_ < 0) return error("unexpected right paren");
      return take(token_kind::right_paren);
    default: break;
  }
  if (r == '.' && position_ < input_.size() && (input_[position_] < '0' || input_[position_] > '9'))
    return lex_name(token_kind::field);
  if (r == '.' || r == '+' || r == '-' || (r >= '0' && r <= '9')) {
    back();
    return lex_number();
  }
  if (is_alphanumeric(r)) {
    back();
    return lex_identifier();
  }
  if (r < 0x80 && is_print(r)) return take(token_kind::character);
  return error("unrecognized character in action: " + unicode_name(r));
}

token template_lexer::lex_space() {
  int count = 0;
  while (position_ < input_.size() && is_blank(static_cast<unsigned char>(input_[position_]))) {
    read();
    ++count;
  }
  // A trimming right delimiter begins with the last of these spaces.
  if (has_right_trim(input_.substr(position_ - 1)) &&
      input_.substr(position_ + 1).starts_with("}}")) {
    last_size_ = 1;
    at_end_ = false;
    back();
    if (count == 1) return lex_right_delimiter();
  }
  return take(token_kind::space);
}

bool template_lexer::at_terminator() {
  auto r = peek();
  if (is_blank(r)) return true;
  switch (r) {
    case end_of_text:
    case '.':
    case ',':
    case '|':
    case ':':
    case ')':
    case '(': return true;
    default: return rest().starts_with("}}");
  }
}

token template_lexer::lex_identifier() {
  char32_t r = 0;
  do r = read();
  while (is_alphanumeric(r));
  back();
  auto word = input_.substr(start_, position_ - start_);
  if (!at_terminator()) return error("bad character " + unicode_name(r));
  for (const auto& [name, kind] : keywords)
    if (word == name) return take(kind);
  if (word == "true" || word == "false") return take(token_kind::boolean);
  return take(token_kind::identifier);
}

token template_lexer::lex_name(token_kind kind) {
  if (at_terminator()) return take(kind == token_kind::field ? token_kind::dot : kind);
  char32_t r = 0;
  do r = read();
  while (is_alphanumeric(r));
  back();
  if (!at_terminator()) return error("bad character " + unicode_name(r));
  return take(kind);
}

token template_lexer::lex_quoted(char mark, token_kind kind, const char* message) {
  for (;;) {
    auto r = read();
    if (r == '\\') {
      r = read();
      if (r != end_of_text && r != '\n') continue;
      return error(message);
    }
    if (r == end_of_text || r == '\n') return error(message);
    if (r == static_cast<char32_t>(mark)) return take(kind);
  }
}

token template_lexer::lex_raw() {
  for (;;) {
    auto r = read();
    if (r == end_of_text) return error("unterminated raw quoted string");
    if (r == '`') return take(token_kind::raw_string);
  }
}

token template_lexer::lex_number() {
  auto bad = [&] {
    return error("bad number syntax: " + quote(input_.substr(start_, position_ - start_)));
  };
  if (!scan_number()) return bad();
  auto sign = peek();
  if (sign == '+' || sign == '-') {
    if (!scan_number() || input_[position_ - 1] != 'i') return bad();
    return take(token_kind::complex);
  }
  return take(token_kind::number);
}

bool template_lexer::scan_number() {
  accept("+-");
  std::string_view digits = "0123456789_";
  if (accept("0")) {
    if (accept("xX"))
      digits = "0123456789abcdefABCDEF_";
    else if (accept("oO"))
      digits = "01234567_";
    else if (accept("bB"))
      digits = "01_";
  }
  accept_run(digits);
  if (accept(".")) accept_run(digits);
  if (digits.size() == 11 && accept("eE")) {
    accept("+-");
    accept_run("0123456789_");
  }
  if (digits.size() == 23 && accept("pP")) {
    accept("+-");
    accept_run("0123456789_");
  }
  accept("i");
  if (is_alphanumeric(peek())) {
    read();
    return false;
  }
  return true;
}

}  // namespace helm
