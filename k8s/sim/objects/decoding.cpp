// The real server's two ways of reading an object, with their messages: Go's JSON decoder and
// structured-merge-diff. Both walk the same table.
#include "k8s/sim/objects/decoding.hpp"

#include "formats/base64.hpp"
#include "formats/go/regex.hpp"
#include "formats/go/time.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace k8s::sim {
namespace {

using form = field_type::form;

constexpr const char* quantity_rule = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$";

/// Where a value is.
struct place {
  const place* within = nullptr;  // borrowed from who calls
  std::string_view name;          // of a field; empty: an element
  std::size_t index = 0;
  bool is_key = false;  // of a map: data, not a field

  /// "spec.containers[0].image"
  std::string text() const {
    std::string out = within != nullptr ? within->text() : std::string();
    if (name.empty()) return out + "[" + std::to_string(index) + "]";
    return out + (out.empty() ? "" : ".") + std::string(name);
  }
  /// "spec.containers.image": the names of fields alone.
  std::string fields() const {
    std::string out = within != nullptr ? within->fields() : std::string();
    if (name.empty() || is_key) return out;
    return out + (out.empty() ? "" : ".") + std::string(name);
  }
};

std::string json_name(const json::value& v) {
  return v.is_number()   ? "number"
         : v.is_bool()   ? "bool"
         : v.is_array()  ? "array"
         : v.is_object() ? "object"
                         : "string";
}

bool is_whole(const json::value& v) {
  return v.is_int64() ||
         (v.is_uint64() && v.get_uint64() <= std::numeric_limits<std::int64_t>::max());
}

bool fits_int32(const json::value& v) {
  return v.is_int64() && v.get_int64() >= std::numeric_limits<std::int32_t>::min() &&
         v.get_int64() <= std::numeric_limits<std::int32_t>::max();
}

bool is_quantity(std::string_view text) {
  static const auto rule = formats::regex::compile(quantity_rule);
  return rule->found_in(text);
}

class decoder {
public:
  void read(json::object& o, const object_type& type, const place* at) {
    std::vector<std::string> drop;
    for (auto& member : o) {
      const std::string_view name = member.key();
      const place here{at, name, 0, false};
      const field_type* f = type.field(name);
      if (f == nullptr) {
        out_.unknown.push_back(here.text());
        drop.emplace_back(name);
        continue;
      }
      read(member.value(), *f, here, type);
      if (ended_) return;
    }
    for (const std::string& name : drop) erase(o, name);
  }
  decoded take() { return std::move(out_); }

private:
  /// `in`: the struct that the nearest field belongs to.
  void read(json::value& v, const field_type& f, const place& at, const object_type& in) {
    if (v.is_null() || ended_) return;
    switch (f.is) {
      case form::anything: return;
      case form::text:
        if (!v.is_string()) wrong(v, f.go_name(), at, in);
        return;
      case form::flag:
        if (!v.is_bool()) wrong(v, f.go_name(), at, in);
        return;
      case form::real:
        if (!v.is_number()) wrong(v, f.go_name(), at, in);
        return;
      case form::int32:
      case form::int64:
        if (!(f.is == form::int32 ? fits_int32(v) : is_whole(v))) wrong(v, f.go_name(), at, in);
        return;
      case form::bytes: return read_bytes(v, f, at, in);
      case form::time:
      case form::micro_time: {
        const char* layout =
            f.is == form::time ? "2006-01-02T15:04:05Z07:00" : "2006-01-02T15:04:05.000000Z07:00";
        if (!v.is_string()) return end(wrong_type(v, "string", at, in));
        if (!formats::parse_time(layout, v.get_string()))
          end("parsing time " + quoted(v.get_string()) + " as " + quoted(layout) +
              ": cannot parse " + quoted(v.get_string()) + " as \"2006\"");
        return;
      }
      case form::quantity:
        if (!v.is_number() && !(v.is_string() && is_quantity(v.get_string())))
          end(std::string("quantities must match the regular expression '") + quantity_rule + "'");
        return;
      case form::int_or_text:
        if (!v.is_string() && !fits_int32(v)) end(wrong_type(v, "int32", at, in));
        return;
      case form::object:
        if (!v.is_object()) return wrong(v, f.go_name(), at, in);
        return read(v.get_object(), *f.type, &at);
      case form::list: {
        if (!v.is_array()) return wrong(v, f.go_name(), at, in);
        std::size_t i = 0;
        for (json::value& one : v.get_array()) read(one, *f.element, {&at, {}, i++, false}, in);
        return;
      }
      case form::map:
        if (!v.is_object()) return wrong(v, f.go_name(), at, in);
        for (auto& member : v.get_object())
          read(member.value(), *f.element, {&at, member.key(), 0, true}, in);
        return;
    }
  }

  void read_bytes(const json::value& v, const field_type& f, const place& at,
                  const object_type& in) {
    if (!v.is_string()) return wrong(v, f.go_name(), at, in);
    if (formats::decode_base64(v.get_string())) return;
    const std::string_view text = v.get_string();
    const auto is_digit = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '+' || c == '/' || c == '\n' || c == '\r';
    };
    const auto bad = std::find_if_not(text.begin(), text.end(), is_digit);
    // Of a group that is not complete its first digit is named.
    const auto byte =
        bad == text.end() ? text.size() / 4 * 4 : static_cast<std::size_t>(bad - text.begin());
    wrong_as("illegal base64 data at input byte " + std::to_string(byte));
  }

