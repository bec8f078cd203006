// The emitter's decisions (what is quoted how, where a line folds) depend on one state of column,
// white space and indentation, so they stay together in one file.
#include "formats/yaml/writer.hpp"

#include "formats/go/literal.hpp"
#include "formats/json/json.hpp"
#include "formats/plain/deep_stack.hpp"
#include "formats/plain/text.hpp"
#include "formats/yaml/yaml_scalar.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace formats {
namespace {

constexpr int write_depth_limit = 10000;
constexpr int fold_column = 80;

enum class dialect : bool { json_detour, pretty };

struct write_failure {
  std::string text;
  problem_code code = problem_code::other;
};

std::u32string runes_of(std::string_view s) {
  std::u32string out;
  out.reserve(s.size());
  while (!s.empty()) {
    auto d = decode_rune(s);
    out += d.rune;
    s.remove_prefix(static_cast<std::size_t>(d.size));
  }
  return out;
}

bool natural_less_in(std::string_view a, std::string_view b, dialect kind) {
  bool digits = false;
  // Most keys differ early and are ASCII; runes are decoded only as far as needed.
  std::string_view x = a, y = b;
  while (!x.empty() && !y.empty()) {
    auto p = decode_rune(x);
    auto q = decode_rune(y);
    if (p.rune == q.rune) {
      digits = is_digit(p.rune);
      x.remove_prefix(static_cast<std::size_t>(p.size));
      y.remove_prefix(static_cast<std::size_t>(q.size));
      continue;
    }
    bool pl = is_letter(p.rune), ql = is_letter(q.rune);
    if (pl && ql) return p.rune < q.rune;
    if (pl || ql) return kind == dialect::pretty && digits ? pl : ql;
    auto ar = runes_of(a), br = runes_of(b);
    auto i = runes_of(a.substr(0, a.size() - x.size())).size();
    std::int64_t an = 0, bn = 0;
    if (p.rune == '0' || q.rune == '0') {
      for (auto j = i; j-- > 0 && is_digit(ar[j]);) {
        if (ar[j] != '0') {
          an = bn = 1;
          break;
        }
      }
    }
    auto run = [](const std::u32string& s, std::size_t at, std::int64_t& n) {
      for (; at < s.size() && is_digit(s[at]); ++at)
        n = static_cast<std::int64_t>(static_cast<std::uint64_t>(n) * 10 + (s[at] - '0'));
      return at;
    };
    auto ai = run(ar, i, an), bi = run(br, i, bn);
    if (an != bn) return an < bn;
    if (ai != bi) return ai < bi;
    return p.rune < q.rune;
  }
  return x.empty() && !y.empty();
}

/// What JSON and the YAML reader make of a string on its way through.
std::string through_json(std::string_view s, bool is_key) {
  std::string out;
  bool plain = true;
  for (char c : s) plain = plain && static_cast<unsigned char>(c) < 0x7f;
  if (plain) {
    out = s;
  } else {
    bool next_line = false;
    for (auto rest = s; !rest.empty();) {
      auto d = decode_rune(rest);
      auto r = d.rune;
      if (r == 0x7f || (r >= 0x80 && r < 0xa0 && r != 0x85) || r == 0xfffe || r == 0xffff)
        throw write_failure{"yaml: control characters are not allowed"};
      next_line = next_line || r == 0x85;
      append_rune(out, r);
      rest.remove_prefix(static_cast<std::size_t>(d.size));
    }
    if (next_line) {
      if (is_key) throw write_failure{"yaml: could not find expected ':'"};
      // A next-line character is a line break to YAML and folds like one: blanks around it go, one
      // becomes a space.
      auto whole = runes_of(out);
      std::string folded;
      for (std::size_t i = 0; i < whole.size();) {
        if (whole[i] != 0x85) {
          append_rune(folded, whole[i++]);
          continue;
        }
        while (!folded.empty() && folded.back() == ' ') folded.pop_back();
        int breaks = 0;
        while (i < whole.size() && (whole[i] == 0x85 || whole[i] == ' '))
          breaks += whole[i++] == 0x85;
        if (breaks == 1) folded += ' ';
        folded.append(static_cast<std::size_t>(breaks - 1), '\n');
      }
      out = folded;
    }
  }
  if (is_key) {
    // A simple key may be 1024 characters long in the JSON text, quotes and escapes included.
    auto written = write_json(value(out));
    if (written && rune_count(*written) > 1024)
      throw write_failure{"yaml: could not find expected ':'"};
  }
  return out;
}

enum class style : std::uint8_t { plain, single_quoted, double_quoted, literal };

struct analysis {
  bool multiline = false;
  bool plain = true;
  bool single = true;
  bool block = true;
};

bool printable(char32_t r) {
  return r == '\n' || (r >= 0x20 && r <= 0x7e) || (r >= 0xa0 && r <= 0xd7ff) ||
         (r >= 0xe000 && r <= 0xfffd && r != 0xfeff);
}
bool is_break(char32_t r) {
  return r == '\r' || r == '\n' || r == 0x85 || r == 0x2028 || r == 0x2029;
}
bool is_blank(char32_t r) {
  return r == ' ' || r == '\t';
}

/// Nothing in it that any rule below looks at: most keys, names and images.
bool is_word(std::string_view s) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '/';
  };
  if (s.empty() || !letter(s[0])) return false;
  return std::ranges::all_of(s, [&](char c) { return letter(c) || c == '.' || c == '-'; });
}

