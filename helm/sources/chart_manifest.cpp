#include "helm/sources/chart_manifest.hpp"

#include "formats/json/json.hpp"
#include "formats/json/record.hpp"
#include "helm/go.hpp"
#include "helm/sources/record.hpp"

#include <algorithm>

namespace helm::sources {

namespace {

value descriptor_value(const descriptor& d) {
  return record({{"mediaType", d.media_type},
                 {"digest", d.digest},
                 {"size", value::integer(static_cast<std::int64_t>(d.size_bytes), type::int64)}});
}

}  // namespace

outcome<chart_parts> find_parts(const std::vector<descriptor>& reachable, wanted_parts wanted) {
  std::vector<std::string_view> known{media_type::image_index, media_type::image_manifest,
                                      media_type::config};
  if (wanted.chart) {
    known.emplace_back(media_type::chart);
    known.emplace_back(media_type::legacy_chart);
  }
  if (wanted.provenance) known.emplace_back(media_type::provenance);
  const std::size_t least = 1 + (wanted.chart ? 1 : 0) + (wanted.provenance ? 1 : 0);
  std::size_t found = 0;
  chart_parts out;
  std::optional<descriptor> config;
  for (const auto& d : reachable) {
    if (std::find(known.begin(), known.end(), d.media_type) == known.end()) continue;
    ++found;
    if (d.media_type == media_type::config) {
      config = d;
    } else if (d.media_type == media_type::chart) {
      out.chart = d;
    } else if (d.media_type == media_type::provenance) {
      out.provenance = d;
    } else if (d.media_type == media_type::legacy_chart) {
      out.chart = d;
      out.warnings.push_back(std::string("Warning: chart media type ") + media_type::legacy_chart +
                             " is deprecated");
    }
  }
  if (found < least)
    return problem{"manifest does not contain minimum number of descriptors (" +
                   std::to_string(least) + "), descriptors found: " + std::to_string(found)};
  if (!config)
    return problem{std::string("could not load config with mediatype ") + media_type::config};
  out.config = std::move(*config);
  const std::string no_layer = "manifest does not contain a layer with mediatype ";
  if (wanted.chart && !out.chart) return problem{no_layer + media_type::chart};
  if (wanted.provenance && !out.provenance) return problem{no_layer + media_type::provenance};
  return out;
}

std::map<std::string, std::string> annotations_of(const metadata& m, const std::string& created) {
  std::map<std::string, std::string> out;
  const auto add = [&](const char* name, const std::string& text) {
    if (!trim_space(text).empty()) out["org.opencontainers.image." + std::string(name)] = text;
  };
  add("description", m.description);
  add("title", m.name);
  add("version", m.version);
  add("url", m.home);
  add("created", created);
  if (!m.sources.empty()) add("source", m.sources.front());
  std::string authors;
  for (std::size_t i = 0; i < m.maintainers.size(); ++i) {
    const auto& person = *m.maintainers[i];
    authors += person.name;
    if (!person.email.empty()) authors += " (" + person.email + ")";
    if (i + 1 < m.maintainers.size()) authors += ", ";
  }
  add("authors", authors);
  for (const auto& [key, text] : m.annotations)
    if (key != "org.opencontainers.image.title" && key != "org.opencontainers.image.version")
      out[key] = text;
  return out;
}

std::string write_manifest(const descriptor& config, std::vector<descriptor> layers,
                           const std::map<std::string, std::string>& annotations) {
  std::sort(layers.begin(), layers.end(),
            [](const descriptor& a, const descriptor& b) { return a.digest < b.digest; });
  value::list_type list;
  for (const auto& l : layers) list.push_back(descriptor_value(l));
  std::vector<std::pair<std::string, value>> members{{"schemaVersion", 2},
                                                     {"config", descriptor_value(config)},
                                                     {"layers", value(std::move(list))}};
  if (!annotations.empty())
    members.emplace_back("annotations", value::map_type(annotations.begin(), annotations.end()));
  return *write_json(record(std::move(members)));
}

std::string write_config(const metadata& m) {
  auto text = write_json(metadata_value(m));
  return text ? *text : "{}";
}

}  // namespace helm::sources
