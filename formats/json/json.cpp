// Longer than most files: JSON as Go's encoding/json writes and reads it, which share their rules.
#include "formats/json/json.hpp"

#include "formats/base64.hpp"
#include "formats/go/literal.hpp"
#include "formats/plain/deep_stack.hpp"
#include "formats/plain/text.hpp"

#include <array>
#include <cmath>
#include <cstdint>

namespace formats {
namespace {

constexpr int json_depth_limit = 10000;

struct json_failure {
  std::string text;
  problem_code code = problem_code::other;
};

constexpr std::uint8_t plain_in_text = 1, plain_in_html = 2;
/// Which bytes need no escape, in either style.
constexpr auto plain_bytes = [] {
  std::array<std::uint8_t, 256> out{};
  for (std::size_t c = ' '; c < 0x80; ++c) {
    if (c == '"' || c == '\\') continue;
    const bool markup = c == '<' || c == '>' || c == '&';
    out[c] = markup ? plain_in_text : plain_in_text | plain_in_html;
  }
  return out;
}();

class writer {
public:
  explicit writer(json_style style) : style_(style) {}
  std::string out;

  void write(const value& v, int depth) {
    if (depth > json_depth_limit)
      throw json_failure{
          "json: unsupported value: encountered a cycle via map[string]interface {}"};
    switch (v.kind()) {
      case type::nil: out += "null"; return;
      case type::boolean: out += v.boolean() ? "true" : "false"; return;
      case type::float64:
        if (std::isnan(v.real()) || std::isinf(v.real()))
          throw json_failure{"json: unsupported value: " + format_float(v.real())};
        out += json_number(v.real());
        return;
      case type::uint64: out += std::to_string(static_cast<std::uint64_t>(v.integer())); return;
      case type::string: text(v.text()); return;
      case type::bytes:
        if (v.is_nil_reference())
          out += "null";
        else
          out += '"' + encode_base64(v.text()) + '"';
        return;
      case type::object:
        if (v.type_name() == "complex128")
          throw json_failure{"json: unsupported type: complex128", problem_code::no_form};
        if (auto members = v.object()->json_fields())
          structure(*members, depth);
        else
          write(v.object()->json(), depth + 1);
        return;
      default: break;
    }
    if (v.is_integer()) {
      out += std::to_string(v.integer());
    } else if (v.is_nil_reference()) {
      out += "null";
    } else {
      with_room([&] { v.is_list() ? list(v, depth) : map(v, depth); });
    }
  }

private:
  void line(int depth) {
    if (!style_.indented) return;
    out += '\n';
    out.append(static_cast<std::size_t>(depth) * 2, ' ');
  }
  void list(const value& v, int depth) {
    check_text(out.size());
    count_steps(v.size() / 8);
    out += '[';
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (i > 0) out += ',';
      line(depth + 1);
      write(v.items()[i], depth + 1);
    }
    if (v.size() > 0) line(depth);
    out += ']';
  }
  void map(const value& v, int depth) {
    check_text(out.size());
    count_steps(v.size() / 8);
    out += '{';
    bool first = true;
    for (const auto& [key, item] : v.entries()) {
      if (!first) out += ',';
      first = false;
      line(depth + 1);
      text(key);
      out += style_.indented ? ": " : ":";
      write(item, depth + 1);
    }
    if (v.size() > 0) line(depth);
    out += '}';
  }
  void structure(const std::vector<std::pair<std::string, value>>& members, int depth) {
    out += '{';
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i > 0) out += ',';
      line(depth + 1);
      text(members[i].first);
      out += style_.indented ? ": " : ":";
      write(members[i].second, depth + 1);
    }
    if (!members.empty()) line(depth);
    out += '}';
  }
  /// How many bytes stand for themselves: a manifest has megabytes of them.
  std::size_t plain_at_start(std::string_view s) const {
    const std::uint8_t wanted =
        style_.escapes == json_escapes::html ? plain_in_html : plain_in_text;
    std::size_t n = 0;
    while (n < s.size() && (plain_bytes[static_cast<unsigned char>(s[n])] & wanted)) ++n;
    return n;
  }
  void text(std::string_view s) {
    constexpr const char* hex = "0123456789abcdef";
    out += '"';
    while (!s.empty()) {
      const std::size_t plain = plain_at_start(s);
      out += s.substr(0, plain);
      s.remove_prefix(plain);
      if (s.empty()) break;
      auto c = static_cast<unsigned char>(s[0]);
      if (c < 0x80) {
        s.remove_prefix(1);
        bool html = style_.escapes == json_escapes::html && (c == '<' || c == '>' || c == '&');
        if (c == '"' || c == '\\') {
          out += '\\';
          out += static_cast<char>(c);
        } else if (c >= ' ' && !html) {
          out += static_cast<char>(c);
        } else if (c == '\b') {
          out += "\\b";
        } else if (c == '\f') {
          out += "\\f";
        } else if (c == '\n') {
          out += "\\n";
        } else if (c == '\r') {
          out += "\\r";
        } else if (c == '\t') {
          out += "\\t";
        } else {
          out += "\\u00";
          out += hex[c >> 4];
          out += hex[c & 15];
        }
        continue;
      }
      auto d = decode_rune(s);
      if (!d.valid())
        out += "\\ufffd";
      else if (d.rune == 0x2028 || d.rune == 0x2029)
        out += d.rune == 0x2028 ? "\\u2028" : "\\u2029";
      else
        out += s.substr(0, static_cast<std::size_t>(d.size));
      s.remove_prefix(static_cast<std::size_t>(d.size));
    }
    out += '"';
  }
  json_style style_;
};