analysis analyse(const std::u32string& s, dialect kind) {
  analysis out;
  if (s.empty()) {
    out.block = false;
    return out;
  }
  bool indicators = false, special = false, tabs = false;
  bool leading_space = false, leading_break = false, trailing_space = false, trailing_break = false;
  bool break_space = false, space_break = false, line_breaks = false;
  bool previous_space = false, previous_break = false;
  if (s.size() >= 3 &&
      ((s[0] == '-' && s[1] == '-' && s[2] == '-') || (s[0] == '.' && s[1] == '.' && s[2] == '.')))
    indicators = true;
  bool after_white = true;
  for (std::size_t i = 0; i < s.size(); ++i) {
    auto r = s[i];
    bool before_white = i + 1 >= s.size() || is_blank(s[i + 1]);
    if (i == 0) {
      if (r < 0x80 && std::string_view("#,[]{}&*!|>'\"%@`").find(static_cast<char>(r)) !=
                          std::string_view::npos)
        indicators = true;
      if ((r == '?' || r == ':' || r == '-') && before_white) indicators = true;
    } else {
      if (r == ':' && before_white) indicators = true;
      if (r == '#' && after_white) indicators = true;
    }
    if (kind == dialect::pretty && r == '\t')
      tabs = true;
    else if (!printable(r))
      special = true;
    bool last = i + 1 == s.size();
    if (r == ' ') {
      leading_space = leading_space || i == 0;
      trailing_space = trailing_space || last;
      break_space = break_space || previous_break;
      previous_space = true;
      previous_break = false;
    } else if (is_break(r)) {
      line_breaks = true;
      leading_break = leading_break || i == 0;
      trailing_break = trailing_break || last;
      space_break = space_break || previous_space;
      previous_space = false;
      previous_break = true;
    } else {
      previous_space = previous_break = false;
    }
    after_white = is_blank(r) || is_break(r) || r == 0;
  }
  out.multiline = line_breaks;
  if (leading_space || leading_break || trailing_space || trailing_break) out.plain = false;
  if (trailing_space) out.block = false;
  if (break_space) out.plain = out.single = false;
  if (space_break || tabs || special) out.plain = out.single = false;
  if (space_break || special) out.block = false;
  if (line_breaks || indicators) out.plain = false;
  return out;
}

bool base60(std::string_view s) {
  if (s.empty() || s.find(':') == s.npos) return false;
  std::size_t i = s[0] == '-' || s[0] == '+' ? 1 : 0;
  auto digit = [&](std::size_t at) { return at < s.size() && s[at] >= '0' && s[at] <= '9'; };
  if (!digit(i)) return false;
  while (digit(i) || (i < s.size() && s[i] == '_')) ++i;
  int groups = 0;
  while (i < s.size() && s[i] == ':') {
    ++i;
    if (!digit(i)) return false;
    if (s[i] <= '5' && digit(i + 1)) ++i;
    ++i;
    ++groups;
  }
  if (groups == 0) return false;
  if (i < s.size() && s[i] == '.') {
    ++i;
    while (digit(i) || (i < s.size() && s[i] == '_')) ++i;
  }
  return i == s.size();
}

