// Writing and reading share the grammar of keys and strings; one file holds both directions.
#include "helm/toml.hpp"

#include "helm/deep_stack.hpp"
#include "helm/go_text.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

namespace helm {
namespace {

struct toml_failure {
  std::string text;
};

using key_path = std::vector<std::string>;
constexpr int depth_limit = 5000;

std::string quoted(std::string_view s) {
  std::string out = "\"";
  for (char ch : s) {
    auto c = static_cast<unsigned char>(ch);
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\b': out += "\\b"; break;
      case '\t': out += "\\t"; break;
      case '\n': out += "\\n"; break;
      case '\f': out += "\\f"; break;
      case '\r': out += "\\r"; break;
      default:
        if (c < ' ' || c == 0x7f) {
          char buffer[8];
          std::snprintf(buffer, sizeof buffer, "\\u%04x", c);
          out += buffer;
        } else {
          out += ch;
        }
    }
  }
  return out + '"';
}

bool bare(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

std::string key_text(const std::string& k) {
  bool plain = !k.empty();
  for (char c : k) plain = plain && bare(c);
  return plain ? k : quoted(k);
}

class toml_writer {
public:
  std::string out;

  void encode(const key_path& key, const value& v) {
    if (v.is_nil()) return;
    if (static_cast<int>(key.size()) > depth_limit) throw toml_failure{"toml: nested too deep"};
    check_text(out.size());
    count_steps(key.size());  // each line has the whole path in it
    with_room([&] {
      if (v.is_map() || is_structure(v)) {
        if (!v.is_nil_reference()) table(key, v);
      } else if (v.is_list() && is_table_array(v)) {
        if (key.empty()) throw toml_failure{"toml: top-level values must be Go maps or structs"};
        for (const auto& item : v.items()) {
          newline();
          indent(key);
          out += "[[" + joined(key) + "]]";
          newline();
          members(key, item);
        }
      } else {
        pair(key, v, false);
      }
    });
  }

private:
  static std::string joined(const key_path& key) {
    std::string s;
    for (const auto& k : key) s += (s.empty() ? "" : ".") + key_text(k);
    return s;
  }
  void newline() {
    if (!out.empty()) out += '\n';
  }
  void indent(const key_path& key) { out.append((key.size() - 1) * 2, ' '); }

  static bool is_structure(const value& v) {
    return v.object() && !v.object()->text() && v.type_name() != "complex128";
  }
  /// The members in the order in which they are written: maps by key, structs as declared, embedded ones opened.
  static std::vector<std::pair<std::string, value>> members_of(const value& v) {
    std::vector<std::pair<std::string, value>> out;
    if (!is_structure(v)) {
      out.assign(v.entries().begin(), v.entries().end());
      return out;
    }
    for (auto& [name, item] : v.object()->fields()) {
      if (name == "Metadata" && is_structure(item)) {
        auto inner = members_of(item);
        out.insert(out.end(), inner.begin(), inner.end());
      } else {
        out.emplace_back(name, item);
      }
    }
    return out;
  }
  static bool is_table(const value& v) {
    return v.is_map() || is_structure(v) || (v.is_list() && is_table_array(v));
  }
  static bool is_table_array(const value& v) {
    if (v.size() == 0 || v.kind() == type::bytes) return false;
    bool all = true;
    for (const auto& item : v.items()) {
      if (item.is_nil() || item.is_nil_reference())
        throw toml_failure{"toml: cannot encode array with nil element"};
      if (item.is_list()) is_table_array(item);
      all = all && (item.is_map() || is_structure(item));
    }
    return all;
  }

  void pair(const key_path& key, const value& v, bool is_inline) {
    if (key.empty()) {
      element(v);
      return;
    }
    indent(key);
    out += key_text(key.back()) + " = ";
    element(v);
    if (!is_inline) newline();
  }

  void table(const key_path& key, const value& v) {
    if (key.size() == 1) newline();
    if (!key.empty()) {
      indent(key);
      out += '[' + joined(key) + ']';
      newline();
    }
    members(key, v);
  }

  void members(const key_path& key, const value& v) {
    for (bool tables : {false, true}) {
      for (const auto& [name, item] : members_of(v)) {
        if (is_table(item) != tables) continue;
        if (item.is_nil() || item.is_nil_reference()) continue;
        auto inner = key;
        inner.push_back(name);
        encode(inner, item);
      }
    }
  }

  void element(const value& v) {
    with_room([&] { element_here(v); });
  }
  void element_here(const value& v) {
    switch (v.kind()) {
      case type::nil: throw toml_failure{"toml: cannot encode array with nil element"};
      case type::boolean: out += v.boolean() ? "true" : "false"; return;
      case type::string: out += quoted(v.text()); return;
      case type::float64: {
        double d = v.real();
        if (std::isnan(d)) {
          out += std::signbit(d) ? "-nan" : "nan";
        } else if (std::isinf(d)) {
          out += d < 0 ? "-inf" : "inf";
        } else {
          auto s = format_float(d);
          out += s.find_first_of("e.") == s.npos ? s + ".0" : s;
        }
        return;
      }
      case type::object:
        if (v.type_name() == "time.Time") {
          out += v.object()->json().text();
          return;
        }
        if (v.type_name() == "complex128") throw toml_failure{"unsupported type: complex128"};
        if (auto s = v.object()->text()) {
          out += quoted(*s);
          return;
        }
        break;
      default: break;
    }
    if (v.is_integer()) {
      out += std::to_string(v.integer());
    } else if (v.is_list()) {
      out += '[';
      for (std::size_t i = 0; i < v.size(); ++i) {
        if (i > 0) out += ", ";
        element(v.at(i).unbox());
      }
      out += ']';
    } else {
      inline_table(v);
    }
  }

  void inline_table(const value& v) {
    std::size_t direct = 0, tables = 0;
    auto all = members_of(v);
    for (const auto& [name, item] : all) (is_table(item) ? tables : direct)++;
    out += '{';
    for (bool second : {false, true}) {
      std::size_t i = 0;
      auto count = second ? tables : direct;
      for (const auto& [name, item] : all) {
        if (is_table(item) != second) continue;
        bool last = ++i == count;
        if (item.is_nil() || item.is_nil_reference()) continue;
        pair({name}, item, true);
        if (!last || (!second && tables > 0)) out += ", ";
      }
    }
    out += '}';
  }
};

class toml_reader {
public:
  explicit toml_reader(std::string_view s) : s_(s) {}

  value document() {
    value root(value::map_type{});
    value current = root;
    for (;;) {
      blanks(true);
      if (i_ >= s_.size()) return root;
      if (s_[i_] == '[') {
        bool array = s_.substr(i_).starts_with("[[");
        i_ += array ? 2 : 1;
        blanks(false);
        auto key = path();
        if (!s_.substr(i_).starts_with(array ? "]]" : "]"))
          fail("expected '.' or ']' to end table name");
        i_ += array ? 2 : 1;
        current = open(root, key, array);
        end_of_line();
      } else {
        assignment(current);
        end_of_line();
      }
    }
  }

private:
  [[noreturn]] void fail(const std::string& what) {
    int line = 1;
    for (std::size_t n = 0; n < i_ && n < s_.size(); ++n) line += s_[n] == '\n';
    throw toml_failure{"toml: line " + std::to_string(line) + ": " + what};
  }
  void blanks(bool lines) {
    while (i_ < s_.size()) {
      char c = s_[i_];
      if (c == ' ' || c == '\t' || (lines && (c == '\n' || c == '\r'))) {
        ++i_;
      } else if (c == '#' && (lines || true)) {
        while (i_ < s_.size() && s_[i_] != '\n') ++i_;
        if (!lines) return;
      } else {
        return;
      }
    }
  }
  void end_of_line() {
    blanks(false);
    if (i_ < s_.size() && s_[i_] == '\r') ++i_;
    if (i_ < s_.size() && s_[i_] != '\n')
      fail("expected a top-level item to end with a newline, comment, or EOF, but got '" +
           std::string(1, s_[i_]) + "' instead");
  }
  key_path path() {
    key_path out;
    for (;;) {
      blanks(false);
      if (i_ >= s_.size()) fail("unexpected EOF; expected a key");
      if (s_[i_] == '"' || s_[i_] == '\'') {
        out.push_back(text());
      } else {
        auto start = i_;
        while (i_ < s_.size() && bare(s_[i_])) ++i_;
        if (i_ == start) fail("bare keys cannot contain '" + std::string(1, s_[i_]) + "'");
        out.emplace_back(s_.substr(start, i_ - start));
      }
      blanks(false);
      if (i_ >= s_.size() || s_[i_] != '.') return out;
      ++i_;
    }
  }
  value step(value& at, const std::string& name) {
    auto& entries = at.entries();
    auto found = entries.find(name);
    if (found == entries.end()) found = entries.emplace(name, value(value::map_type{})).first;
    auto v = found->second;
    if (v.kind() == type::list && v.size() > 0) v = v.items().back();
    if (!v.is_map()) fail("Key '" + name + "' has already been defined.");
    return v;
  }
  value open(value root, const key_path& key, bool array) {
    value at = root;
    for (std::size_t n = 0; n + 1 < key.size(); ++n) at = step(at, key[n]);
    if (!array) return step(at, key.back());
    auto& slot = at.entries()[key.back()];
    value::list_type items;
    if (slot.kind() == type::list)
      items = slot.items();
    else if (!slot.is_nil())
      fail("Key '" + key.back() + "' has already been defined.");
    items.emplace_back(value::map_type{});
    auto last = items.back();
    slot = value(std::move(items));
    return last;
  }
  void assignment(value& into) {
    auto key = path();
    if (i_ >= s_.size() || s_[i_] != '=')
      fail("" + (i_ < s_.size() ? "expected '.' or '=', but got " +
                                      quote_rune(decode_rune(s_.substr(i_)).rune) + " instead"
                                : std::string("unexpected EOF; expected key separator '='")));
    ++i_;
    blanks(false);
    value at = into;
    for (std::size_t n = 0; n + 1 < key.size(); ++n) at = step(at, key[n]);
    auto v = item(0);
    if (!at.entries().emplace(key.back(), v).second)
      fail("Key '" + key.back() + "' has already been defined.");
  }

  value item(int depth) {
    if (depth > depth_limit) fail("nested too deep");
    if (i_ >= s_.size()) fail("unexpected EOF; expected value");
    char c = s_[i_];
    if (c == '"' || c == '\'') return text();
    value out;
    if (c == '[') {
      with_room([&] { out = array(depth); });
      return out;
    }
    if (c == '{') {
      with_room([&] { out = table(depth); });
      return out;
    }
    auto start = i_;
    while (i_ < s_.size() && std::string_view(",]}#\n\r\t ").find(s_[i_]) == std::string_view::npos)
      ++i_;
    auto word = s_.substr(start, i_ - start);
    // A date and a time may be separated by one space.
    if (word.size() == 10 && word[4] == '-' && i_ + 1 < s_.size() && s_[i_] == ' ' &&
        s_[i_ + 1] >= '0' && s_[i_ + 1] <= '9') {
      ++i_;
      while (i_ < s_.size() &&
             std::string_view(",]}#\n\r\t ").find(s_[i_]) == std::string_view::npos)
        ++i_;
      word = s_.substr(start, i_ - start);
    }
    if (word == "true") return true;
    if (word == "false") return false;
    if (word == "inf" || word == "+inf") return HUGE_VAL;
    if (word == "-inf") return -HUGE_VAL;
    if (word == "nan" || word == "+nan" || word == "-nan") return std::nan("");
    auto plain = replace_all(word, "_", "");
    bool based = plain.starts_with("0x") || plain.starts_with("0o") || plain.starts_with("0b");
    if (auto n = parse_int(plain, based ? 0 : 10); n.error == int_error::none)
      return value::integer(n.number, type::int64);
    bool date = word.size() >= 8 && ((word.size() >= 10 && word[4] == '-') || word[2] == ':');
    if (date) return value(std::string(word));
    if (auto f = parse_float(plain); f && !based && (plain.find_first_of(".eE") != plain.npos))
      return f->number;
    i_ = start;
    fail("expected value but found " +
         (word.empty() ? quote_rune(decode_rune(s_.substr(i_)).rune) : quote(word)) + " instead");
  }

  value array(int depth) {
    value::list_type out;
    ++i_;
    for (;;) {
      blanks(true);
      if (i_ >= s_.size()) fail("unexpected EOF; expected value");
      if (s_[i_] == ']') {
        ++i_;
        return out;
      }
      out.push_back(item(depth + 1));
      blanks(true);
      if (i_ < s_.size() && s_[i_] == ',') {
        ++i_;
        continue;
      }
      if (i_ >= s_.size() || s_[i_] != ']')
        fail("expected a comma (',') or array terminator (']')");
    }
  }
  value table(int) {
    value out(value::map_type{});
    ++i_;
    blanks(true);
    if (i_ < s_.size() && s_[i_] == '}') {
      ++i_;
      return out;
    }
    for (;;) {
      blanks(true);
      assignment(out);
      blanks(true);
      if (i_ >= s_.size()) fail("unexpected EOF; expected a comma or an inline table terminator");
      if (s_[i_] == '}') {
        ++i_;
        return out;
      }
      if (s_[i_] != ',')
        fail("expected a comma or an inline table terminator '}', but got '" +
             std::string(1, s_[i_]) + "' instead");
      ++i_;
    }
  }

  std::string text() {
    char mark = s_[i_];
    bool raw = mark == '\'';
    std::string triple(3, mark);
    bool many = s_.substr(i_).starts_with(triple);
    i_ += many ? 3 : 1;
    if (many && s_.substr(i_).starts_with("\r\n"))
      i_ += 2;
    else if (many && i_ < s_.size() && s_[i_] == '\n')
      ++i_;
    std::string out;
    for (;;) {
      if (i_ >= s_.size())
        fail(std::string("unexpected EOF; expected '") + (many ? triple : std::string(1, mark)) +
             "'");
      char c = s_[i_];
      if (many ? s_.substr(i_).starts_with(triple) : c == mark) {
        i_ += many ? 3 : 1;
        // Up to two more quotes belong to the text.
        while (many && i_ < s_.size() && s_[i_] == mark) {
          out += mark;
          ++i_;
        }
        return out;
      }
      if (c == '\n' && !many) fail("strings cannot contain newlines");
      if (c != '\\' || raw) {
        out += c;
        ++i_;
        continue;
      }
      escape(out, many);
    }
  }
  void escape(std::string& out, bool many) {
    ++i_;
    if (i_ >= s_.size()) fail("unexpected EOF");
    char c = s_[i_++];
    switch (c) {
      case 'b': out += '\b'; return;
      case 't': out += '\t'; return;
      case 'n': out += '\n'; return;
      case 'f': out += '\f'; return;
      case 'r': out += '\r'; return;
      case 'e': out += '\x1b'; return;
      case '"': out += '"'; return;
      case '\\': out += '\\'; return;
      case 'u':
      case 'U': {
        std::size_t n = c == 'u' ? 4 : 8;
        if (s_.size() - i_ < n) fail("unexpected EOF");
        auto number = parse_uint(s_.substr(i_, n), 16);
        if (number.error != int_error::none || number.number > 0x10ffff)
          fail("invalid unicode escape");
        append_rune(out, static_cast<char32_t>(number.number));
        i_ += n;
        return;
      }
      default: break;
    }
    if (many && (c == '\n' || c == ' ' || c == '\t' || c == '\r')) {
      while (i_ < s_.size() && std::string_view(" \t\r\n").find(s_[i_]) != std::string_view::npos)
        ++i_;
      return;
    }
    fail("invalid escape character '" + std::string(1, c) +
         "'; only the following escape characters are allowed: \\b, \\t, \\n, \\f, \\r, \\\", "
         "\\\\, \\uXXXX, and \\UXXXXXXXX");
  }

  std::string_view s_;
  std::size_t i_ = 0;
};

}  // namespace

outcome<std::string> write_toml(const value& v) {
  try {
    toml_writer w;
    w.encode({}, v);
    return std::move(w.out);
  } catch (const toml_failure& f) {
    return problem{f.text};
  }
}

outcome<value> read_toml(std::string_view text) {
  try {
    return toml_reader(text).document();
  } catch (const toml_failure& f) {
    return problem{f.text};
  }
}

}  // namespace helm
