#pragma once

#include "tests/reactor/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace trustee_test {

inline const std::string shipped = WINDLASS_SOURCE_DIR "/policies/trustee/data";

inline std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The tree of the plan: seven files for each of three releases, one of which has no image mapped.
inline void write_seven_files(reactor::temporary_folder& folder) {
  const std::map<std::string, std::vector<std::string>> from{{"v0.10.0", {"v0.10.0"}},
                                                             {"v0.11.0", {"v0.11.0", "v0.10.0"}},
                                                             {"latest", {"latest", "v0.10.0"}}};
  for (const auto& [release, folders] : from)
    for (const char* name :
         {"kbs-config-permissive.toml", "kbs-config-restricted.toml", "attestation-policy.rego",
          "resource-policy-permissive.rego", "resource-policy-restrictive.rego",
          "rvps-reference-values.json", "tdx-config.json"})
      for (const std::string& one : folders) {
        const std::string now = name == std::string("attestation-policy.rego")
                                    ? "ear_default_attestation_policy_cpu.rego"
                                    : name;
        if (!std::filesystem::exists(shipped + "/" + one + "/" + now)) continue;
        folder.write(release + "/" + name, text_of(shipped + "/" + one + "/" + now));
        break;
      }
  folder.write("versions.json", R"({"supported_versions": ["v0.10.0", "v0.11.0", "latest"],
    "default_version": "latest", "version_mappings": {
      "v0.10.0": {"kbs_image": "r.example.com/kbs:v0.10.0", "as_image": "r.example.com/as:v0.10.0",
                  "rvps_image": "r.example.com/rvps:v0.10.0"},
      "latest": {"kbs_image": "r.example.com/kbs:latest", "as_image": "r.example.com/as:latest",
                 "rvps_image": "r.example.com/rvps:latest"}}})");
}

}  // namespace trustee_test