class emitter {
public:
  explicit emitter(dialect kind) : kind_(kind) {}

  std::string document(const value& v) {
    node(v, context::root, 0);
    if (indention_ == false || column_ > 0 || out_.empty()) line_break();
    return std::move(out_);
  }

private:
  enum class context : std::uint8_t { root, item, key, complex_key, content };

  void put(char c) {
    out_ += c;
    ++column_;
  }
  void put_rune(char32_t r) {
    append_rune(out_, r);
    ++column_;
  }
  void line_break() {
    out_ += '\n';
    column_ = 0;
    indention_ = true;
  }
  void write_break(char32_t r) {
    if (r == '\n') {
      line_break();
      return;
    }
    append_rune(out_, r);
    column_ = 0;
    indention_ = true;
  }
  void write_indent() {
    int indent = std::max(indent_, 0);
    if (!indention_ || column_ > indent || (column_ == indent && !white_)) line_break();
    while (column_ < indent) put(' ');
    white_ = true;
    indention_ = true;
  }
  void indicator(std::string_view s, bool needs_white, bool is_white, bool is_indention) {
    if (needs_white && !white_) put(' ');
    for (char c : s) put(c);
    white_ = is_white;
    indention_ = indention_ && is_indention;
  }

  void node(const value& v, context where, int depth) {
    check_text(out_.size());
    count_steps(v.size() / 8);
    if (depth > write_depth_limit) throw write_failure{"yaml: exceeded max depth of 10000"};
    with_room([&] { node_here(v, where, depth); });
  }

  void node_here(const value& v, context where, int depth) {
    switch (v.kind()) {
      case type::nil: plain("null", where); return;
      case type::boolean: plain(v.boolean() ? "true" : "false", where); return;
      case type::float64: number(v.real(), where); return;
      case type::string: text(v.text(), where, false); return;
      case type::bytes:
        if (kind_ == dialect::pretty) break;
        if (v.is_nil_reference())
          plain("null", where);
        else
          text(*write_json(v), where, true);
        return;
      case type::object: {
        auto* o = v.object();
        if (o->type_name() == "complex128")
          throw write_failure{"json: unsupported type: complex128", problem_code::no_form};
        if (kind_ == dialect::pretty && o->type_name() == "time.Time") {
          plain(o->json().text(), where);
        } else if (kind_ == dialect::pretty && o->text()) {
          text(*o->text(), where, false);
        } else if (kind_ == dialect::pretty) {
          structure(o->fields(), where, depth);
        } else {
          node(o->json(), where, depth + 1);
        }
        return;
      }
      case type::uint64:
        plain(std::to_string(static_cast<std::uint64_t>(v.integer())), where);
        return;
      default: break;
    }
    if (v.is_integer()) {
      plain(std::to_string(v.integer()), where);
    } else if (v.is_nil_reference() && kind_ == dialect::json_detour) {
      plain("null", where);
    } else if (v.size() == 0) {
      indicator(v.is_list() ? "[" : "{", true, true, false);
      indicator(v.is_list() ? "]" : "}", false, false, false);
    } else if (v.is_list()) {
      list(v, where, depth);
    } else {
      map(v, where, depth);
    }
  }

  void number(double d, context where) {
    if (kind_ == dialect::pretty) {
      auto s = format_float(d);
      plain(s == "+Inf" ? ".inf" : s == "-Inf" ? "-.inf" : s == "NaN" ? ".nan" : s, where);
      return;
    }
    if (std::isnan(d) || std::isinf(d))
      throw write_failure{"json: unsupported value: " + format_float(d)};
    bool integral = std::trunc(d) == d && d >= -9223372036854775808.0 && d < 18446744073709551616.0;
    if (integral && d == 0)
      plain("0", where);
    else
      plain(integral ? format_float(d, 'f') : format_float(d), where);
  }

  /// Indentation of a nested collection; lists below a key start at the key's own column.
  template <class Body>
  void nested(bool indentless, Body body) {
    int old = indent_;
    if (indent_ < 0)
      indent_ = 0;
    else if (!indentless)
      indent_ += 2;
    body();
    indent_ = old;
  }

