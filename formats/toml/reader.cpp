#include "formats/go/literal.hpp"
#include "formats/go/time.hpp"
#include "formats/plain/deep_stack.hpp"
#include "formats/plain/text.hpp"
#include "formats/toml/lexer.hpp"
#include "formats/toml/toml.hpp"

#include <cmath>
#include <memory>
#include <set>
#include <utility>

namespace formats {
namespace {

using kind = toml_item::kind;
using toml_key = std::vector<std::string>;

/// What a key stands for while it is read: a table, a list of tables written [[so]], or a value
/// that is finished.
struct node {
  using table = std::map<std::string, std::unique_ptr<node>>;
  std::optional<table> entries;
  std::vector<std::unique_ptr<node>> tables;  // not empty: a list of tables, the last one is open
  value whole;

  static std::unique_ptr<node> of_table() {
    auto n = std::make_unique<node>();
    n->entries.emplace();
    return n;
  }
  /// Where further keys go; null for a value.
  table* open() {
    node& n = tables.empty() ? *this : *tables.back();
    return n.entries ? &*n.entries : nullptr;
  }
  value result() const {
    if (!tables.empty()) {
      value::list_type items;
      for (const auto& t : tables) items.push_back(t->result());
      return value(std::move(items), type::map_list);
    }
    if (!entries) return whole;
    value out;
    with_room([&] {
      value::map_type map;
      for (const auto& [key, n] : *entries) map.emplace(key, n->result());
      out = value(std::move(map));
    });
    return out;
  }
  node() = default;
  node(const node&) = delete;
  node& operator=(const node&) = delete;
  ~node() {
    const auto drop = [this] {
      entries.reset();
      tables.clear();
    };
    if (stack_is_roomy())
      drop();
    else
      on_fresh_stack(drop);
  }
};

bool is_hexadecimal(char c) {
  return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

/// Go's Key.String: parts that are no bare keys are quoted.
std::string shown(const toml_key& key) {
  std::string out;
  for (std::size_t i = 0; i < key.size(); ++i) out += (i > 0 ? "." : "") + toml_key_text(key[i]);
  return out;
}

bool has_leading_zero(std::string_view s) {
  if (s.size() > 1 && s[0] == '0' && s[1] != 'b' && s[1] != 'o' && s[1] != 'x') return true;
  return s.size() > 2 && (s[0] == '-' || s[0] == '+') && s[1] == '0';
}
bool underscores_are_inside(std::string_view s) {
  if (s.ends_with("nan") || s.ends_with("inf")) return true;
  bool accept = false;
  for (const char c : s) {
    if (c == '_' && !accept) return false;
    accept = is_hexadecimal(c);
  }
  return accept;
}
bool digits_follow_periods(std::string_view s) {
  bool period = false;
  for (const char c : s) {
    if (period && (c < '0' || c > '9')) return false;
    period = c == '.';
  }
  return !period;
}

/// time.Parse takes hours of one digit; TOML does not.
bool misses_leading_zero(std::string_view text, std::string_view layout) {
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const char c = layout[i];
    if (c == '.' || c == 'Z') return false;
    if ((c < '0' || c > '9') && (i >= text.size() || text[i] != c)) return true;
  }
  return false;
}

struct date_form {
  const char* layout;
  const char* zone;  // of dates that name none; "" where the text has one
};
constexpr date_form date_forms[] = {
    {"2006-01-02T15:04:05.999999999Z07:00", ""},
    {"2006-01-02T15:04:05.999999999", toml_local_date_time},
    {"2006-01-02", toml_local_date},
    {"15:04:05.999999999", toml_local_time},
    {"2006-01-02T15:04Z07:00", ""},
    {"2006-01-02T15:04", toml_local_date_time},
    {"15:04", toml_local_time},
};

std::string_view without_first_newline(std::string_view s) {
  if (s.starts_with('\n')) return s.substr(1);
  if (s.starts_with("\r\n")) return s.substr(2);
  return s;
}

/// Takes out backslashes that end a line, with the white space behind them.
std::string without_escaped_newlines(std::string_view s) {
  std::string out;
  for (std::size_t i = 0;;) {
    const auto found = s.find('\\', i);
    if (found == s.npos) return out.append(s);
    i = found;
    if (i + 1 < s.size() && s[i + 1] == '\\') {
      i += 2;
      continue;
    }
    auto end = s.find_first_not_of(" \t\r\n", i + 1);
    if (end == s.npos) end = s.size();
    if (s.substr(i + 1, end - i - 1).find('\n') == s.npos) {
      ++i;
      continue;
    }
    out.append(s.substr(0, i));
    s.remove_prefix(end);
    i = 0;
  }
}

/// Source   github.com/BurntSushi/toml v1.6.0, parse.go: the same steps in the same order, because
///          each of them can be the one that finds the text wrong.
class toml_parser {
public:
  explicit toml_parser(std::string_view text) : lexer_(text) {}

