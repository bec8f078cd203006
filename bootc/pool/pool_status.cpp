#include "bootc/pool/pool_status.hpp"

#include <algorithm>
#include <array>

namespace bootc {

namespace {

constexpr std::array weakest_first = {
    pool_reason::healthy,        pool_reason::node_degraded, pool_reason::policy_fault,
    pool_reason::secret_error,   pool_reason::node_conflict, pool_reason::rollout_returned,
    pool_reason::rollout_halted, pool_reason::invalid_spec,  pool_reason::tag_resolution_error};

}  // namespace

int precedence(std::string_view reason) noexcept {
  const auto at = std::ranges::find(weakest_first, reason);
  return at == weakest_first.end() ? 0 : static_cast<int>(at - weakest_first.begin());
}

std::string progress_text(const census& c) {
  return std::to_string(c.up_to_date) + "/" + std::to_string(c.node_count()) + " updated; " +
         std::to_string(c.pending) + " pending, " + std::to_string(c.staging) + " staging, " +
         std::to_string(c.staged) + " staged, " + std::to_string(c.rebooting) + " rebooting, " +
         std::to_string(c.degraded) + " degraded";
}

std::string joined(std::vector<std::string> names) {
  const std::size_t shown = std::min(names.size(), most_named);
  std::partial_sort(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), names.end());
  std::string out;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) out += ", ";
    out += names[i];
  }
  if (shown < names.size()) out += " and " + std::to_string(names.size() - shown) + " more";
  return out;
}

hold_counts counted(const std::vector<hold>& holds) {
  const std::string policy(hold_code::policy), word = policy + ":";
  hold_counts out, by_policy;
  std::size_t of_policy = 0;
  for (const hold& h : holds) {
    if (!h.code.starts_with(word)) {
      ++out[h.code];
      continue;
    }
    ++of_policy;
    if (by_policy.size() <= most_policy_words) ++by_policy[h.code];
  }
  if (by_policy.size() > most_policy_words)
    out[policy] += of_policy;
  else
    out.merge(by_policy);
  return out;
}

std::string held_text(const hold_counts& held) {
  std::vector<std::pair<std::string, std::size_t>> most_first(held.begin(), held.end());
  std::ranges::stable_sort(most_first, std::ranges::greater(),
                           &std::pair<std::string, std::size_t>::second);
  std::string out;
  for (const auto& [code, n] : most_first)
    out += (out.empty() ? "" : ", ") + std::to_string(n) + " " + code;
  return out;
}

namespace {

std::map<std::string, std::int64_t> shown(const hold_counts& held) {
  std::map<std::string, std::int64_t> out;
  for (const auto& [code, n] : held) out.emplace(code, static_cast<std::int64_t>(n));
  return out;
}

/// What kubectl wait, kstatus and Argo CD look for: every node runs the image, and nothing is
/// wrong.
condition ready_after(const node_pool& pool, const pool_findings& found,
                      const condition& up_to_date, const condition& degraded) {
  condition ready;
  ready.type = pool_condition::ready;
  const bool is_ready = up_to_date.status == "True" && degraded.status == "False";
  ready.status = is_ready ? "True" : "False";
  ready.reason = up_to_date.status != "True" ? up_to_date.reason : degraded.reason;
  if (is_ready) ready.reason = up_to_date.reason;
  const std::string held = held_text(found.held);
  if (!is_ready && !held.empty()) ready.message = "held: " + held;
  ready.observed_generation = pool.meta.generation;
  return ready;
}

}  // namespace

node_pool_status status_after(const node_pool& pool, const pool_findings& found,
                              reactor::wall_time now) {
  node_pool_status out = pool.status;
  const census& c = found.counts;
  out.observed_generation = pool.meta.generation;
  out.target_digest = found.target_digest;
  out.node_count = static_cast<std::int64_t>(c.node_count());
  out.updated_count = static_cast<std::int64_t>(c.up_to_date);
  out.updating_count = static_cast<std::int64_t>(c.updating());
  out.degraded_count = static_cast<std::int64_t>(c.degraded);
  out.next_tag_resolution_time = found.tag.next;
  out.resolved_ref = found.tag.ref;
  out.available_digest = found.tag.available;
  out.approved_digest = found.tag.approved;
  out.failed_digest = found.back.failed;
  out.return_ref = found.back.ref;
  out.counts_shown = true;
  out.held = shown(found.held);

  const bool all_updated = c.node_count() == c.up_to_date;
  if (all_updated) out.deployed_digest = out.target_digest;
  out.update_available = out.target_digest != out.deployed_digest || !out.available_digest.empty();

  condition up_to_date;
  up_to_date.type = pool_condition::up_to_date;
  up_to_date.status = all_updated ? "True" : "False";
  up_to_date.reason = all_updated        ? pool_reason::all_updated
                      : pool.spec.paused ? pool_reason::paused
                                         : pool_reason::in_progress;
  if (!all_updated) up_to_date.message = progress_text(c);
  up_to_date.observed_generation = pool.meta.generation;

  condition degraded;
  degraded.type = pool_condition::degraded;
  degraded.status = "False";
  degraded.reason = pool_reason::healthy;
  degraded.observed_generation = pool.meta.generation;
  for (const degradation& d : found.degradations) {
    if (precedence(d.reason) <= precedence(degraded.reason)) continue;
    degraded.status = "True";
    degraded.reason = d.reason;
    degraded.message = d.message;
  }
  condition ready = ready_after(pool, found, up_to_date, degraded);
  set_condition(out.conditions, std::move(up_to_date), now);
  set_condition(out.conditions, std::move(degraded), now);
  set_condition(out.conditions, std::move(ready), now);
  return out;
}

namespace {

/// Only what is wrong changes.
node_pool_status status_that_is_wrong(const node_pool& pool, std::string_view reason,
                                      std::string message, const hold_counts& held,
                                      reactor::wall_time now) {
  node_pool_status out = pool.status;
  out.observed_generation = pool.meta.generation;
  out.held = shown(held);
  condition degraded;
  degraded.type = pool_condition::degraded;
  degraded.status = "True";
  degraded.reason = reason;
  degraded.message = std::move(message);
  degraded.observed_generation = pool.meta.generation;
  condition ready = degraded;
  ready.type = pool_condition::ready;
  ready.status = "False";
  set_condition(out.conditions, std::move(degraded), now);
  set_condition(out.conditions, std::move(ready), now);
  return out;
}

}  // namespace

node_pool_status status_with_invalid_spec(const node_pool& pool, std::string message,
                                          const hold_counts& held, reactor::wall_time now) {
  return status_that_is_wrong(pool, pool_reason::invalid_spec, std::move(message), held, now);
}

node_pool_status status_of_unresolved(const node_pool& pool, const tag_findings& tag,
                                      const hold_counts& held, reactor::wall_time now) {
  if (tag.error.empty()) return pool.status;  // the first answer is under way
  node_pool_status out =
      status_that_is_wrong(pool, pool_reason::tag_resolution_error, tag.error, held, now);
  out.next_tag_resolution_time = tag.next;
  return out;
}

}  // namespace bootc
