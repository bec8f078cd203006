#pragma once

#include "k8s/informer/meta.hpp"
#include "policies/host/pack.hpp"

namespace policies {

/// The labels of an object or cluster as `subject` has them, for the selectors of packs.
inline labels as_labels(const k8s::string_map& from) {
  labels out;
  for (const auto& [key, value] : from) out.emplace(key.str(), value.str());
  return out;
}

}  // namespace policies