  value document() {
    for (toml_item i = next(); i.what != kind::end; i = next()) top_level(i);
    return root_->result();
  }

private:
  enum class what_it_is : bool { table, array };

  [[noreturn]] void fail(int line, const std::string& text) const {
    const std::string last = last_key();
    throw toml_failure{"toml: line " + std::to_string(line) +
                       (last.empty() ? "" : " (last key " + quote(last) + ")") + ": " + text};
  }
  [[noreturn]] void fail(const std::string& text) const { fail(line_, text); }
  std::string last_key() const {
    if (name_.empty()) return shown(context_);
    return context_.empty() ? name_ : shown(context_) + "." + name_;
  }

  toml_item next() {
    toml_item i = lexer_.next_item();
    if (i.what == kind::error) fail(i.line, i.text);
    return i;
  }
  /// The parts of a key up to `end`; the position of the first is what errors about keys show.
  toml_key key_until(kind end) {
    toml_key key;
    toml_item part = next();
    line_ = part.line;
    for (; part.what != end; part = next()) {
      if (static_cast<int>(context_.size() + key.size()) > toml_depth_limit)
        fail(part.line, "nested too deep");
      key.push_back(part.what == kind::text ? part.text : text_in(part));
    }
    return key;
  }

  void top_level(const toml_item& i) {
    switch (i.what) {
      case kind::comment: next(); return;
      case kind::table_start: {
        const toml_key key = key_until(kind::table_end);
        add_context(key, what_it_is::table);
        forget_array(context_);
        return;
      }
      case kind::array_table_start: {
        const toml_key key = key_until(kind::array_table_end);
        add_context(key, what_it_is::array);
        forget_array(context_);
        return;
      }
      default: break;
    }
    const toml_key outer = context_;
    toml_key key = key_until(kind::key_end);
    enter(key);
    const toml_item item = next();
    assign(item);
    context_ = outer;
    name_.clear();
  }

  /// The last part of a key is the name, those before it are tables that need not be there yet.
  void enter(const toml_key& key) {
    name_ = key.back();
    for (std::size_t i = 0; i + 1 < key.size(); ++i) {
      toml_key inner = context_;
      inner.push_back(key[i]);
      implicit_.insert(shown(inner));
      add_context(inner, what_it_is::table);
    }
  }
  value assign(const toml_item& item) {
    value v;
    with_room([&] { v = value_of(item, what_it_is::table); });
    const std::string name = name_;
    set_value(name, v);
    toml_key whole = context_;
    if (!name.empty()) whole.push_back(name);
    if (item.what == kind::array)
      arrays_.insert(shown(whole));
    else
      forget_array(whole);
    return v;
  }
  void forget_array(const toml_key& key) { arrays_.erase(shown(key)); }

  value value_of(const toml_item& i, what_it_is parent) {
    switch (i.what) {
      case kind::integer: return integer_in(i);
      case kind::real: return real_in(i);
      case kind::boolean: return i.text == "true";
      case kind::date: return date_in(i);
      case kind::array: return array_in();
      case kind::inline_table: return inline_table_in(parent);
      default: return text_in(i);
    }
  }

