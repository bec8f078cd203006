#pragma once

#include "registry/credential_helper.hpp"
#include "registry/environment.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace helm::sources {

using ::registry::environment;

/// The files that stock helm keeps too: both tools see the same repositories and logins.
struct settings {
  std::string repository_config;          // repositories.yaml
  std::string repository_cache;           // <name>-index.yaml, <name>-charts.txt, downloaded charts
  std::string registry_config;            // registry/config.json
  std::string docker_config;              // ~/.docker/config.json, read where ours has no entry
  std::string keyring;                    // public keys for provenance
  std::vector<std::string> token_realms;  // hosts that may issue tokens for any registry
  registry::helper_runner helpers;        // for commands that a person types; null: none is run

  /// "<cache>/<name>-index.yaml", and the list of its charts for shell completion.
  std::string index_path(std::string_view repository) const;
  std::string charts_path(std::string_view repository) const;
};

/// HELM_REPOSITORY_CONFIG, HELM_REPOSITORY_CACHE, HELM_REGISTRY_CONFIG, else below HELM_CONFIG_HOME
/// and HELM_CACHE_HOME, else where XDG says; DOCKER_CONFIG and GNUPGHOME likewise;
/// WINDLASS_TOKEN_REALMS.
settings settings_from(const environment& env);

}  // namespace helm::sources