  std::string wrong_type(const json::value& v, const std::string& go, const place& at,
                         const object_type& in) const {
    const bool literal = v.is_number() && (go == "int32" || go == "int64");
    return "json: cannot unmarshal " + json_name(v) + (literal ? " " + json::serialize(v) : "") +
           " into Go struct field " + in.name() + "." + at.fields() + " of type " + go;
  }
  /// The decoder goes on and tells the first.
  void wrong(const json::value& v, const std::string& go, const place& at, const object_type& in) {
    wrong_as(wrong_type(v, go, at, in));
  }
  void wrong_as(std::string why) {
    if (out_.problem.empty()) out_.problem = std::move(why);
  }
  /// A type that reads its JSON itself ends the decoder.
  void end(std::string why) {
    out_.problem = std::move(why);
    ended_ = true;
  }

  decoded out_;
  bool ended_ = false;
};

/// As Go prints it with %v.
std::string shown(const json::value& v) {
  if (v.is_null()) return "<nil>";
  if (v.is_string()) return std::string(v.get_string());
  if (v.is_object()) {
    std::vector<std::string> parts;
    for (const auto& member : v.get_object())
      parts.push_back(std::string(member.key()) + ":" + shown(member.value()));
    std::sort(parts.begin(), parts.end());
    std::string out;
    for (const std::string& p : parts) out += (out.empty() ? "" : " ") + p;
    return "map[" + out + "]";
  }
  if (v.is_array()) {
    std::string out;
    for (const json::value& one : v.get_array()) out += (out.empty() ? "" : " ") + shown(one);
    return "[" + out + "]";
  }
  return json::serialize(v);
}

std::string go_type(const json::value& v) {
  return v.is_string()   ? "string"
         : v.is_bool()   ? "bool"
         : v.is_array()  ? "[]interface {}"
         : v.is_object() ? "map[string]interface {}"
         : v.is_double() ? "float64"
                         : "int64";
}

class typed_reader {
public:
  void read(const json::object& o, const object_type& type, const std::string& at) {
    for (const auto& member : o) {
      const std::string here = at + "." + std::string(member.key());
      const field_type* f = type.field(member.key());
      if (f == nullptr)
        say(here, "field not declared in schema");
      else
        read(member.value(), *f, here);
    }
  }
  std::string take() const {
    if (lines_.size() < 2) return lines_.empty() ? std::string() : lines_.front();
    std::string out = "errors:";
    for (const std::string& line : lines_) out += "\n  " + line;
    return out;
  }

private:
  void read(const json::value& v, const field_type& f, const std::string& at) {
    if (v.is_null()) return;
    switch (f.is) {
      case form::anything: return;
      case form::text:
      case form::bytes:
        if (!v.is_string())
          say(at, "expected string, got &value.valueUnstructured{Value:" + shown(v) + "}");
        return;
      case form::flag:
        if (!v.is_bool()) say(at, "expected boolean, got &{" + shown(v) + "}");
        return;
      case form::int32:
      case form::int64:
      case form::real:
        if (!v.is_number()) say(at, "expected numeric (int or float), got " + go_type(v));
        return;
      case form::time:
      case form::micro_time:
      case form::quantity:
      case form::int_or_text:
        if (v.is_array() || v.is_object()) say(at, "expected any scalar, got &{" + shown(v) + "}");
        return;
      case form::object:
        if (!v.is_object()) return say(at, "expected map, got &{" + shown(v) + "}");
        return read(v.get_object(), *f.type, at);
      case form::map:
        if (!v.is_object()) return say(at, "expected map, got &{" + shown(v) + "}");
        for (const auto& member : v.get_object())
          read(member.value(), *f.element, at + "." + std::string(member.key()));
        return;
      case form::list: {
        if (!v.is_array()) return say(at, "expected list, got &{" + shown(v) + "}");
        std::size_t i = 0;
        for (const json::value& one : v.get_array())
          read(one, *f.element, at + element(one, f, i++));
        return;
      }
    }
  }
  static std::string element(const json::value& one, const field_type& f, std::size_t i) {
    std::string keys;
    for (const std::string& key : f.keys)
      if (const json::value* k = one.is_object() ? one.get_object().if_contains(key) : nullptr)
        keys += (keys.empty() ? "" : ",") + key + "=" + json::serialize(*k);
    return "[" + (keys.empty() ? std::to_string(i) : keys) + "]";
  }
  void say(const std::string& at, const std::string& what) { lines_.push_back(at + ": " + what); }

  std::vector<std::string> lines_;
};

void read_words(const json::value& v, const field_type& f, const place& at, field_errors& errors) {
  if (v.is_string() && !f.words.empty() && !v.get_string().empty() &&
      std::find(f.words.begin(), f.words.end(), std::string_view(v.get_string())) == f.words.end())
    errors.push_back(field_error::unsupported(at.text(), v, f.words));
  if (v.is_object() && f.type != nullptr) {
    for (const auto& member : v.get_object())
      if (const field_type* inner = f.type->field(member.key()))
        read_words(member.value(), *inner, {&at, member.key(), 0, false}, errors);
  } else if (v.is_array() && f.element) {
    std::size_t i = 0;
    for (const json::value& one : v.get_array())
      read_words(one, *f.element, {&at, {}, i++, false}, errors);
  }
}

}  // namespace

decoded decode(json::object& o, const object_type& type) {
  decoder d;
  d.read(o, type, nullptr);
  return d.take();
}

std::string apply_problem(const json::object& o, const object_type& type) {
  typed_reader r;
  r.read(o, type, {});
  return r.take();
}

void validate_words(const json::object& o, const object_type& type, field_errors& errors) {
  const field_type* spec = type.field("spec");
  const json::value* v = o.if_contains("spec");
  if (spec != nullptr && v != nullptr) read_words(*v, *spec, {nullptr, "spec", 0, false}, errors);
}

}  // namespace k8s::sim