  value integer_in(const toml_item& i) {
    if (!underscores_are_inside(i.text))
      fail(i.line,
           "Invalid integer " + quote(i.text) + ": underscores must be surrounded by digits");
    if (has_leading_zero(i.text))
      fail(i.line, "Invalid integer " + quote(i.text) + ": cannot have leading zeroes");
    const auto n = parse_int(replace_all(i.text, "_", ""), 0);
    if (n.error != int_error::none) fail(i.line, i.text + " is out of range for int64");
    return value::integer(n.number, type::int64);
  }

  value real_in(const toml_item& i) {
    const std::string shown_number = "Invalid float " + quote(i.text);
    bool first = true;
    for (std::size_t at = 0; at < i.text.size();) {
      auto end = i.text.find_first_of(".eE", at);
      if (end == i.text.npos) end = i.text.size();
      if (const std::string part = i.text.substr(at, end - at); !part.empty()) {
        if (!underscores_are_inside(part))
          fail(i.line, shown_number + ": underscores must be surrounded by digits");
        leading_ = std::exchange(first, false) ? has_leading_zero(part) : leading_;
      }
      at = end + 1;
    }
    if (!first && leading_) fail(i.line, shown_number + ": cannot have leading zeroes");
    if (!digits_follow_periods(i.text))
      fail(i.line, shown_number + ": '.' must be followed by one or more digits");
    if (i.text.ends_with("nan")) return i.text[0] == '-' ? -std::nan("") : std::nan("");
    if (i.text.ends_with("inf")) return i.text[0] == '-' ? -HUGE_VAL : HUGE_VAL;
    const auto n = parse_float(replace_all(i.text, "_", ""));
    if (!n) fail(i.line, "Invalid float value: " + quote(i.text));
    if (n->out_of_range) fail(i.line, i.text + " is out of range for float64");
    return n->number;
  }

  value date_in(const toml_item& i) {
    std::string text = i.text;
    for (char& c : text) c = c == 'z' ? 'Z' : c == 't' || c == ' ' ? 'T' : c;
    for (const date_form& form : date_forms) {
      auto t = parse_time(form.layout, text);
      if (!t) continue;
      if (misses_leading_zero(text, form.layout)) break;
      if (*form.zone) {
        t->zone.clear();
        t->fixed_name = form.zone;
      }
      return time_value(std::move(*t));
    }
    fail(i.line, "invalid datetime: " + quote(text));
  }

  value array_in() {
    toml_key whole = context_;
    if (!name_.empty()) whole.push_back(name_);
    arrays_.insert(shown(whole));
    value::list_type items;
    for (toml_item i = next(); i.what != kind::array_end; i = next()) {
      if (i.what == kind::comment) {
        next();
        continue;
      }
      deeper(i);
      value v;
      with_room([&] { v = value_of(i, what_it_is::array); });
      --depth_;
      items.push_back(std::move(v));
    }
    return value(std::move(items));
  }
  void deeper(const toml_item& i) {
    if (++depth_ > toml_depth_limit) fail(i.line, "nested too deep");
  }

  value inline_table_in(what_it_is parent) {
    const toml_key outer = context_;
    const std::string outer_name = name_;
    context_.push_back(std::exchange(name_, {}));
    const toml_key here = context_;
    implicit_.insert(shown(here));
    add_context(here, parent);
    const toml_key inside = here;
    value table(value::map_type{});
    for (toml_item i = next(); i.what != kind::inline_table_end; i = next()) {
      if (i.what == kind::comment) {
        next();
        continue;
      }
      const toml_key key = key_until(kind::key_end);
      enter(key);
      const toml_item item = next();
      deeper(item);
      const value v = assign(item);
      --depth_;
      value at = table;
      for (std::size_t n = 0; n + 1 < key.size(); ++n) {
        auto& slot = at.entries().try_emplace(key[n], value(value::map_type{})).first->second;
        if (slot.kind() != type::map) fail(quote(shown(context_)) + " is not a table");
        value deeper_one = slot;
        at = deeper_one;
      }
      at.entries().insert_or_assign(key.back(), v);
      context_ = inside;
    }
    context_ = outer;
    name_ = outer_name;
    return table;
  }