  void list(const value& v, context where, int depth) {
    bool below_key = (where == context::content || where == context::complex_key) && !indention_;
    nested(below_key && kind_ == dialect::json_detour, [&] {
      for (std::size_t i = 0; i < v.size(); ++i) {
        write_indent();
        indicator("-", true, false, true);
        node(v.at(i).unbox(), context::item, depth + 1);
      }
    });
  }

  void pair(const std::string& name, const value& v, int depth) {
    write_indent();
    if (name.size() <= 128 && (is_word(name) || !analyse(runes_of(name), kind_).multiline)) {
      text(name, context::key, false);
      indicator(":", false, false, false);
    } else {
      indicator("?", true, false, true);
      text(name, context::complex_key, false);
      write_indent();
      indicator(":", true, false, true);
    }
    node(v, context::content, depth + 1);
  }

  void map(const value& v, context, int depth) {
    std::vector<std::pair<std::string, const value*>> sorted;
    sorted.reserve(v.size());
    for (const auto& [key, item] : v.entries())
      sorted.emplace_back(kind_ == dialect::json_detour ? through_json(key, true) : key, &item);
    std::sort(sorted.begin(), sorted.end(), [&](const auto& a, const auto& b) {
      return natural_less_in(a.first, b.first, kind_);
    });
    nested(false, [&] {
      for (const auto& [key, item] : sorted) pair(key, *item, depth);
    });
  }

  void structure(const std::vector<std::pair<std::string, value>>& fields, context where,
                 int depth) {
    if (fields.empty()) {
      plain("{}", where);
      return;
    }
    nested(false, [&] {
      for (const auto& [name, item] : fields) pair(lower(name), item, depth);
    });
  }

  void plain(std::string_view s, context) {
    if (!white_) put(' ');
    out_ += s;
    column_ += static_cast<int>(s.size());
    white_ = false;
    indention_ = false;
  }

  bool not_a_string(std::string_view s) const {
    if (base60(s)) return true;
    if (kind_ == dialect::json_detour) return reads_as_non_string(s);
    if (reads_as_non_string(s)) return true;
    auto octal = s.starts_with("-") ? s.substr(1) : s;
    return octal.starts_with("0o") && parse_int(octal.substr(2), 8).error == int_error::none;
  }

  /// `json` is a JSON text holding the string, for bytes already written as base64.
  void text(std::string_view given, context where, bool json) {
    if (!json && is_word(given) && !not_a_string(given)) {
      plain(given, where);
      return;
    }
    std::string s(given);
    if (json) s = s.substr(1, s.size() - 2);
    if (kind_ == dialect::json_detour && where != context::key && where != context::complex_key)
      s = through_json(s, false);
    bool simple_key = where == context::key;
    auto runes = runes_of(s);
    auto a = analyse(runes, kind_);
    style chosen = style::plain;
    if (s.find('\n') != s.npos)
      chosen = style::literal;
    else if (not_a_string(s))
      chosen = style::double_quoted;
    if (simple_key && a.multiline) chosen = style::double_quoted;
    if (chosen == style::plain && (!a.plain || (s.empty() && simple_key)))
      chosen = style::single_quoted;
    if (chosen == style::single_quoted && !a.single) chosen = style::double_quoted;
    if (chosen == style::literal && (!a.block || simple_key)) chosen = style::double_quoted;
    // Lines after the first are indented one level deeper than the collection the scalar is in.
    int old = indent_;
    indent_ = std::max(indent_, 0) + 2;
    switch (chosen) {
      case style::plain: write_plain(runes, !simple_key); break;
      case style::single_quoted: write_single(runes, !simple_key); break;
      case style::double_quoted: write_double(runes, !simple_key); break;
      case style::literal: write_literal(runes); break;
    }
    indent_ = old;
  }

  bool may_fold(bool allowed) const {
    return allowed && kind_ == dialect::json_detour && column_ > fold_column;
  }

  void write_plain(const std::u32string& s, bool fold) {
    if (!s.empty() && !white_) put(' ');
    bool spaces = false;
    for (std::size_t i = 0; i < s.size(); ++i) {
      if (s[i] == ' ') {
        if (may_fold(fold) && !spaces && !(i + 1 < s.size() && s[i + 1] == ' '))
          write_indent();
        else
          put(' ');
        spaces = true;
      } else {
        put_rune(s[i]);
        indention_ = false;
        spaces = false;
      }
    }
    white_ = false;
    indention_ = false;
  }

