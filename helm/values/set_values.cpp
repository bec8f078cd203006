#include "helm/values/set_values.hpp"

#include "formats/json/json.hpp"
#include "helm/go.hpp"

namespace helm {
namespace {

constexpr std::int64_t index_limit = 65536;
constexpr int depth_limit = 30;
constexpr char32_t none = 0xffffffff;

/// How a step of the parser ended: the end of the line is not an error, but it ends every loop.
struct ended {
  bool at_end = false;
  std::string error;
  bool ok() const { return !at_end && error.empty(); }
};
const ended fine{};
const ended end_of_line{true, {}};
ended failed(std::string text) {
  return {false, std::move(text)};
}

class set_parser {
public:
  set_parser(std::string_view line, set_kind kind, const file_reader& files)
      : s_(line), kind_(kind), files_(files) {}

  outcome<bool> run(value& into) {
    for (;;) {
      auto e = key(into, 0);
      if (e.ok()) continue;
      if (e.at_end) return true;
      return problem{e.error};
    }
  }

private:
  char32_t read() {
    if (s_.empty()) return none;
    auto d = decode_rune(s_);
    last_ = static_cast<std::size_t>(d.size);
    s_.remove_prefix(last_);
    return d.rune;
  }
  void unread() { s_ = std::string_view(s_.data() - last_, s_.size() + last_); }

  /// Text up to one of `stop`; `last` is the stop, or none at the end of the line.
  std::string until(std::string_view stop, char32_t& last) {
    std::string out;
    for (;;) {
      auto r = read();
      if (r == none || (r < 0x80 && stop.find(static_cast<char>(r)) != stop.npos)) {
        last = r;
        return out;
      }
      if (r == '\\' && kind_ != set_kind::literal) {
        r = read();
        if (r == none) {
          last = none;
          return out;
        }
      }
      append_rune(out, r);
    }
  }

  static std::string interface_error(const value& v, const char* wanted) {
    return "unable to parse key: interface conversion: interface {} is " +
           (v.is_nil() ? std::string("nil") : v.type_name()) + ", not " + wanted;
  }

  static void put(value& into, const std::string& name, value v) {
    if (!name.empty()) into.entries().insert_or_assign(name, std::move(v));
  }

  ended key(value& into, int depth) {
    char32_t last = none;
    auto k = until(kind_ == set_kind::literal ? "=[." : "=[,.", last);
    switch (last) {
      case none: return k.empty() ? end_of_line : failed("key " + quote(k) + " has no value");
      case '[': {
        std::int64_t i = 0;
        if (auto e = index(i); !e.ok()) return e;
        value list(value::list_type{});
        if (const auto* found = into.find(k)) {
          if (found->kind() != type::list) return failed(interface_error(*found, "[]interface {}"));
          list = *found;
        }
        auto e = item(list, i, depth);
        put(into, k, list);
        return e;
      }
      case '=':
        return assigned([&](value v) {
          put(into, k, std::move(v));
          return fine;
        });
      case ',':
        put(into, k, value(""));
        return failed("key " + quote(k) + " has no value (cannot end with ,)");
      default: break;
    }
    if (++depth > depth_limit)
      return failed("value name nested level is greater than maximum supported nested level of 30");
    value inner(value::map_type{});
    if (const auto* found = into.find(k)) {
      if (found->kind() != type::map)
        return failed(interface_error(*found, "map[string]interface {}"));
      inner = *found;
    }
    auto e = key(inner, depth);
    if (e.ok() && inner.size() == 0) return failed("key map " + quote(k) + " has no value");
    if (inner.size() != 0) put(into, k, inner);
    return e;
  }

  ended index(std::int64_t& out) {
    char32_t last = none;
    auto text = until("]", last);
    // Even a line that ends here is an error by now.
    if (last == none) return failed("error parsing index: EOF");
    auto n = parse_int(text, 10);
    if (n.error != int_error::none)
      return failed("error parsing index: strconv.Atoi: parsing " + quote(text) +
                    (n.error == int_error::range ? ": value out of range" : ": invalid syntax"));
    out = n.number;
    return fine;
  }

  static ended put(value& list, std::int64_t i, value v) {
    if (i > index_limit)
      return failed("index of " + std::to_string(i) +
                    " is greater than maximum supported index of " + std::to_string(index_limit));
    auto items = list.items();
    if (items.size() <= static_cast<std::size_t>(i)) items.resize(static_cast<std::size_t>(i) + 1);
    items[static_cast<std::size_t>(i)] = std::move(v);
    list = value(std::move(items));
    return fine;
  }

