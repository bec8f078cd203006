#include "formats/go/time.hpp"
#include "formats/json/json.hpp"
#include "formats/json/record.hpp"
#include "formats/yaml/reader.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/charts/bounded.hpp"
#include "helm/go.hpp"
#include "helm/sources/index.hpp"
#include "helm/sources/record.hpp"

#include <algorithm>
#include <array>

namespace helm::sources {
namespace {

constexpr const char* rfc3339 = "2006-01-02T15:04:05Z07:00";
constexpr const char* rfc3339_nano = "2006-01-02T15:04:05.999999999Z07:00";

/// Members of chart metadata, and what a version has besides.
constexpr std::array metadata_members{
    "name",        "home",        "sources",     "version",      "description", "keywords",
    "maintainers", "icon",        "apiVersion",  "condition",    "tags",        "appVersion",
    "deprecated",  "annotations", "kubeVersion", "dependencies", "type"};
constexpr std::array version_members{"urls",     "created", "removed",       "digest",
                                     "checksum", "engine",  "tillerVersion", "url"};
constexpr std::array index_members{"serverInfo", "apiVersion", "generated",
                                   "entries",    "publicKeys", "annotations"};

template <class Names>
bool among(const Names& names, std::string_view key) {
  return std::any_of(names.begin(), names.end(), [&](const char* n) { return equal_fold(n, key); });
}

enum class strictness : bool { lenient, strict };

/// Takes the read document apart. Stops at the first thing that does not fit.
class decoder {
public:
  decoder(strictness how, std::string_view source) : how_(how), source_(source) {}

  outcome<read_index_result> decode(const value& v) {
    if (!v.is_nil() && !v.is_map())
      return failed("json: cannot unmarshal " + std::string(json_kind(v)) +
                    " into Go value of type repo.IndexFile");
    read_index_result out;
    out.index.api_version.clear();
    for (const auto& [key, content] : v.entries()) {
      if (!among(index_members, key)) {
        if (how_ == strictness::strict) return unknown(key);
        continue;
      }
      if (content.is_nil()) continue;
      bool fits = true;
      if (key == "apiVersion") {
        fits = text(content, "IndexFile.apiVersion", out.index.api_version);
      } else if (key == "generated") {
        fits = time(content, out.index.generated);
      } else if (key == "publicKeys") {
        fits = texts(content, "IndexFile.publicKeys", out.index.public_keys);
      } else if (key == "annotations") {
        fits = content.is_map() || mismatch(content, "IndexFile.annotations", "map[string]string");
        for (const auto& [name, item] : content.entries())
          fits = fits && text(item, "IndexFile.annotations", out.index.annotations[name]);
      } else if (key == "entries") {
        fits = entries(content, out);
      }
      if (!fits) return failure_;
    }
    return out;
  }

private:
  problem failed(const std::string& why) const {
    return {how_ == strictness::strict ? "error unmarshaling JSON: while decoding JSON: " + why
                                       : why};
  }
  problem unknown(const std::string& key) const {
    return failed("json: unknown field " + quote(key));
  }
  bool mismatch(const value& v, const std::string& field, const char* wanted) {
    failure_ = failed("json: cannot unmarshal " + std::string(json_kind(v)) +
                      " into Go struct field " + field + " of type " + wanted);
    return false;
  }
  bool text(const value& v, const std::string& field, std::string& out) {
    const value s = text_of_scalar(v);
    if (s.is_nil()) return true;
    if (!s.is_string()) return mismatch(v, field, "string");
    out = s.text();
    return true;
  }
  bool texts(const value& v, const std::string& field, std::vector<std::string>& out) {
    if (!v.is_list()) return mismatch(v, field, "[]string");
    for (const auto& item : v.items())
      if (!text(item, field, out.emplace_back())) return false;
    return true;
  }
  bool time(const value& v, std::string& out) {
    if (!v.is_string()) {
      failure_ = failed("Time.UnmarshalJSON: input is not a JSON string");
      return false;
    }
    const auto t = parse_time(rfc3339, v.text());
    if (!t) {
      failure_ = failed(t.error().text);
      return false;
    }
    out = format_time(*t, rfc3339_nano);
    return true;
  }

