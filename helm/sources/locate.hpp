#pragma once

#include "helm/sources/chart_registry.hpp"
#include "helm/sources/repositories_file.hpp"
#include "helm/sources/settings.hpp"
#include "helm/sources/signature.hpp"
#include "reactor/plain/secret.hpp"
#include "registry/reference.hpp"
#include "registry/web.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace helm::sources {

using reactor::awaitable;

using ::registry::environment;
using ::registry::tls_choice;
using ::registry::web;

/// The flags that say where a chart comes from and how much it is trusted; install, template, show
/// and pull share them.
struct chart_origin {
  std::string version;  // a version or a constraint; "" is the newest release
  std::string repo_url;
  std::string username;
  reactor::secret password;
  tls_choice tls;
  std::string keyring;  // "" is the default one
  bool verify = false;
  bool plain_http = false;
  bool pass_credentials = false;
};

/// What is to be done about the .prov file beside a chart.
enum class provenance_use : std::uint8_t { none, fetch, if_possible, always };

/// A chart archive as it was fetched.
struct downloaded_chart {
  std::string file_name;  // "<name>-<version>.tgz"
  std::string archive, provenance;
  std::vector<std::string> notes;     // "Pulled: …", for standard error
  std::vector<std::string> warnings;  // "WARNING: Verification not found …"
  std::vector<std::string> verified;  // "Signed by: …", when it was
};

/// A chart on this machine.
struct located_chart {
  std::string path;  // a folder or an archive, absolute
  std::vector<std::string> notes;
};

/// Where charts come from: paths, archives by URL, repositories by name or URL, OCI registries.
/// Shape    one at a time per command; reads the files that stock helm reads.
/// Lifetime co_await stop() before destruction.
class chart_source {
public:
  chart_source(reactor::loop& l, settings where, environment env);

  /// A path as it is; else downloads into the cache folder and says where the archive lies.
  /// Errors   Helm's: "path %q not found", "repo %s not found", "chart %q version %q not found in
  ///          %s repository", …
  awaitable<outcome<located_chart>> locate(std::string reference, chart_origin how);

  /// Fetches an archive, never a path.
  awaitable<outcome<downloaded_chart>> download(std::string reference, chart_origin how,
                                                provenance_use provenance);

  /// What to fetch, what it must be, and on whose behalf.
  struct found_chart {
    std::string url, digest;
    repository_entry from;
  };
  /// A chart in a repository that was not added.
  awaitable<outcome<found_chart>> find_in_repository(std::string repo_url, std::string name,
                                                     chart_origin how);
  /// Fetches what was found, by HTTP.
  awaitable<outcome<downloaded_chart>> download_found(found_chart what, std::string keyring,
                                                      provenance_use provenance);

  const settings& where() const noexcept { return where_; }
  reactor::loop& loop() noexcept { return loop_; }
  web& network() noexcept { return web_; }
  awaitable<void> stop() { return web_.stop(); }

private:
  awaitable<outcome<found_chart>> resolve(std::string reference, chart_origin how);
  awaitable<outcome<found_chart>> resolve_url(std::string url, chart_origin how);
  awaitable<outcome<found_chart>> resolve_name(std::string reference, chart_origin how);
  awaitable<outcome<downloaded_chart>> download_oci(std::string reference, chart_origin how,
                                                    provenance_use provenance);
  // borrowed
  awaitable<outcome<bool>> check_provenance(downloaded_chart& chart, std::string keyring);

  reactor::loop& loop_;
  settings where_;
  web web_;
};

/// How a registry is spoken to: `given_for` with the login of the flags, it and others with those
/// of the files.
registry::client_options registry_options_of(const settings& where, const chart_origin& how,
                                             std::string given_for);
/// `how` without what was given for one server: login, client certificate, no verification.
chart_origin without_credentials(chart_origin how);

/// "web-1.2.0.tgz": under this name the provenance of a chart in a registry has its sum.
outcome<std::string> archive_name_of(const ::registry::oci_reference& of);
/// The same of a URL.
outcome<std::string> archive_name_of(const std::string& url);

/// Who signed the archive of that name and digest ("sha256:…"), by these public keys
/// (check_signature). Blocks: GnuPG runs.
outcome<signed_message> check_signer(const std::string& file_name, const std::string& digest,
                                     std::string_view provenance, std::string_view keys);

/// Checks an archive against its provenance and the keys in a file. Blocks: GnuPG runs.
/// Returns "Signed by: …", "Using Key With Fingerprint: …", "Chart Hash Verified: …".
outcome<std::vector<std::string>> verify_chart(const std::string& file_name,
                                               std::string_view archive,
                                               std::string_view provenance,
                                               const std::string& keyring);

}  // namespace helm::sources