  ended item(value& list, std::int64_t i, int depth) {
    if (i < 0) return failed("negative " + std::to_string(i) + " index not allowed");
    char32_t last = none;
    auto k = until("[.=", last);
    if (!k.empty()) {
      // The reference prints a list of runes here.
      std::string shown;
      for (std::string_view rest = k; !rest.empty();) {
        auto d = decode_rune(rest);
        shown += (shown.empty() ? "" : " ") + quote_rune(d.rune);
        rest.remove_prefix(static_cast<std::size_t>(d.size));
      }
      return failed("unexpected data at end of array index: [" + shown + "]");
    }
    auto existing = static_cast<std::size_t>(i) < list.size()
                        ? list.items()[static_cast<std::size_t>(i)]
                        : value();
    switch (last) {
      case none: return end_of_line;
      case '=': {
        auto e = assigned([&](value v) { return put(list, i, std::move(v)); });
        // In a list the end of the line is no news to the caller.
        return e.at_end && kind_ != set_kind::json ? fine : e;
      }
      case '[': {
        std::int64_t next = 0;
        if (auto e = index(next); !e.ok()) return e;
        value inner = value::nil_of(type::list);
        if (!existing.is_nil()) {
          if (existing.kind() != type::list)
            return failed(interface_error(existing, "[]interface {}"));
          inner = existing;
        }
        if (auto e = item(inner, next, depth); !e.ok()) return e;
        return put(list, i, inner);
      }
      default: break;
    }
    value inner(value::map_type{});
    if (existing.kind() == type::map) {
      inner = existing;
    } else if (static_cast<std::size_t>(i) < list.size()) {
      static_cast<void>(put(list, i, inner));
    }
    if (auto e = key(inner, depth); !e.ok()) {
      // The value stays although the line ended with it.
      return e;
    }
    return put(list, i, inner);
  }

  /// True when nothing but blanks comes before a comma or the end; these are consumed.
  bool blank() {
    for (;;) {
      auto r = read();
      if (r == none || r == ',') return true;
      if (!is_space(r)) {
        unread();
        return false;
      }
    }
  }

  template <class Store>
  ended assigned(Store store) {
    if (kind_ == set_kind::json) {
      if (blank()) return store(value());
      std::size_t used = 0;
      auto v = read_json_prefix(s_, used);
      if (!v) return failed(v.error().text);
      if (auto e = store(std::move(*v)); !e.ok()) return e;
      s_.remove_prefix(used);
      blank();
      return fine;
    }
    if (kind_ == set_kind::literal) {
      auto rest = std::string(s_);
      s_ = {};
      return store(value(to_valid_utf8(rest)));
    }
    auto r = read();
    if (r == none) {
      auto e = store(value(""));
      return e.ok() ? end_of_line : e;
    }
    if (r == '{') {
      value::list_type list;
      for (;;) {
        char32_t last = none;
        auto text = until(",}", last);
        if (last == none) return failed("list must terminate with '}'");
        value v;
        if (auto e = convert(text, v); !e.ok()) return e;
        list.push_back(std::move(v));
        if (last != '}') continue;
        if (auto next = read(); next != none && next != ',') unread();
        return store(value(std::move(list)));
      }
    }
    unread();
    char32_t last = none;
    auto text = until(",", last);
    value v;
    if (auto e = convert(text, v); !e.ok()) return e;
    return store(std::move(v));
  }

  ended convert(const std::string& text, value& out) {
    if (kind_ == set_kind::file) {
      auto data =
          files_ ? files_(text)
                 : outcome<std::string>(problem{"open " + text + ": no such file or directory"});
      if (!data) return failed(data.error().text);
      out = value(*data);
      return fine;
    }
    out = value(text);
    if (kind_ == set_kind::text) return fine;
    if (equal_fold(text, "true"))
      out = true;
    else if (equal_fold(text, "false"))
      out = false;
    else if (equal_fold(text, "null"))
      out = value();
    else if (text == "0")
      out = value::integer(0, type::int64);
    else if (!text.empty() && text[0] != '0')
      if (auto n = parse_int(text, 10); n.error == int_error::none)
        out = value::integer(n.number, type::int64);
    return fine;
  }

  std::string_view s_;
  std::size_t last_ = 0;
  set_kind kind_;
  const file_reader& files_;
};

}  // namespace

outcome<bool> apply_set(value& into, std::string_view line, set_kind kind,
                        const file_reader& files) {
  return set_parser(line, kind, files).run(into);
}

}  // namespace helm