  bool entries(const value& v, read_index_result& out) {
    if (!v.is_map()) return mismatch(v, "IndexFile.entries", "map[string]repo.ChartVersions");
    for (const auto& [name, list] : v.entries()) {
      if (!list.is_nil() && !list.is_list())
        return mismatch(list, "IndexFile.entries", "repo.ChartVersions");
      auto& versions = out.index.entries[name];
      for (const auto& item : list.items()) {
        if (++versions_ > index_versions_limit) {
          failure_ = {"repository index lists more than " + std::to_string(index_versions_limit) +
                      " versions"};
          return false;
        }
        if (!entry(item, name, versions, out.skipped)) return false;
      }
    }
    return true;
  }

  bool entry(const value& v, const std::string& name, std::vector<chart_version>& versions,
             std::vector<std::string>& skipped) {
    if (v.is_nil()) {
      skipped.push_back("skipping loading invalid entry for chart " + quote(name) + " from " +
                        std::string(source_) + ": empty entry");
      return true;
    }
    if (!v.is_map()) return mismatch(v, "IndexFile.entries", "repo.ChartVersion");
    chart_version out;
    for (const auto& [key, content] : v.entries()) {
      if (among(metadata_members, key)) continue;
      if (!among(version_members, key)) {
        if (how_ == strictness::lenient) continue;
        failure_ = unknown(key);
        return false;
      }
      if (content.is_nil()) continue;
      bool fits = true;
      if (key == "urls") {
        fits = texts(content, "ChartVersion.entries.urls", out.urls);
      } else if (key == "digest") {
        fits = text(content, "ChartVersion.entries.digest", out.digest);
      } else if (key == "created") {
        fits = time(content, out.created);
      } else if (key == "removed") {
        fits = content.kind() == type::boolean ||
               mismatch(content, "ChartVersion.entries.removed", "bool");
        out.removed = content.boolean();
      }
      if (!fits) return false;
    }
    if (auto read = metadata_from(v, out.meta); !read) {
      failure_ = read.error();
      return false;
    }
    if (out.meta.api_version.empty()) out.meta.api_version = "v1";
    const auto valid = validate_metadata(out.meta);
    // Some servers strip aliases, which makes two dependencies look like one.
    if (!valid && valid.error().code != problem_code::duplicate) {
      skipped.push_back("skipping loading invalid entry for chart " + quote(name) + " " +
                        quote(out.meta.version) + " from " + std::string(source_) + ": " +
                        valid.error().text);
      return true;
    }
    versions.push_back(std::move(out));
    return true;
  }

