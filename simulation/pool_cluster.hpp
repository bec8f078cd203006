#pragma once

#include "simulation/cluster.hpp"
#include "simulation/invariants.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace simulation {

/// The images of the demo: where every node starts, where the pool wants them, and one between.
/// Their digests are those of the manifests that a registry gives who asks it.
inline constexpr std::string_view old_image =
    "registry.demo.local/os/"
    "node@sha256:437e32e6a80f965a5bb38aaa0cb9d9e145abde28692e0a39387645d43f350360";
inline constexpr std::string_view new_image =
    "registry.demo.local/os/"
    "node@sha256:0f23c6880a1caab2a9811f90bf58366c023965ffb5b187e9f18193d8bda711e5";
inline constexpr std::string_view middle_image =
    "registry.demo.local/os/"
    "node@sha256:e981f188ff24d4963e63be120268ac8e167514be38cb888018eb7f9bdbb6f87d";
inline constexpr std::string_view old_manifest =
    R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[],"annotations":{"org.opencontainers.image.version":"1"}})";
inline constexpr std::string_view new_manifest =
    R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[],"annotations":{"org.opencontainers.image.version":"2"}})";
inline constexpr std::string_view middle_manifest =
    R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[],"annotations":{"org.opencontainers.image.version":"3"}})";

struct pool_options {
  std::string max_unavailable = "25%";
  std::map<std::string, std::string> labels = {};
  std::string policy = {};  // the pack it names
  /// A judge looks at every node at every write: not where speed is measured.
  enum class judge : bool { none, ours } judged = judge::ours;
};

/// A cluster whose nodes are in one pool, and the judge of what happens to them. Hosts are played
/// else's.
class pool_cluster final : public cluster {
public:
  pool_cluster(reactor::loop& l, cluster_options options, pool_options pool = {});

  invariants& checks() noexcept { return checks_; }
  const invariants& checks() const noexcept { return checks_; }

  /// Asks for an image, as a person would who edits the pool.
  void set_image(std::string_view ref);
  /// What the pool does when a rollout fails, "Halt" or "Return", as a person would edit it.
  void set_on_failure(std::string_view answer);
  /// The pool's pull secret holds this `.dockerconfigjson` from now on.
  void set_login(const std::string& docker_config);

  /// The node's status does.
  bool says_it_reboots(const std::string& node) const;

  struct progress {
    std::size_t nodes = 0, updated = 0;  // updated: that run new_image, where it is the target
    std::size_t on_target = 0;           // that run the target, whatever it is
    std::string up_to_date, degraded;    // the pool's conditions' reasons
    std::string message;
    std::string failed_digest;  // of the image that the pool goes back from, or empty
    friend bool operator==(const progress&, const progress&) = default;
  };
  /// What the pool's status says.
  progress pool_progress() const;

private:
  void edit_spec(const std::function<bool(boost::json::object& spec)>& change);
  void check(const k8s::sim::written& w) override {
    if (judged_ == pool_options::judge::ours) checks_.saw(w);
  }

  invariants checks_;
  pool_options::judge judged_;
};

}  // namespace simulation
