#include "helm/objects/manifest_reader.hpp"

#include "formats/plain/deep_stack.hpp"
#include "formats/yaml/reader.hpp"
#include "helm/go.hpp"

#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>

#include <cmath>
#include <deque>

namespace helm::objects {
namespace {

namespace json = boost::json;

constexpr double integers_end = 9223372036854775808.0;  // 2^63
// API servers answer with objects of half this depth at most; what compares and merges them
// descends by recursion.
constexpr int depth_limit = 200;

bool deeper_than(const value& v, int limit) {
  if (limit < 0) return true;
  if (v.is_map()) {
    for (const auto& [key, member] : v.entries()) {
      if (deeper_than(member, limit - 1)) return true;
    }
  } else if (v.kind() == type::list) {
    for (const value& element : v.items()) {
      if (deeper_than(element, limit - 1)) return true;
    }
  }
  return false;
}

/// What a document takes as JSON, with each alias as all that it stands for.
std::uint64_t bytes_as_json(const value& v) {
  constexpr std::uint64_t bytes_per_value = 64;
  formats::count_steps(1);
  std::uint64_t out = bytes_per_value;
  if (v.is_string()) {
    out += v.text().size();
  } else if (v.is_map()) {
    for (const auto& [key, member] : v.entries()) out += key.size() + bytes_as_json(member);
  } else if (v.kind() == type::list) {
    for (const value& element : v.items()) out += bytes_as_json(element);
  }
  return out;
}

/// Documents end at lines that begin with ---; what follows there may only be a comment.
outcome<std::vector<std::string>> split(std::string_view text) {
  std::vector<std::string> out;
  std::string document;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const bool whole = line.size() < text.size();
    text.remove_prefix(line.size() + (whole ? 1 : 0));
    if (line.starts_with("---")) {
      const std::string_view rest = trim_space(line.substr(3));
      if (!rest.empty() && rest[0] != '#')
        return problem{"error parsing : invalid Yaml document separator: " + std::string(rest)};
      if (!document.empty()) out.push_back(std::move(document));
      document.clear();
      continue;
    }
    document += line;
    if (whole) document += '\n';
  }
  if (!document.empty()) out.push_back(std::move(document));
  return out;
}

}  // namespace

json::value to_json(const value& v) {
  if (v.is_nil()) return nullptr;
  if (v.kind() == type::boolean) return v.boolean();
  if (v.kind() == type::uint64) return static_cast<std::uint64_t>(v.integer());
  if (v.is_integer()) return v.integer();
  if (v.kind() == type::float64) {
    const double d = v.real();
    if (std::trunc(d) == d && d >= -integers_end && d < integers_end)
      return static_cast<std::int64_t>(d);
    return d;
  }
  if (v.is_string()) return json::string(v.text());
  if (v.is_map()) {
    json::object out;
    for (const auto& [key, member] : v.entries()) out[key] = to_json(member);
    return out;
  }
  json::array out;
  for (const value& element : v.items()) out.push_back(to_json(element));
  return out;
}

outcome<std::vector<json::object>> read_manifest(std::string_view manifest) {
  auto documents = split(manifest);
  if (!documents) return documents.error();
  std::vector<json::object> out;
  formats::held_bytes held;
  for (const std::string& text : *documents) {
    auto read = read_go_yaml(text, yaml_numbers::typed);
    if (!read)
      return problem{"error parsing : error converting YAML to JSON: " + read.error().text};
    if (read->is_nil()) continue;
    if (deeper_than(*read, depth_limit)) return problem{"error parsing : json: exceeded max depth"};
    held.add(bytes_as_json(*read));
    json::value document = to_json(*read);
    if (!document.is_object()) {
      return problem{"unable to decode \"\": json: cannot unmarshal " +
                     std::string(json_kind(*read)) +
                     " into Go value of type unstructured.detector"};
    }
    out.push_back(std::move(document.get_object()));
  }
  return out;
}

std::vector<json::object> flatten(json::object document) {
  std::vector<json::object> out;
  std::deque<json::object> rest;
  rest.push_back(std::move(document));
  while (!rest.empty()) {
    json::object o = std::move(rest.front());
    rest.pop_front();
    json::value* items = o.if_contains("items");
    if (!items || !items->is_array()) {
      out.push_back(std::move(o));
      continue;
    }
    // Lists within a list come after its other elements.
    for (json::value& element : items->get_array()) {
      if (element.is_object()) rest.push_back(std::move(element.get_object()));
    }
  }
  return out;
}

std::string metadata_text(const json::object& o, std::string_view field) {
  const json::value* metadata = o.if_contains("metadata");
  return metadata && metadata->is_object() ? text_member(metadata->get_object(), field)
                                           : std::string();
}

}  // namespace helm::objects
