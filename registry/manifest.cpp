#include "registry/manifest.hpp"

#include "formats/digest.hpp"
#include "formats/go/text.hpp"
#include "formats/go/value.hpp"
#include "formats/json/json.hpp"
#include "formats/json/record.hpp"
#include "formats/json/values.hpp"

#include <algorithm>
#include <utility>

namespace registry {

using formats::is_digest;
using formats::problem;
using formats::quote;
using formats::read_json;
using formats::record;
using formats::trim_space;
using formats::type;
using formats::value;
using formats::write_json;

namespace {

constexpr std::uint64_t blob_size_limit = 1ull << 40;
constexpr std::size_t descriptors_limit = 1'000;

std::string text_of(const value& v, std::string_view name) {
  const auto* found = v.find(name);
  return found && found->is_string() ? found->text() : std::string();
}

outcome<descriptor> read_descriptor(const value& v) {
  descriptor out;
  out.media_type = text_of(v, "mediaType");
  out.digest = text_of(v, "digest");
  if (!is_digest(out.digest))
    return problem{"manifest names a blob with an invalid digest: " + quote(out.digest)};
  const auto* size = v.find("size");
  // Sizes are exact in a double up to 2^53.
  if (!size || size->kind() != type::float64 || size->real() < 0 ||
      size->real() > static_cast<double>(blob_size_limit))
    return problem{"manifest names a blob with an invalid size: " + out.digest};
  out.size_bytes = static_cast<std::uint64_t>(size->real());
  if (const auto* platform = v.find("platform"); platform && platform->is_map()) {
    out.architecture = text_of(*platform, "architecture");
    out.attests = text_of(*platform, "os") == "unknown";
  }
  // As BuildKit marks provenance and SBOMs.
  if (const auto* annotations = v.find("annotations"); annotations && annotations->is_map())
    out.attests = out.attests || annotations->find("vnd.docker.reference.type") != nullptr;
  return out;
}

outcome<std::vector<descriptor>> read_descriptors(const value* list) {
  std::vector<descriptor> out;
  if (!list || list->is_nil()) return out;
  if (!list->is_list()) return problem{"manifest is not valid: a list of blobs is none"};
  if (list->size() > descriptors_limit)
    return problem{"manifest names more than " + std::to_string(descriptors_limit) + " blobs"};
  for (const auto& item : list->items()) {
    auto d = read_descriptor(item);
    if (!d) return d.error();
    out.push_back(std::move(*d));
  }
  return out;
}

value descriptor_value(const descriptor& d) {
  return record({{"mediaType", d.media_type},
                 {"digest", d.digest},
                 {"size", value::integer(static_cast<std::int64_t>(d.size_bytes), type::int64)}});
}

}  // namespace

outcome<oci_manifest> read_manifest(std::string_view text, std::string_view content_type) {
  if (text.size() > manifest_bytes_limit)
    return problem{"manifest is larger than " + std::to_string(manifest_bytes_limit) + " bytes"};
  if (formats::json_values_in(text) > manifest_values_limit)
    return problem{"manifest has more than " + std::to_string(manifest_values_limit) + " values"};
  const auto v = read_json(text);
  if (!v) return problem{"manifest is not valid JSON: " + v.error().text};
  if (!v->is_map()) return problem{"manifest is not valid: it is no JSON object"};
  oci_manifest out;
  out.media_type = text_of(*v, "mediaType");
  const bool names_type = !out.media_type.empty();
  if (!names_type) out.media_type = trim_space(content_type.substr(0, content_type.find(';')));
  if (const auto* config = v->find("config"); config && config->is_map()) {
    auto d = read_descriptor(*config);
    if (!d) return d.error();
    out.config = std::move(*d);
  }
  auto layers = read_descriptors(v->find("layers"));
  if (!layers) return layers.error();
  out.layers = std::move(*layers);
  auto manifests = read_descriptors(v->find("manifests"));
  if (!manifests) return manifests.error();
  out.manifests = std::move(*manifests);
  // Gateways say "application/json" or nothing at all, and a registry takes no manifest under such
  // a type.
  if (!names_type && !out.media_type.starts_with("application/vnd."))
    out.media_type = out.manifests.empty() ? media_type::image_manifest : media_type::image_index;
  if (const auto* annotations = v->find("annotations"); annotations && annotations->is_map())
    for (const auto& [key, content] : annotations->entries())
      out.annotations[key] = content.is_string() ? content.text() : "";
  return out;
}

std::string write_index(const std::vector<indexed_image>& images) {
  value::list_type list;
  for (const indexed_image& i : images) {
    const auto size = value::integer(static_cast<std::int64_t>(i.itself.size_bytes), type::int64);
    list.push_back(
        record({{"mediaType", i.itself.media_type},
                {"digest", i.itself.digest},
                {"size", size},
                {"platform", record({{"architecture", i.architecture}, {"os", "linux"}})}}));
  }
  return *write_json(record({{"schemaVersion", 2},
                             {"mediaType", media_type::image_index},
                             {"manifests", value(std::move(list))}}));
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

}  // namespace registry
