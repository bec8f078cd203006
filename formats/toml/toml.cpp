#include "formats/toml/toml.hpp"

#include "formats/go/literal.hpp"
#include "formats/go/time.hpp"
#include "formats/plain/deep_stack.hpp"
#include "formats/plain/text.hpp"
#include "formats/toml/lexer.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

namespace formats {
namespace {

using key_path = std::vector<std::string>;

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

/// Dates without a zone are written as they were read.
std::string toml_time(const go_time& t) {
  const char* layout = t.fixed_name == toml_local_date_time ? "2006-01-02T15:04:05.999999999"
                       : t.fixed_name == toml_local_date    ? "2006-01-02"
                       : t.fixed_name == toml_local_time    ? "15:04:05.999999999"
                                                            : "2006-01-02T15:04:05.999999999Z07:00";
  return format_time(t, layout);
}

class toml_writer {
public:
  std::string out;

  void encode(const key_path& key, const value& v) {
    if (v.is_nil()) return;
    if (static_cast<int>(key.size()) > toml_depth_limit)
      throw toml_failure{"toml: nested too deep"};
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
    for (const auto& k : key) s += (s.empty() ? "" : ".") + toml_key_text(k);
    return s;
  }
  void newline() {
    if (!out.empty()) out += '\n';
  }
  void indent(const key_path& key) { out.append((key.size() - 1) * 2, ' '); }

  static bool is_structure(const value& v) {
    return v.object() && !v.object()->text() && v.type_name() != "complex128";
  }
  /// The members in the order in which they are written: maps by key, structs as declared, embedded
  /// ones opened.
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
    out += toml_key_text(key.back()) + " = ";
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
          out += toml_time(*time_in(v));
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

}  // namespace

std::string toml_key_text(const std::string& k) {
  bool plain = !k.empty();
  for (const char c : k) plain = plain && bare(c);
  return plain ? k : quoted(k);
}

outcome<std::string> write_toml(const value& v) {
  try {
    toml_writer w;
    w.encode({}, v);
    return std::move(w.out);
  } catch (const toml_failure& f) {
    return problem{f.text};
  }
}

}  // namespace formats
