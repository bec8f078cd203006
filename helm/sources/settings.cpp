#include "helm/sources/settings.hpp"

#include "registry/session.hpp"

namespace helm::sources {
namespace {

std::string folder(const environment& env, std::string_view helm_name, std::string_view xdg_name,
                   std::string_view below_home) {
  if (std::string s = env(helm_name); !s.empty()) return s;
  if (std::string s = env(xdg_name); !s.empty()) return s + "/helm";
  return env("HOME") + "/" + std::string(below_home) + "/helm";
}

std::string either(std::string first, std::string second) {
  return first.empty() ? std::move(second) : std::move(first);
}

}  // namespace

std::string settings::index_path(std::string_view repository) const {
  return repository_cache + "/" + std::string(repository) + (repository.empty() ? "" : "-") +
         "index.yaml";
}

std::string settings::charts_path(std::string_view repository) const {
  return repository_cache + "/" + std::string(repository) + (repository.empty() ? "" : "-") +
         "charts.txt";
}

settings settings_from(const environment& env) {
  const std::string config = folder(env, "HELM_CONFIG_HOME", "XDG_CONFIG_HOME", ".config");
  const std::string cache = folder(env, "HELM_CACHE_HOME", "XDG_CACHE_HOME", ".cache");
  const std::string docker = either(env("DOCKER_CONFIG"), env("HOME") + "/.docker");
  const std::string gnupg = either(env("GNUPGHOME"), env("HOME") + "/.gnupg");
  settings s;
  s.repository_config = either(env("HELM_REPOSITORY_CONFIG"), config + "/repositories.yaml");
  s.repository_cache = either(env("HELM_REPOSITORY_CACHE"), cache + "/repository");
  s.registry_config = either(env("HELM_REGISTRY_CONFIG"), config + "/registry/config.json");
  s.docker_config = docker + "/config.json";
  s.keyring = gnupg + "/pubring.gpg";
  s.token_realms = registry::token_realms_in(env(registry::token_realms_variable));
  return s;
}

}  // namespace helm::sources
