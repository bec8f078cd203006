#pragma once

#include "helm/charts/chart.hpp"
#include "helm/sources/chart_manifest.hpp"
#include "helm/sources/settings.hpp"
#include "registry/auth.hpp"
#include "registry/reference.hpp"
#include "registry/web.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace helm::sources {

using reactor::awaitable;

using ::registry::oci_manifest;
using ::registry::oci_reference;
using ::registry::registry_login;
using ::registry::tls_choice;
using ::registry::web;
using ::registry::web_answer;

inline constexpr std::size_t chart_archive_bytes_limit = 100u << 20;

struct registry_options {
  bool plain_http = false;
  tls_choice tls;
  registry_login login;  // of this command; empty = what the files know
};

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

/// The OCI distribution API of one registry after the other, for charts.
/// Shape    logins come from the options, registry/config.json, then Docker's config.json; tokens are kept for as long as
///          this lives.
/// Bounds   tags: 100 pages, 100,000 names; manifests 4 MiB; archives 100 MiB; each request its own deadline.
/// Errors   Helm's texts of find_parts and find_version; the registry's own message where it sends one.
class registry {
public:
  registry(reactor::loop& l, web& w, settings where, registry_options options);

  /// Turns a chart reference and a version or constraint into one that names a tag or a digest.
  awaitable<outcome<oci_reference>> resolve(std::string reference, std::string version);
  awaitable<outcome<pulled_chart>> pull(oci_reference from, wanted_parts wanted);
  /// Uploads what is not there yet. `created` is RFC 3339.
  awaitable<outcome<pushed_chart>> push(oci_reference to, metadata meta, std::string archive,
                                        std::string provenance, std::string created);
  /// All tags that are versions, newest first.
  awaitable<outcome<std::vector<std::string>>> versions(oci_reference of);
  /// Asks for the API's root with the login: whether it is accepted.
  awaitable<outcome<bool>> ping(std::string host);

private:
  struct question;
  std::string base_url(const std::string& host) const;
  awaitable<outcome<web_answer>> ask(question q);
  awaitable<outcome<web_answer>> send(const question& q,
                                      reactor::secret authorization);  // borrowed
  awaitable<outcome<reactor::secret>> authorize(std::string host, std::string scope,
                                                std::string header);
  awaitable<outcome<reactor::secret>> exchange_token(std::string host, std::string at,
                                                     std::string service, std::string scope,
                                                     registry_login login);
  awaitable<outcome<registry_login>> login_for(std::string host);
  awaitable<outcome<std::string>> blob(oci_reference from, descriptor d, std::size_t limit_bytes);
  awaitable<outcome<std::pair<oci_manifest, descriptor>>> manifest(oci_reference from);
  awaitable<outcome<bool>> upload(oci_reference to, descriptor d, std::string bytes);

  reactor::loop& loop_;
  web& web_;
  settings where_;
  registry_options options_;
  std::map<std::string, reactor::secret> authorizations_;  // by host and scope
};

}  // namespace helm::sources
