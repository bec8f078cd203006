#pragma once

#include <string>
#include <string_view>

namespace bootc {

/// The key of a Secret of type kubernetes.io/dockerconfigjson.
inline constexpr std::string_view docker_config_key = ".dockerconfigjson";

/// What is known of a pull secret, without its content.
struct secret_state {
  enum class kind { unknown, usable, missing, without_key, unreadable };
  kind is = kind::unknown;  // unknown: it is being asked for
  std::string hash;         // usable: "sha256:…" of the content
  std::string problem;      // unreadable: why
  friend bool operator==(const secret_state&, const secret_state&) = default;
};

}  // namespace bootc
