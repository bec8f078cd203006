#pragma once

#include "helm/removals/removed_apis.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace helm::removals {

/// What named an object.
enum class source : std::uint8_t {
  release,     // the manifest of a release record
  live,        // a field manager of the object itself
  requests,    // what an API server counts: apiserver_requested_deprecated_apis
  definition,  // a CustomResourceDefinition: versions stored and served
  webhook,     // a webhook without a Service
};
std::string_view text(source s) noexcept;

/// Who brings an object back as it is: the later of two that are known counts.
struct object_owner {
  enum class kind : std::uint8_t { unknown, manager, release, placed } is = kind::unknown;
  std::string name;  // "kubectl", "shop/web", "Tenant default/acme"
  /// "field manager kubectl", "Helm release shop/web", "Tenant default/acme"; "-" for unknown.
  std::string text() const;
};

/// What would stop working on one cluster.
struct finding {
  std::string cluster, ns, kind, name;
  object_owner owner;
  std::string api_version;  // of a webhook: that of its configuration
  int removed_in = 0;       // the N of 1.N; 0: no release removes it, `why` says what is wrong
  std::string replacement;  // "policy/v1"; empty: none
  std::vector<source> sources;
  std::string origin;                // of the row in the table; empty: of none
  std::string why;                   // what is wrong
  std::vector<std::string> details;  // what the sources say beside it
  std::string waived;                // "until 2027-01-31: REASON"; empty: it counts
  std::string note;                  // of a waiver that no longer counts; else empty

  /// "PodDisruptionBudget/web"
  std::string object() const { return kind + "/" + name; }
  /// One sentence: `why (detail; detail)`.
  std::string message() const;
};

/// An object as a source names it.
struct seen_object {
  std::string api_version, kind, ns, name;
  object_owner owner;
  source where = source::live;
  std::string detail;  // "record shop/sh.helm.release.v1.web.v3"
};

/// What a fleet cannot take to a minor version: one row for each object and API, whichever sources
/// named it. Of more than `most` rows the later ones are counted.
class findings {
public:
  static constexpr std::size_t most_rows = 5'000;
  explicit findings(int minor, std::size_t most = most_rows) : minor_(minor), most_(most) {}

  int minor() const noexcept { return minor_; }
  /// Takes what the table says is gone by then; anything else is no finding.
  void add(std::string_view cluster, const seen_object& seen);
  /// What no row of the table is about.
  void add(finding other);

  /// By cluster, namespace, object, API.
  std::vector<finding> rows() const;
  std::size_t left_out() const noexcept { return left_out_; }

private:
  using key = std::tuple<std::string, std::string, std::string, std::string, std::string>;
  int minor_;
  std::size_t most_, left_out_ = 0;
  std::map<key, finding> rows_;
};

/// The objects of a release's manifest. `release` is "shop/web"; objects of a namespaced kind that
/// name no namespace are in `ns`.
std::vector<seen_object> of_manifest(std::span<const boost::json::object> objects,
                                     const object_owner& owner, std::string_view ns,
                                     std::string_view record);

/// What the managedFields of an object say: one for each API that a manager still writes it by.
/// Shape   `item` is an object or its PartialObjectMetadata. Left out are managers that have since
///         written by another version, and the components of Kubernetes, which move with it.
///         The owner is the Helm release that its annotations name, else the manager.
std::vector<seen_object> of_managers(const boost::json::object& item, std::string_view kind,
                                     int minor);

/// A live object of an API that goes without a successor, and takes the object with it. The owner
/// is the Helm release that its annotations name, else the manager that wrote it first.
seen_object of_object(const boost::json::object& item, std::string_view kind,
                      std::string_view api_version);

/// Which collections of live objects are listed, and by which versions: the first that a server
/// has is taken, so that the list itself asks for nothing that goes.
struct family {
  std::string kind;
  std::vector<std::string> api_versions;
};
std::vector<family> families(int minor);

/// The chart of a release, as its record has it.
struct released_chart {
  std::string text;          // "web-1.0.0"
  std::string kube_version;  // the versions of Kubernetes that it takes; empty: all
};
/// That the next upgrade of a release would fail, since its chart takes 1.`from` and not 1.`to`;
/// none otherwise. `release` is "shop/web".
std::optional<finding> of_chart(std::string_view cluster, const object_owner& owner,
                                std::string_view release, const released_chart& chart, int from,
                                int to);

/// What is wrong with a CustomResourceDefinition: versions in status.storedVersions that it does
/// not serve.
std::vector<finding> of_definition(std::string_view cluster, const boost::json::object& crd);

/// A Service that a webhook asks.
struct webhook_service {
  std::string ns, name, webhook;  // "validate.shop.example.com"; of a conversion empty
};
/// Of a ValidatingWebhookConfiguration, a MutatingWebhookConfiguration or a
/// CustomResourceDefinition that is converted; those that have a URL ask none.
std::vector<webhook_service> services_of(const boost::json::object& configuration);
/// The row of one whose Service is not there. Items of a list do not say their own kind and
/// version.
finding of_missing_service(std::string_view cluster, std::string_view kind,
                           std::string_view api_version, const boost::json::object& configuration,
                           const webhook_service& s);

/// One line of an API server's metrics.
struct deprecated_request {
  std::string group, version, resource, subresource;
  std::optional<int> removed_in;
};
/// None for every other metric, and for a count of zero.
std::optional<deprecated_request> read_request(std::string_view line);
/// The row of it; none where it stays by `minor`.
std::optional<finding> of_request(std::string_view cluster, const deprecated_request& r, int minor);

}  // namespace helm::removals
