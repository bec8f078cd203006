#include "registry/manifest.hpp"

#include "formats/digest.hpp"
#include "formats/json/member.hpp"
#include "formats/json/values.hpp"
#include "formats/plain/text.hpp"
#include "registry/document.hpp"

#include <boost/json.hpp>

#include <utility>

namespace registry {

using formats::is_digest;
using formats::problem;
using formats::quote;
using formats::text_member;
using formats::trim_space;

namespace {

namespace json = boost::json;

constexpr std::uint64_t blob_size_limit = 1ull << 40;
constexpr std::size_t descriptors_limit = 1'000;

outcome<descriptor> read_descriptor(const json::value& v) {
  static const json::object none;
  const json::object& o = v.is_object() ? v.get_object() : none;
  descriptor out;
  out.media_type = text_member(o, "mediaType");
  out.digest = text_member(o, "digest");
  if (!is_digest(out.digest))
    return problem{"manifest names a blob with an invalid digest: " + quote(out.digest)};
  const auto* number = o.if_contains("size");
  // Sizes are exact in a double up to 2^53.
  const double size = number && number->is_number() ? number->to_number<double>() : -1;
  if (!(size >= 0 && size <= static_cast<double>(blob_size_limit)))
    return problem{"manifest names a blob with an invalid size: " + out.digest};
  out.size_bytes = static_cast<std::uint64_t>(size);
  out.architecture = text_member(o, "platform", "architecture");
  // As BuildKit marks provenance and SBOMs.
  const auto* annotations = o.if_contains("annotations");
  out.attests = text_member(o, "platform", "os") == "unknown" ||
                (annotations && annotations->is_object() &&
                 annotations->get_object().contains("vnd.docker.reference.type"));
  return out;
}

outcome<std::vector<descriptor>> read_descriptors(const json::value* list) {
  std::vector<descriptor> out;
  if (!list || list->is_null()) return out;
  if (!list->is_array()) return problem{"manifest is not valid: a list of blobs is none"};
  if (list->get_array().size() > descriptors_limit)
    return problem{"manifest names more than " + std::to_string(descriptors_limit) + " blobs"};
  for (const auto& item : list->get_array()) {
    auto d = read_descriptor(item);
    if (!d) return d.error();
    out.push_back(std::move(*d));
  }
  return out;
}

}  // namespace

outcome<oci_manifest> read_manifest(std::string_view text, std::string_view content_type) {
  if (text.size() > manifest_bytes_limit)
    return problem{"manifest is larger than " + std::to_string(manifest_bytes_limit) + " bytes"};
  if (formats::json_values_in(text) > manifest_values_limit)
    return problem{"manifest has more than " + std::to_string(manifest_values_limit) + " values"};
  boost::system::error_code failed;
  const auto read = read_document(formats::to_valid_utf8(text), failed);
  if (failed) return problem{"manifest is not valid JSON: " + failed.message()};
  if (!read.is_object()) return problem{"manifest is not valid: it is no JSON object"};
  const json::object& v = read.get_object();
  oci_manifest out;
  out.media_type = text_member(v, "mediaType");
  const bool names_type = !out.media_type.empty();
  if (!names_type) out.media_type = trim_space(content_type.substr(0, content_type.find(';')));
  if (const auto* config = v.if_contains("config"); config && config->is_object()) {
    auto d = read_descriptor(*config);
    if (!d) return d.error();
    out.config = std::move(*d);
  }
  auto layers = read_descriptors(v.if_contains("layers"));
  if (!layers) return layers.error();
  out.layers = std::move(*layers);
  auto manifests = read_descriptors(v.if_contains("manifests"));
  if (!manifests) return manifests.error();
  out.manifests = std::move(*manifests);
  // Gateways say "application/json" or nothing at all, and a registry takes no manifest under such
  // a type.
  if (!names_type && !out.media_type.starts_with("application/vnd."))
    out.media_type = out.manifests.empty() ? media_type::image_manifest : media_type::image_index;
  if (const auto* annotations = v.if_contains("annotations");
      annotations && annotations->is_object())
    for (const auto& [key, content] : annotations->get_object())
      out.annotations[key] = content.is_string() ? std::string(content.get_string()) : "";
  return out;
}

std::string write_index(const std::vector<indexed_image>& images) {
  json::array list;
  for (const indexed_image& i : images)
    list.push_back({{"mediaType", i.itself.media_type},
                    {"digest", i.itself.digest},
                    {"size", i.itself.size_bytes},
                    {"platform", {{"architecture", i.architecture}, {"os", "linux"}}}});
  return json::serialize(json::object{{"schemaVersion", 2},
                                      {"mediaType", media_type::image_index},
                                      {"manifests", std::move(list)}});
}

}  // namespace registry
