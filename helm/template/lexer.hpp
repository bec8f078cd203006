#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace helm {

enum class token_kind : std::uint8_t {
  error,
  boolean,
  character,  // a printable ASCII character; the comma
  char_constant,
  complex,
  assign,
  declare,
  eof,
  field,
  identifier,
  left_delimiter,
  left_paren,
  number,
  pipe,
  raw_string,
  right_delimiter,
  right_paren,
  space,
  string,
  text,
  variable,
  // Keywords from here on.
  block,
  break_,
  continue_,
  dot,
  define,
  else_,
  end,
  if_,
  nil,
  range,
  template_,
  with,
};

struct token {
  token_kind kind = token_kind::eof;
  std::size_t position = 0;
  std::string_view text;  // a part of the input
  int line = 0;
  std::string message;  // of an error
};

/// The token as error messages show it.
std::string token_text(const token& t);

/// Cuts a template text into tokens, which view it.
class template_lexer {
public:
  explicit template_lexer(std::string_view input) : input_(input) {}  // input outlives the lexer
  token next();

private:
  static constexpr char32_t end_of_text = 0xffffffff;
  char32_t read();
  char32_t peek();
  void back();
  bool accept(std::string_view set);
  void accept_run(std::string_view set);
  token take(token_kind kind);
  void ignore();
  token error(std::string message);
  std::string_view rest() const { return input_.substr(position_); }
  int newlines(std::size_t from, std::size_t to) const;

  struct delimiter {
    bool there;
    bool trims;
  };
  delimiter at_right_delimiter() const;
  bool at_terminator();
  token lex_text();
  bool skip_comment(token& failure);
  token lex_right_delimiter();
  token lex_inside();
  token lex_space();
  token lex_identifier();
  token lex_name(token_kind kind);
  token lex_quoted(char mark, token_kind kind, const char* message);
  token lex_raw();
  token lex_number();
  bool scan_number();

  std::string_view input_;
  std::size_t position_ = 0;
  std::size_t start_ = 0;
  int last_size_ = 0;
  bool at_end_ = false;
  int parens_ = 0;
  int line_ = 1;
  int start_line_ = 1;
  bool inside_ = false;
};

}  // namespace helm
