#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace formats {

/// What reader and writer give up with, and how deep either goes.
struct toml_failure {
  std::string text;
};
inline constexpr int toml_depth_limit = 5000;

/// What a TOML text consists of. Cut as the reference's library does it, step by step, so that what
/// is wrong is noticed at the same place and told in the same words.
struct toml_item {
  enum class kind : std::uint8_t {
    error,  // text says what is wrong; nothing follows
    end,
    text,
    string,
    escaped_string,
    raw_string,
    multiline_string,
    raw_multiline_string,
    boolean,
    integer,
    real,
    date,
    array,
    array_end,
    table_start,
    table_end,
    array_table_start,
    array_table_end,
    key_start,
    key_end,
    comment,
    inline_table,
    inline_table_end,
  };
  kind what = kind::end;
  std::string text;
  int line = 1;
};

/// Lifetime the text outlives it.
/// Source   github.com/BurntSushi/toml v1.6.0, lex.go: a state for each of its functions, of the
///          same name.
class toml_lexer {
public:
  explicit toml_lexer(std::string_view text) : text_(text), state_{&toml_lexer::top} {}
  toml_item next_item();

private:
  struct state {
    state (toml_lexer::*run)() = nullptr;
  };
  struct failed {};  // the error is the last item
  using kind = toml_item::kind;

  char32_t next();
  void back();
  bool accept(char32_t wanted);
  char32_t peek();
  template <class Test>
  void skip(Test test);
  void ignore() { start_ = at_; }
  void emit(kind what);
  void emit_error(std::string text, int line);
  [[noreturn]] void fail(std::string text);
  // where it is, with the library's slip at the end
  [[noreturn]] void fail_on_line(std::string text);
  [[noreturn]] void fail_on_previous_line(std::string text);
  std::string_view current() const { return text_.substr(start_, at_ - start_); }
  state pop();
  state skipped(state (toml_lexer::*then)());

  state top();
  state top_end();
  state table_start();
  state table_end();
  state array_table_end();
  state table_name_start();
  state table_name_end();
  state bare_name();
  state quoted_name();
  state key_start();
  state key_name_start();
  state key_end();
  state value();
  state array_value();
  state array_value_end();
  state array_end();
  state inline_table_value();
  state inline_table_value_end();
  state inline_table_end();
  state string();
  state multiline_string();
  state raw_string();
  state multiline_raw_string();
  state end_of_multiline_string(kind what);
  state multiline_string_escape();
  state string_escape();
  state hexadecimal(int digits, const char* what);
  state number_or_date_start();
  state number_or_date();
  state date();
  state integer_of(bool (*is_one)(char32_t));
  state decimal_number();
  state decimal_number_start();
  state base_number_or_date();
  state real();
  state boolean();
  state comment_start();
  state comment();

  std::string_view text_;
  std::size_t start_ = 0, at_ = 0;
  int line_ = 1;
  bool at_end_ = false, escaped_ = false;
  std::size_t widths_[4] = {};
  state state_;
  std::vector<state> stack_;
  std::deque<toml_item> items_;
};

}  // namespace formats
