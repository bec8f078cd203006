#include "app/api/registry_lookup.hpp"

namespace units {
namespace {

std::string problem_with_registry(const std::string& text) {
  // The original operator's flag takes no value; it would take one of these or the next flag here.
  const bool host = !text.empty() && !text.starts_with('-') && text != "true" && text != "false" &&
                    text.find_first_of("/*@ ") == text.npos;
  return host ? std::string()
              : "\"" + text + "\" names no registry: each one is named as HOST[:PORT]";
}

std::string problem_with_mirror(const std::string& text) {
  const auto equals = text.find('=');
  const bool whole =
      equals != text.npos && equals > 0 && equals + 1 < text.size() && text.find('/') == text.npos;
  return whole ? std::string() : "\"" + text + "\" is not HOST=MIRROR, without a path";
}

}  // namespace

void declare_lookup(app::flags& f, registry_lookup& to) {
  f.value("--allow-insecure-registry", to.insecure,
          "plain HTTP to this registry where it speaks no TLS or cannot be verified; its login is "
          "sent unprotected")
      .takes("HOST[:PORT]")
      .repeated()
      .check(problem_with_registry);
  f.value("--registry-mirror", to.mirrors, "ask MIRROR before the registry HOST")
      .takes("HOST=MIRROR")
      .repeated()
      .check(problem_with_mirror);
  f.value("--allow-token-realm", to.token_realms,
          "a host that may issue tokens for registries of other domains")
      .takes("HOST")
      .repeated();
  f.value("--registry-ca-file", to.ca_file,
          "certificates that registries are verified with, instead of the system's")
      .takes("FILE");
}

}  // namespace units
