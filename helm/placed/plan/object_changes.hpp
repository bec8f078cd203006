#pragma once

#include "helm/go.hpp"
#include "helm/objects/object.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::placed {

/// What an operation on a release would do to one object.
struct object_change {
  std::string action;  // "create", "change", "delete", "keep" (by its policy), "run" (a hook)
  std::string api_version, kind, ns, name;
  /// "spec.replicas: 2 → 3", 40 at most and then how many more; of Secrets no value.
  std::vector<std::string> lines;
  friend bool operator==(const object_change&, const object_change&) = default;
};

/// Differences from one object to the other, a line each; elements of lists by their names where
/// all have one. `kind` Secret: that values below data differ, and not which they are.
std::vector<std::string> lines_between(const boost::json::object& from,
                                       const boost::json::object& to, std::string_view kind);

/// What becomes of an object that the release is to have: none where nothing does. `before` is the
/// manifest's of the revision that is there, `live` what the cluster has.
/// Errors   those of the merge that an upgrade makes.
outcome<std::optional<object_change>> change_of(const objects::object& target,
                                                const objects::object* before,
                                                const boost::json::object* live);
/// What becomes of one that it is to have no longer; none where it is gone.
std::optional<object_change> removal_of(const objects::object& dropped,
                                        const boost::json::object* live);

}  // namespace helm::placed
