#pragma once

#include "app/flags.hpp"

#include <string>
#include <vector>

namespace units {

/// How registries are asked what a tag names.
struct registry_lookup {
  // "HOST[:PORT]", asked by plain HTTP where TLS fails
  app::sourced<std::vector<std::string>> insecure;
  std::vector<std::string> mirrors;  // "HOST=MIRROR"
  std::vector<std::string> token_realms;
  std::string ca_file;
};
void declare_lookup(app::flags& f, registry_lookup& to);

}  // namespace units
