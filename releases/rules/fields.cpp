#include "releases/rules/fields.hpp"

#include "formats/plain/nearest.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace policies::releases {
namespace {

namespace json = boost::json;
using reactor::errc;
using reactor::result;

constexpr std::size_t most_bytes = 1024 * 1024, most_values = 50'000, most_levels = 32;

formats::yaml_limits limits(formats::yaml_scalars scalars) {
  return {.bytes = most_bytes,
          .depth = most_levels,
          .nodes = most_values,
          .documents = 1,
          .storage = {},
          .scalars = scalars};
}

std::string_view kind_of(const json::value& v) {
  switch (v.kind()) {
    case json::kind::null: return "nothing";
    case json::kind::bool_: return "a boolean";
    case json::kind::int64:
    case json::kind::uint64: return "an integer";
    case json::kind::double_: return "a float";
    case json::kind::string: return "a text";
    case json::kind::array: return "a list";
    case json::kind::object: return "a mapping";
  }
  return "";
}

/// Whether the document is a list, which becomes a mapping with that list in `name`.
bool name_list(json::value& root, std::string_view name) {
  if (name.empty() || !root.is_array()) return false;
  json::object named;
  named.emplace(name, std::move(root));
  root = std::move(named);
  return true;
}

/// A number as people write it: 253830 for what JSON would call 2.5383E5.
std::string shown(const json::value& v) {
  if (const double* d = v.if_double()) {
    std::string text = std::to_string(*d);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
  }
  return json::serialize(v);
}

}  // namespace

std::string quoted(std::string_view text) {
  return "\"" + reactor::printable(text, 100) + "\"";
}

place place::operator/(std::string_view field) const {
  place p = *this;
  if (!p.name.empty()) p.name += '.';
  p.name += field;
  p.steps.emplace_back(field);
  return p;
}

place place::entry(std::size_t index, std::string_view label) const {
  place p = *this;
  p.name += '[' + (label.empty() ? std::to_string(index + 1) : std::string(label)) + ']';
  p.steps.push_back(std::to_string(index));
  return p;
}

result<yaml_source> yaml_source::read(std::string_view text, std::string file,
                                      std::string_view list_name) {
  auto root =
      formats::parse_kubernetes_yaml(text, "read " + file, limits(formats::yaml_scalars::resolved));
  if (!root) return root.error();
  const bool is_list = name_list(*root, list_name);
  if (!root->is_object())
    return reactor::make_fault(errc::malformed, "read " + file,
                               "expected a mapping, got " + std::string(kind_of(*root)));
  yaml_source made;
  made.text_ = text;
  made.file_ = std::move(file);
  made.list_name_ = list_name;
  made.is_list_ = is_list;
  made.root_ = std::move(*root);
  return made;
}

void yaml_source::note(std::string_view id, std::string subject, const place& at, std::string why,
                       std::string from, std::string to) {
  problems.push_back({std::string(id), std::move(subject), std::move(from), std::move(to),
                      std::move(why), file_ + ": " + at.name});
}

std::string yaml_source::own_text(const place& at) {
  if (!own_) {
    auto again =
        formats::parse_kubernetes_yaml(text_, file_, limits(formats::yaml_scalars::own_text));
    own_ = again ? std::move(*again) : json::value();
    name_list(*own_, list_name_);
  }
  const json::value* v = &*own_;
  for (const std::string& step : at.steps) {
    if (const json::object* o = v->if_object()) {
      v = o->if_contains(step);
    } else if (const json::array* a = v->if_array()) {
      v = a->if_contains(std::stoul(step));
    } else {
      v = nullptr;
    }
    if (v == nullptr) return {};
  }
  return v->is_string() ? std::string(v->get_string()) : std::string();
}

std::optional<std::string> yaml_source::text(const json::object& of, std::string_view name,
                                             const place& at, const std::string& subject, need n,
                                             std::string_view wrong_type) {
  const place here = at / name;
  const json::value* v = of.if_contains(name);
  if (v == nullptr || v->is_null()) {
    if (n == need::required)
      note("release.schema", subject, here, std::string(name) + " is missing");
    return std::nullopt;
  }
  std::string text;
  if (v->is_string()) {
    text = v->get_string();
  } else if (v->is_array() || v->is_object()) {
    note("release.schema", subject, here,
         std::string(name) + ": expected a text, got " + std::string(kind_of(*v)));
    return std::nullopt;
  } else {
    text = own_text(here);
    note(wrong_type, subject, here,
         std::string(name) + " " + text + " is no text: YAML reads it as " +
             std::string(kind_of(*v)) + ", " + shown(*v) +
             // A version that YAML takes for a number lacks one of its own: quotes do not mend it.
             (wrong_type == "release.schema" ? "; put it in quotes"
                                             : "; a version has three numbers, such as 1.2.3"),
         text, shown(*v));
  }
  if (text.size() > longest_field && !too_long)
    too_long =
        reactor::make_fault(errc::limit, "read " + file_, here.name + " is longer than 4 KiB");
  return text;
}

const json::array* yaml_source::list(const json::object& of, std::string_view name, const place& at,
                                     const std::string& subject, need n) {
  const json::value* v = of.if_contains(name);
  if (v != nullptr && v->is_array()) return &v->get_array();
  if (v != nullptr && !v->is_null()) {
    note("release.schema", subject, at / name,
         std::string(name) + ": expected a list, got " + std::string(kind_of(*v)));
  } else if (n == need::required) {
    note("release.schema", subject, at / name, std::string(name) + " is missing");
  }
  return nullptr;
}

const json::object* yaml_source::object(const json::value& v, const place& at,
                                        const std::string& subject) {
  if (v.is_object()) return &v.get_object();
  note("release.schema", subject, at, "expected a mapping, got " + std::string(kind_of(v)));
  return nullptr;
}

std::vector<unknown_field> yaml_source::others(const json::object& of,
                                               std::initializer_list<std::string_view> known) {
  std::vector<unknown_field> found;
  for (const auto& [key, v] : of) {
    const std::string_view name(key.data(), key.size());
    if (std::find(known.begin(), known.end(), name) == known.end())
      found.push_back({std::string(name), json::serialize(v)});
  }
  std::sort(found.begin(), found.end(),
            [](const unknown_field& a, const unknown_field& b) { return a.name < b.name; });
  return found;
}

std::vector<unknown_field> yaml_source::unknown(const json::object& of,
                                                std::initializer_list<std::string_view> known,
                                                const place& at, const std::string& subject) {
  std::vector<unknown_field> found = others(of, known);
  for (const unknown_field& f : found) {
    const place here = at / f.name;
    std::vector<std::string> way = here.steps;
    if (is_list_) way.erase(way.begin());
    // A document on one line is an object of a server.
    const std::size_t line = text_.find('\n') == text_.npos ? 0 : formats::yaml_line_of(text_, way);
    const std::string_view near = formats::nearest(known, f.name);
    note("release.unknown-field", subject, here,
         (line > 0 ? "line " + std::to_string(line) + ": " : "") + "no field " + quoted(f.name) +
             " is known" + (near.empty() ? "" : "; is it " + std::string(near) + "?"),
         f.name, std::string(near));
  }
  return found;
}

}  // namespace policies::releases
