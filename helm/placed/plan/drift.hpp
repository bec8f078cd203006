#pragma once

#include "reactor/plain/entropy.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace helm::placed {

/// An object of a release that must exist.
struct checked_object {
  std::string api_version, kind, ns, name;
  /// "Deployment/acme/web"
  std::string text() const { return kind + "/" + ns + "/" + name; }
  friend bool operator==(const checked_object&, const checked_object&) = default;
};

/// What of a release's documents is looked for: ConfigMaps, Secrets, Services, ServiceAccounts,
/// Deployments and ReplicaSets in the workload namespace, or without a namespace of their own,
/// which means the same.
std::vector<checked_object> checked_objects(std::span<const boost::json::object> documents,
                                            std::string_view workspace);

/// So many are named in a sentence; of more it says how many.
inline constexpr std::size_t most_named = 20;

/// What was found out about a release that is as wanted by its annotation.
struct drift_findings {
  std::vector<std::string> missing;  // objects that are gone
  std::string moved;                 // how another client moved the release, or empty
  bool any() const noexcept { return !missing.empty() || !moved.empty(); }
  /// One sentence for an Event.
  std::string text() const;
  friend bool operator==(const drift_findings&, const drift_findings&) = default;
};

/// When it is looked for again: the interval, a tenth more or less.
reactor::nanoseconds next_check(reactor::nanoseconds interval, reactor::entropy& random);

}  // namespace helm::placed