class reader {
public:
  reader(std::string_view s, json_source from) : s_(s), from_(from) {}

  value document() {
    auto v = whole();
    if (from_ == json_source::text) finish();  // who reads a schema keeps the digits
    return v;
  }
  json_reading with_nulls() {
    auto v = whole();
    return {std::move(v), std::move(late_)};
  }
  value document_along(std::span<const std::string_view> path) {
    blanks();
    auto v = along(path, 0);
    blanks();
    if (i_ < s_.size()) bad("after top-level value");
    finish();
    return v;
  }
  value prefix(std::size_t& used) {
    blanks();
    auto v = item(0, "looking for beginning of value");
    used = i_;
    finish();
    return v;
  }

private:
  value whole() {
    blanks();
    auto v = item(0, "looking for beginning of value");
    blanks();
    if (i_ < s_.size()) bad("after top-level value");
    return v;
  }
  // Go checks the syntax of the whole text before it looks at any value.
  void finish() const {
    if (!late_.empty()) throw json_failure{late_};
  }
  [[noreturn]] void end() {
    if (from_ == json_source::text) throw json_failure{"unexpected end of JSON input"};
    const bool nothing = s_.find_first_not_of(" \t\r\n") == s_.npos;
    throw json_failure{nothing ? "EOF" : "unexpected EOF"};
  }
  [[noreturn]] void bad(const std::string& context) {
    const auto c = static_cast<unsigned char>(peek_inside());
    std::string shown;
    if (c == '\'')
      shown = "'\\''";
    else if (c == '"')
      shown = "'\"'";
    else
      shown = quote_byte(c);
    throw json_failure{"invalid character " + shown + " " + context};
  }
  static std::string quote_byte(unsigned char c) {
    std::string rune;
    append_rune(rune, c);
    auto q = quote(rune);
    return "'" + q.substr(1, q.size() - 2) + "'";
  }
  void blanks() {
    while (i_ < s_.size() && (s_[i_] == ' ' || s_[i_] == '\t' || s_[i_] == '\r' || s_[i_] == '\n'))
      ++i_;
  }
  char peek() {
    if (i_ >= s_.size()) end();
    return s_[i_];
  }
  /// Go's scanner learns of the end of a text by one more space: where none may stand, that space
  /// is wrong.
  char peek_inside() {
    if (i_ >= s_.size() && from_ == json_source::stream) end();
    return i_ < s_.size() ? s_[i_] : ' ';
  }

  value item(int depth, const char* context) {
    if (depth > json_depth_limit) throw json_failure{"exceeded max depth"};
    char c = peek();
    switch (c) {
      case '{':
      case '[': {
        value v;
        with_room([&] { v = c == '{' ? object(depth) : array(depth); });
        return v;
      }
      case '"': return text();
      case 't': word("true"); return true;
      case 'f': word("false"); return false;
      case 'n': word("null"); return {};
      default: break;
    }
    if (c == '-' || (c >= '0' && c <= '9')) return number();
    bad(context);
  }

  value along(std::span<const std::string_view> path, int depth) {
    if (path.empty() || peek() != '{') return item(depth, "looking for beginning of value");
    return object(depth, path);
  }

  /// With a path: only what it leads to, and scalars.
  value object(int depth, std::span<const std::string_view> path = {}) {
    value::map_type out;
    ++i_;
    blanks();
    if (peek() == '}') {
      ++i_;
      return out;
    }
    for (;;) {
      blanks();
      if (peek() != '"') bad("looking for beginning of object key string");
      auto key = text().text();
      blanks();
      if (peek() != ':') bad("after object key");
      ++i_;
      blanks();
      const bool on = !path.empty() && key == path.front();
      value v = on ? along(path.subspan(1), depth + 1)
                   : item(depth + 1, "looking for beginning of value");
      if (path.empty() || on || (!v.is_map() && !v.is_list()))
        out.insert_or_assign(std::move(key), std::move(v));
      blanks();
      char c = peek();
      if (c == ',') {
        ++i_;
        continue;
      }
      if (c != '}') bad("after object key:value pair");
      ++i_;
      return out;
    }
  }

