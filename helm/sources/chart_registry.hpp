#pragma once

#include "helm/charts/chart.hpp"
#include "helm/sources/chart_manifest.hpp"
#include "registry/client.hpp"
#include "registry/reference.hpp"

#include <string>
#include <vector>

namespace helm::sources {

using reactor::awaitable;

using ::registry::oci_reference;

inline constexpr std::size_t chart_archive_bytes_limit = 100u << 20;

/// A chart as it came out of a registry. Every blob has the digest its descriptor says.
struct pulled_chart {
  oci_reference reference;
  descriptor manifest;
  metadata meta;
  std::string archive, provenance;  // "" where not asked for
  std::vector<std::string> notes;   // "Pulled: …", "Digest: …", for a person
};

struct pushed_chart {
  oci_reference reference;
  std::string digest;
  std::vector<std::string> notes;
};

/// Charts in registries: which tags are versions, which blobs of a manifest are a chart.
/// Bounds   those of registry::client; archives 100 MiB, an index of 16 manifests.
/// Errors   Helm's texts of find_parts and find_version; else the text of registry::fault.
class chart_registry {
public:
  chart_registry(reactor::loop& l, registry::web& w, registry::client_options options);

  /// Turns a chart reference and a version or constraint into one that names a tag or a digest.
  awaitable<outcome<oci_reference>> resolve(std::string reference, std::string version);
  awaitable<outcome<pulled_chart>> pull(oci_reference from, wanted_parts wanted);
  /// Uploads what is not there yet. `created` is RFC 3339.
  awaitable<outcome<pushed_chart>> push(oci_reference to, metadata meta, std::string archive,
                                        std::string provenance, std::string created);
  /// All tags that are versions, newest first.
  awaitable<outcome<std::vector<std::string>>> versions(oci_reference of);

private:
  reactor::loop& loop_;
  registry::client client_;
};

}  // namespace helm::sources