  /// Goes down to the table of `key`, making it and those above it.
  void add_context(const toml_key& key, what_it_is it) {
    count_steps(key.size());
    auto* at = &*root_->entries;
    toml_key parents;
    for (std::size_t i = 0; i + 1 < key.size(); ++i) {
      parents.push_back(key[i]);
      auto& slot = (*at)[key[i]];
      if (!slot) {
        implicit_.insert(shown(parents));
        slot = node::of_table();
      }
      at = slot->open();
      if (!at) fail("Key '" + shown(parents) + "' was already created as a hash.");
    }
    context_ = parents;
    if (it == what_it_is::array) {
      auto& slot = (*at)[key.back()];
      if (!slot)
        slot = std::make_unique<node>();
      else if (slot->tables.empty())
        fail("Key '" + shown(key) + "' was already created and cannot be used as an array.");
      slot->tables.push_back(node::of_table());
    } else {
      set(key.back(), node::of_table());
    }
    context_.push_back(key.back());
  }

  void set_value(const std::string& key, const value& v) {
    auto n = std::make_unique<node>();
    n->whole = v;
    set(key, std::move(n));
  }
  void set(const std::string& key, std::unique_ptr<node> n) {
    count_steps(context_.size() + 1);
    auto* at = &*root_->entries;
    toml_key whole;
    for (const std::string& part : context_) {
      whole.push_back(part);
      const auto found = at->find(part);
      at = found == at->end() ? nullptr : found->second->open();
      if (!at) fail("Key '" + shown(whole) + "' has already been defined.");
    }
    whole.push_back(key);
    const std::string name = shown(whole);
    auto& slot = (*at)[key];
    if (!slot) {
      slot = std::move(n);
      return;
    }
    // What was only implied may be written out once; then it is defined.
    if (implicit_.erase(name) == 0) fail("Key '" + name + "' has already been defined.");
    if (arrays_.contains(name)) slot = std::move(n);
  }

  std::string text_in(const toml_item& i) {
    switch (i.what) {
      case kind::escaped_string: return unescaped(i, i.text);
      case kind::multiline_string:
        return unescaped(i, without_escaped_newlines(without_first_newline(i.text)));
      case kind::raw_multiline_string: return std::string(without_first_newline(i.text));
      default: return i.text;
    }
  }
  std::string unescaped(const toml_item& i, std::string_view s) const {
    std::string out;
    for (std::size_t at = 0; at < s.size(); ++at) {
      if (s[at] != '\\') {
        out += s[at];
        continue;
      }
      const char c = s[++at];
      const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
      if (digits > 0) {
        const std::string_view code = s.substr(at + 1, digits);
        const auto n = parse_uint(code, 16);
        if (n.number > 0x10ffff || (n.number >= 0xd800 && n.number < 0xe000))
          fail(i.line, "Escaped character '\\u" + std::string(code) + "' is not valid UTF-8.");
        append_rune(out, static_cast<char32_t>(n.number));
        at += digits;
        continue;
      }
      constexpr std::string_view codes = "btnfre\"\\", meanings = "\b\t\n\f\r\x1b\"\\";
      const auto found = codes.find(c);
      if (found == codes.npos) fail(i.line, std::string("invalid escape: '\\") + c + "'");
      out += meanings[found];
    }
    return out;
  }

  toml_lexer lexer_;
  std::unique_ptr<node> root_ = node::of_table();
  toml_key context_;
  std::string name_;
  int line_ = 0, depth_ = 0;
  bool leading_ = false;
  std::set<std::string> implicit_, arrays_;  // whole keys, as shown
};

}  // namespace

outcome<value> read_toml(std::string_view text) {
  for (const std::string_view mark : {"\xff\xfe", "\xfe\xff", "\xef\xbb\xbf"})
    if (text.starts_with(mark)) {
      text.remove_prefix(mark.size());
      break;
    }
  if (text.substr(0, 6).find('\0') != text.npos)
    return problem{
        "toml: line 1: files cannot contain NULL bytes; probably using UTF-16; TOML files must be "
        "UTF-8"};
  try {
    return toml_parser(text).document();
  } catch (const toml_failure& f) {
    return problem{f.text};
  }
}

}  // namespace formats