  void write_single(const std::u32string& s, bool fold) {
    indicator("'", true, false, false);
    bool spaces = false, breaks = false;
    for (std::size_t i = 0; i < s.size(); ++i) {
      auto r = s[i];
      if (r == ' ') {
        if (may_fold(fold) && !spaces && i > 0 && i + 1 < s.size() && s[i + 1] != ' ')
          write_indent();
        else
          put(' ');
        spaces = true;
      } else if (is_break(r)) {
        if (!breaks && r == '\n') line_break();
        write_break(r);
        breaks = true;
      } else {
        if (breaks) write_indent();
        if (r == '\'') put('\'');
        put_rune(r);
        indention_ = false;
        spaces = breaks = false;
      }
    }
    indicator("'", false, false, false);
    white_ = false;
    indention_ = false;
  }

  void write_escape(char32_t r) {
    put('\\');
    switch (r) {
      case 0x00: put('0'); return;
      case 0x07: put('a'); return;
      case 0x08: put('b'); return;
      case 0x09: put('t'); return;
      case 0x0a: put('n'); return;
      case 0x0b: put('v'); return;
      case 0x0c: put('f'); return;
      case 0x0d: put('r'); return;
      case 0x1b: put('e'); return;
      case '"': put('"'); return;
      case '\\': put('\\'); return;
      case 0x85: put('N'); return;
      case 0xa0: put('_'); return;
      case 0x2028: put('L'); return;
      case 0x2029: put('P'); return;
      default: break;
    }
    char buffer[16];
    std::snprintf(buffer, sizeof buffer,
                  r <= 0xff     ? "x%02X"
                  : r <= 0xffff ? "u%04X"
                                : "U%08X",
                  static_cast<unsigned>(r));
    for (const char* c = buffer; *c; ++c) put(*c);
  }

  void write_double(const std::u32string& s, bool fold) {
    indicator("\"", true, false, false);
    bool spaces = false;
    // go-yaml looks for a byte order mark at the start of the text whichever character it is at,
    // and escapes it.
    bool marked = !s.empty() && s[0] == 0xfeff;
    for (std::size_t i = 0; i < s.size(); ++i) {
      auto r = s[i];
      if (marked || !printable(r) || is_break(r) || r == '"' || r == '\\') {
        write_escape(r);
        spaces = false;
      } else if (r == ' ') {
        if (may_fold(fold) && !spaces && i > 0 && i + 1 < s.size()) {
          write_indent();
          if (s[i + 1] == ' ') put('\\');
        } else {
          put(' ');
        }
        spaces = true;
      } else {
        put_rune(r);
        spaces = false;
      }
    }
    indicator("\"", false, false, false);
    white_ = false;
    indention_ = false;
  }

  void write_literal(const std::u32string& s) {
    indicator("|", true, false, false);
    if (s[0] == ' ' || is_break(s[0])) indicator("2", false, false, false);
    if (!is_break(s.back()))
      indicator("-", false, false, false);
    else if (s.size() == 1 || is_break(s[s.size() - 2]))
      indicator("+", false, false, false);
    line_break();
    white_ = true;
    bool breaks = true;
    for (auto r : s) {
      if (is_break(r)) {
        write_break(r);
        breaks = true;
      } else {
        if (breaks) write_indent();
        put_rune(r);
        indention_ = false;
        breaks = false;
      }
    }
  }

  dialect kind_;
  std::string out_;
  int column_ = 0;
  int indent_ = -1;
  bool white_ = true;
  bool indention_ = true;
};

outcome<std::string> write(const value& v, dialect kind) {
  try {
    return emitter(kind).document(v);
  } catch (const write_failure& f) {
    return problem{f.text, f.code};
  }
}

}  // namespace

outcome<std::string> write_go_yaml(const value& v) {
  return write(v, dialect::json_detour);
}
outcome<std::string> write_go_yaml_pretty(const value& v) {
  return write(v, dialect::pretty);
}

}  // namespace formats
