#include "helm/sources/chart_registry.hpp"

#include "formats/digest.hpp"
#include "formats/json/json.hpp"
#include "formats/json/values.hpp"
#include "formats/semver.hpp"
#include "helm/go.hpp"
#include "helm/sources/chart_versions.hpp"
#include "helm/sources/provenance.hpp"
#include "reactor/loop.hpp"

namespace helm::sources {

using ::registry::parse_oci_reference;
using ::registry::tag_of;

namespace {

constexpr std::size_t index_manifests_limit = 16;
constexpr std::size_t config_bytes_limit = 4u << 20, config_values_limit = 50'000;

/// On a worker: a value may take fifty times the bytes that it has in the text.
outcome<formats::value> configuration_in(const std::string& text) {
  if (formats::json_values_in(text) > config_values_limit)
    return problem{"it has more than " + std::to_string(config_values_limit) + " values"};
  return formats::read_json(text);
}

constexpr const char* underscore_note =
    " contains an underscore.\n\nOCI tags know no plus sign: a version's + is written as _ when a "
    "chart is pushed, and read back as + when it is pulled.";

/// What a person is told in the end.
std::vector<std::string> notes_of(const char* what, const oci_reference& r,
                                  const std::string& digest) {
  std::vector<std::string> out{what + r.text(), "Digest: " + digest};
  if (r.text().find('_') != std::string::npos) out.push_back(r.text() + underscore_note);
  return out;
}

problem told(const registry::fault& f) {
  return {f.text};
}

}  // namespace

chart_registry::chart_registry(reactor::loop& l, registry::web& w, registry::client_options options)
    : loop_(l), client_(l, w, std::move(options)) {}

awaitable<outcome<std::vector<std::string>>> chart_registry::versions(oci_reference of) {
  auto tags = co_await client_.tags(std::move(of));
  if (!tags) co_return told(tags.error());
  co_return versions_of(*tags);
}

awaitable<outcome<oci_reference>> chart_registry::resolve(std::string reference,
                                                          std::string version) {
  auto out = parse_oci_reference(reference);
  if (!out) co_return out.error();
  const std::string named = replace_all(out->tag, "_", "+");
  if (version.empty()) {
    version = named;
  } else if (!out->tag.empty() && out->tag != version && named != version) {
    co_return problem{"chart reference and version mismatch: " + version + " is not " + out->tag};
  }
  if (!out->digest.empty()) {
    if (version.empty()) co_return out;
    // A tag beside the digest must mean the same manifest, if it exists at all.
    oci_reference tagged = *out;
    tagged.tag = tag_of(version);
    tagged.digest.clear();
    auto digest = co_await client_.promised_digest(std::move(tagged));
    if (digest && !digest->empty() && *digest != out->digest)
      co_return problem{"chart reference digest mismatch: " + *digest + " is not " + out->digest};
    out->tag.clear();
    co_return out;
  }
  if (parse_lenient_version(version)) {
    out->tag = tag_of(version);
    co_return out;
  }
  out->tag.clear();
  oci_reference all = *out;
  auto found = co_await versions(std::move(all));
  if (!found) co_return found.error();
  if (found->empty())
    co_return problem{"Unable to locate any tags in provided repository: " + reference};
  auto chosen = find_version(*found, version);
  if (!chosen) co_return chosen.error();
  out->tag = tag_of(*chosen);
  co_return out;
}

awaitable<outcome<pulled_chart>> chart_registry::pull(oci_reference from, wanted_parts wanted) {
  auto top = co_await client_.manifest(from);
  if (!top)
    co_return problem{"failed to perform \"FetchReference\" on source: " + top.error().text};
  std::vector<descriptor> reachable;
  std::vector<registry::oci_manifest> manifests;
  reachable.push_back(top->itself);
  manifests.push_back(top->content);
  if (top->content.manifests.size() > index_manifests_limit)
    co_return problem{"image index names more than " + std::to_string(index_manifests_limit) +
                      " manifests"};
  for (std::size_t i = 0; i < top->content.manifests.size(); ++i) {
    if (top->content.manifests[i].media_type != media_type::image_manifest) continue;
    oci_reference inner = from;
    inner.tag.clear();
    inner.digest = top->content.manifests[i].digest;
    auto one = co_await client_.manifest(std::move(inner));
    if (!one) co_return told(one.error());
    reachable.push_back(one->itself);
    manifests.push_back(std::move(one->content));
  }
  // Another kind of manifest is not looked into, as Helm does not.
  const bool known = top->itself.media_type == media_type::image_manifest ||
                     top->itself.media_type == media_type::image_index;
  for (const auto& m : manifests) {
    if (!known) break;
    if (m.config) reachable.push_back(*m.config);
    reachable.insert(reachable.end(), m.layers.begin(), m.layers.end());
  }
  auto parts = find_parts(reachable, wanted);
  if (!parts) co_return parts.error();
  pulled_chart out;
  out.reference = from;
  out.manifest = top->itself;
  out.notes = parts->warnings;
  auto config = co_await client_.blob(from, parts->config, config_bytes_limit);
  if (!config) co_return told(config.error());
  auto meta = co_await loop_.offload(&configuration_in, std::move(*config));
  if (!meta) co_return problem{"the chart's configuration: " + meta.error().text};
  if (auto read = metadata_from(*meta, out.meta); !read) co_return read.error();
  if (wanted.chart) {
    auto bytes = co_await client_.blob(from, *parts->chart, wanted.archive_bytes);
    if (!bytes) co_return told(bytes.error());
    out.archive = std::move(*bytes);
  }
  if (wanted.provenance) {
    auto bytes = co_await client_.blob(from, *parts->provenance, provenance_bytes_limit);
    if (!bytes) co_return told(bytes.error());
    out.provenance = std::move(*bytes);
  }
  const auto notes = notes_of("Pulled: ", from, out.manifest.digest);
  out.notes.insert(out.notes.end(), notes.begin(), notes.end());
  co_return out;
}

awaitable<outcome<pushed_chart>> chart_registry::push(oci_reference to, metadata meta,
                                                      std::string archive, std::string provenance,
                                                      std::string created) {
  std::string config = write_config(meta);
  const auto describe = [](const char* type, const std::string& bytes) {
    return descriptor{type, digest_of(bytes), bytes.size()};
  };
  const descriptor config_blob = describe(media_type::config, config);
  std::vector<std::pair<descriptor, std::string>> blobs;
  std::vector<descriptor> layers;
  layers.push_back(describe(media_type::chart, archive));
  blobs.emplace_back(layers.back(), std::move(archive));
  if (!provenance.empty()) {
    layers.push_back(describe(media_type::provenance, provenance));
    blobs.emplace_back(layers.back(), std::move(provenance));
  }
  blobs.emplace_back(config_blob, std::move(config));
  for (auto& [d, bytes] : blobs) {
    auto done = co_await client_.put_blob(to, d, std::move(bytes));
    if (!done) co_return told(done.error());
  }
  std::string text = write_manifest(config_blob, layers, annotations_of(meta, created));
  auto digest = co_await client_.put_manifest(to, std::move(text));
  if (!digest) co_return told(digest.error());
  pushed_chart out;
  out.reference = to;
  out.digest = std::move(*digest);
  out.notes = notes_of("Pushed: ", to, out.digest);
  co_return out;
}

}  // namespace helm::sources
