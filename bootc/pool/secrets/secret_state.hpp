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
  std::string problem;      // unreadable: why; without_key: what is there instead
  friend bool operator==(const secret_state&, const secret_state&) = default;
};

/// Why the pull secret "NAMESPACE/NAME" gives no login; empty where it does or is still asked for.
inline std::string problem_of(const secret_state& s, const std::string& name) {
  using kind = secret_state::kind;
  switch (s.is) {
    case kind::missing: return "pull secret " + name + " does not exist";
    case kind::without_key:
      return "pull secret " + name + " has no " + std::string(docker_config_key) +
             (s.problem.empty() ? "" : " (" + s.problem + ")");
    case kind::unreadable: return "pull secret " + name + " cannot be read: " + s.problem;
    case kind::usable:
    case kind::unknown: break;
  }
  return {};
}

}  // namespace bootc
