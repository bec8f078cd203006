#pragma once

#include "helm/go.hpp"

#include <functional>
#include <string>
#include <vector>

namespace helm {

class command_flags;

/// The flags that say where a chart comes from and how much it is trusted, as they were written.
struct chart_flags {
  std::string version, repo, username, password, certificate_file, key_file, ca_file, keyring;
  bool skip_tls_verify = false, plain_http = false, pass_credentials = false;
  bool verify = false, devel = false;
  std::string repository_config, repository_cache, registry_config;  // "" is the environment's
};

/// --version, --repo, --username, --ca-file, --verify and their like. Lifetime: the flags write
/// into `into`.
void add_chart_flags(command_flags& f, chart_flags& into);
/// What Helm does with a chart besides and we do not: --dependency-update, --enable-dns.
void refuse_chart_flags(command_flags& f);
/// Of those the ones for logins and TLS: what commands have that take no chart.
void add_login_flags(command_flags& f, chart_flags& into);
/// --repository-config, --repository-cache, --registry-config.
void add_place_flags(command_flags& f, chart_flags& into);

/// Finds a chart in any kind of source and says where it lies on this machine.
/// Shape    `notes` gets lines for standard error.
using chart_locator = std::function<outcome<std::string>(
    const std::string& reference, const chart_flags& how, std::vector<std::string>& notes)>;

}  // namespace helm
