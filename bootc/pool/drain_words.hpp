#pragma once

#include "bootc/pool/drain_progress.hpp"
#include "k8s/client/fault.hpp"

#include <string>
#include <string_view>

namespace bootc {

/// What a drain waits for, in the words of holds, notes on BootcNodes and Events: one wording, so
/// that all of them name the same pod and the same budget.

/// "the PodDisruptionBudget shop/db allows no eviction of shop/db-0"; empty when no budget refuses.
std::string budgets_in(const drain_progress& d);
/// What would release those: "the PodDisruptionBudget shop/db allows one more disruption".
std::string release_of_budgets(const drain_progress& d);
/// "2 pods are left: db/db-0, web/web-1", the pod that was evicted longest ago and has not ended,
/// and what the server says where it does not take an eviction.
std::string left_of(const drain_progress& d);
/// The budgets or else what is left; empty while nothing is known.
std::string obstacle_of(const drain_progress& d);

/// The hour of an attempt; one that has passed is said to have.
std::string next_attempt(reactor::wall_time at, reactor::wall_time now);
/// What next_attempt() said at some earlier time, said now; any other text as it is.
std::string next_attempt_again(const std::string& said, reactor::wall_time now);

/// What a refusal of a budget says: its name, and more than how many pods it needs.
/// Source  kubernetes pkg/registry/core/pod/storage/eviction.go: the causes of its 429.
struct budget_refusal {
  std::string budget, words;
};
budget_refusal read_budget_refusal(const k8s::fault& f);

}  // namespace bootc