  strictness how_;
  std::string_view source_;
  std::size_t versions_ = 0;
  problem failure_;
};

value texts_value(const std::vector<std::string>& texts) {
  value::list_type out(texts.begin(), texts.end());
  return value(std::move(out));
}

value version_value(const chart_version& v) {
  auto members = *metadata_value(v.meta).object()->json_fields();
  members.emplace_back("urls", v.urls.empty() ? value::nil_of(type::list) : texts_value(v.urls));
  members.emplace_back("created", v.created.empty() ? std::string(zero_time_text) : v.created);
  if (v.removed) members.emplace_back("removed", true);
  if (!v.digest.empty()) members.emplace_back("digest", v.digest);
  return record(std::move(members));
}

outcome<read_index_result> taken_apart(const value& v, strictness how, std::string_view source) {
  decoder d(how, source);
  auto out = d.decode(v);
  if (!out) return out;
  out->index.sort();
  if (out->index.api_version.empty()) return problem{"no API version specified"};
  return out;
}

/// An index is JSON or YAML; `json` and `yaml` read the text as such.
template <class Json, class Yaml>
outcome<read_index_result> read_as(std::string_view text, std::string_view source, Json json,
                                   Yaml yaml) {
  if (text.empty()) return problem{"empty index.yaml file"};
  if (text.size() > index_bytes_limit)
    return problem{"repository index is larger than " + std::to_string(index_bytes_limit) +
                   " bytes"};
  const auto start = text.find_first_not_of(" \t\r\n");
  outcome<value> as_json = problem{};
  if (start != text.npos && text[start] == '{') as_json = json();
  const auto how = as_json ? strictness::lenient : strictness::strict;
  if (!as_json) {
    as_json = yaml();
    if (!as_json) return problem{"error converting YAML to JSON: " + as_json.error().text};
  }
  return taken_apart(*as_json, how, source);
}

}  // namespace

outcome<read_index_result> read_index(std::string_view text, std::string_view source) {
  return read_as(
      text, source, [&] { return read_json(text); },
      [&] { return read_go_yaml(text, yaml_numbers::typed, yaml_keys::unique); });
}

outcome<read_index_result> read_index_of(std::string_view text, const std::string& name,
                                         std::string_view source, std::uint64_t memory_bytes) {
  const std::array<std::string_view, 2> path{"entries", name};
  chart_limits limits;
  limits.memory_bytes = memory_bytes;
  return bounded("the repository index cannot be read", limits, [&] {
    auto out = read_as(
        text, source, [&] { return read_json_along(text, path); },
        [&] { return read_go_yaml_along(text, path); });
    // Scalars beside it are no charts.
    if (out) std::erase_if(out->index.entries, [&](const auto& e) { return e.first != name; });
    return out;
  });
}

outcome<read_index_result> read_index_of(const text_source& from, const std::string& name,
                                         std::string_view source, std::uint64_t memory_bytes) {
  // What it is shows in its first character.
  std::string start;
  const auto more = [&] {
    constexpr std::size_t piece = 64u << 10;
    const std::size_t before = start.size();
    start.resize(before + piece);
    const std::size_t got = from(start.data() + before, piece);
    start.resize(before + got);
    return got > 0;
  };
  std::size_t first = start.npos;
  while (first == start.npos && start.size() <= index_bytes_limit && more())
    first = start.find_first_not_of(" \t\r\n");
  if (first == start.npos) return read_index_of(start, name, source, memory_bytes);
  if (start[first] == '{') {
    while (start.size() <= index_bytes_limit && more()) {
    }
    return read_index_of(start, name, source, memory_bytes);
  }
  const std::array<std::string_view, 2> path{"entries", name};
  chart_limits limits;
  limits.memory_bytes = memory_bytes;
  std::size_t used = 0, given = 0;
  const text_source all = [&](char* into, std::size_t room) -> std::size_t {
    if (given > index_bytes_limit) return 0;
    std::size_t n = std::min(room, start.size() - used);
    start.copy(into, n, used);
    used += n;
    if (n == 0) n = from(into, room);
    given += n;
    return n;
  };
  return bounded(
      "the repository index cannot be read", limits, [&]() -> outcome<read_index_result> {
        auto v = read_go_yaml_along(all, path);
        if (given > index_bytes_limit)
          return problem{"repository index is larger than " + std::to_string(index_bytes_limit) +
                         " bytes"};
        if (!v) return problem{"error converting YAML to JSON: " + v.error().text};
        auto out = taken_apart(*v, strictness::strict, source);
        if (out) std::erase_if(out->index.entries, [&](const auto& e) { return e.first != name; });
        return out;
      });
}

outcome<std::string> write_index(const repository_index& index, index_form form) {
  value::map_type entries;
  for (const auto& [name, versions] : index.entries) {
    value::list_type list;
    for (const auto& v : versions) list.push_back(version_value(v));
    entries.emplace(name, std::move(list));
  }
  std::vector<std::pair<std::string, value>> members{
      {"apiVersion", index.api_version},
      {"generated", index.generated.empty() ? std::string(zero_time_text) : index.generated},
      {"entries", std::move(entries)}};
  if (!index.public_keys.empty())
    members.emplace_back("publicKeys", texts_value(index.public_keys));
  if (!index.annotations.empty()) {
    value::map_type annotations(index.annotations.begin(), index.annotations.end());
    members.emplace_back("annotations", std::move(annotations));
  }
  const value whole = record(std::move(members));
  return form == index_form::json ? write_json(whole, {.indented = true}) : write_go_yaml(whole);
}

}  // namespace helm::sources