  value array(int depth) {
    value::list_type out;
    ++i_;
    blanks();
    if (peek() == ']') {
      ++i_;
      return out;
    }
    for (;;) {
      blanks();
      out.push_back(item(depth + 1, "looking for beginning of value"));
      blanks();
      char c = peek();
      if (c == ',') {
        ++i_;
        continue;
      }
      if (c != ']') bad("after array element");
      ++i_;
      return out;
    }
  }

  void word(std::string_view w) {
    for (std::size_t n = 0; n < w.size(); ++n, ++i_)
      if (peek_inside() != w[n])
        bad("in literal " + std::string(w) + " (expecting '" + std::string(1, w[n]) + "')");
  }

  char32_t hex4() {
    char32_t r = 0;
    for (int n = 0; n < 4; ++n, ++i_) {
      const char c = peek_inside();
      char32_t digit = 0;
      if (c >= '0' && c <= '9')
        digit = static_cast<char32_t>(c - '0');
      else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
        digit = static_cast<char32_t>((c | 0x20) - 'a' + 10);
      else
        bad("in \\u hexadecimal character escape");
      r = r << 4 | digit;
    }
    return r;
  }

  value text() {
    std::string out;
    ++i_;
    for (;;) {
      char c = peek();
      if (c == '"') {
        ++i_;
        return to_valid_utf8(out);
      }
      if (static_cast<unsigned char>(c) < ' ') bad("in string literal");
      if (c != '\\') {
        out += c;
        ++i_;
        continue;
      }
      ++i_;
      c = peek_inside();
      switch (c) {
        case '"':
        case '\\':
        case '/': out += c; break;
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'u': {
          ++i_;
          auto r = hex4();
          if (r >= 0xd800 && r < 0xdc00 && s_.substr(i_).starts_with("\\u")) {
            auto keep = i_;
            i_ += 2;
            auto low = hex4();
            if (low >= 0xdc00 && low < 0xe000)
              r = 0x10000 + ((r - 0xd800) << 10 | (low - 0xdc00));
            else
              i_ = keep;
          }
          append_rune(out, r);
          continue;
        }
        default: bad("in string escape code");
      }
      ++i_;
    }
  }

  value number() {
    auto start = i_;
    auto digit = [&] { return i_ < s_.size() && s_[i_] >= '0' && s_[i_] <= '9'; };
    if (s_[i_] == '-') {
      ++i_;
      if (!digit()) bad("in numeric literal");
    }
    if (s_[i_] == '0')
      ++i_;
    else
      while (digit()) ++i_;
    if (i_ < s_.size() && s_[i_] == '.') {
      ++i_;
      if (!digit()) bad("after decimal point in numeric literal");
      while (digit()) ++i_;
    }
    if (i_ < s_.size() && (s_[i_] == 'e' || s_[i_] == 'E')) {
      ++i_;
      if (i_ < s_.size() && (s_[i_] == '+' || s_[i_] == '-')) ++i_;
      if (!digit()) bad("in exponent of numeric literal");
      while (digit()) ++i_;
    }
    auto literal = s_.substr(start, i_ - start);
    auto f = parse_float(literal);
    if (f->out_of_range && late_.empty())
      late_ = "json: cannot unmarshal number " + std::string(literal) +
              " into Go value of type float64";
    if (f->out_of_range && from_ == json_source::text) return {};
    return f->number;
  }

  std::string_view s_;
  json_source from_;
  std::size_t i_ = 0;
  std::string late_;
};

}  // namespace

std::string json_number(double d) {
  auto magnitude = std::fabs(d);
  if (magnitude != 0 && (magnitude < 1e-6 || magnitude >= 1e21)) {
    auto s = format_float(d, 'e');
    // e-09 is written e-9.
    auto n = s.size();
    if (n >= 4 && s[n - 4] == 'e' && (s[n - 3] == '-') && s[n - 2] == '0') s.erase(n - 2, 1);
    return s;
  }
  return format_float(d, 'f');
}

outcome<std::string> write_json(const value& v, json_style style) {
  writer w(style);
  try {
    w.write(v, 0);
  } catch (const json_failure& f) {
    return problem{f.text, f.code};
  }
  return std::move(w.out);
}

outcome<value> read_json(std::string_view text, json_source from) {
  try {
    return reader(text, from).document();
  } catch (const json_failure& f) {
    return problem{f.text, f.code};
  }
}

outcome<json_reading> read_json_with_nulls(std::string_view text) {
  try {
    return reader(text, json_source::text).with_nulls();
  } catch (const json_failure& f) {
    return problem{f.text, f.code};
  }
}

outcome<value> read_json_along(std::string_view text, std::span<const std::string_view> path) {
  try {
    return reader(text, json_source::text).document_along(path);
  } catch (const json_failure& f) {
    return problem{f.text, f.code};
  }
}

outcome<value> read_json_prefix(std::string_view text, std::size_t& used) {
  try {
    return reader(text, json_source::stream).prefix(used);
  } catch (const json_failure& f) {
    return problem{f.text, f.code};
  }
}

}  // namespace formats
