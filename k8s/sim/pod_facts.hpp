#pragma once

#include "k8s/sim/store.hpp"

#include <compare>
#include <memory>
#include <string>
#include <vector>

namespace k8s::sim {

/// What disruption budgets want to know of a pod. Each write of one asks it of every pod of its
/// namespace.
struct pod_facts {
  struct controller {
    std::string api_version, kind, name;
    friend auto operator<=>(const controller&, const controller&) = default;
  };
  bool is_terminal = false, is_ready = false, is_ending = false;
  std::string name;
  json::object labels;
  std::vector<controller> controllers;
};

/// Read once for each version.
const std::shared_ptr<const pod_facts>& facts_of(const version& pod);

bool is_terminal(const json::object& pod);
bool is_ready(const json::object& pod);

}  // namespace k8s::sim
