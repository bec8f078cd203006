#include "bootc/pool/pool_status.hpp"

#include "formats/plain/listed.hpp"

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
  return formats::listed(names, shown);
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

bool is_of_policy(std::string_view code) noexcept {
  return units::kind_in(code) == hold_code::policy || code == hold_code::policy_fault.code ||
         hold_code::of_policy_word(code) == code;
}

namespace {

/// How holds are told apart, from fine to coarse.
enum class apart { by_reason, by_code, not_at_all };

/// Nothing when there are more of them than a pool may say.
std::optional<std::vector<policy_wait>> waits_told(const std::vector<hold>& holds, apart how) {
  using key = std::pair<std::string_view, std::string_view>;
  const auto key_of = [how](const hold& h) {
    return how == apart::by_reason ? key{h.code, h.sentence}
           : how == apart::by_code ? key{h.code, {}}
                                   : key{};
  };
  std::vector<policy_wait> out;
  std::map<key, std::size_t> known;
  const hold* last = nullptr;  // thousands in a row wait for the same
  std::size_t at = 0;
  for (const hold& h : holds) {
    if (!is_of_policy(h.code)) continue;
    if (!last || key_of(h) != key_of(*last)) {
      const auto [found, is_new] = known.try_emplace(key_of(h), out.size());
      if (is_new && out.size() == most_policy_waits) return std::nullopt;
      if (is_new) {
        policy_wait& w = out.emplace_back();
        w.code = how == apart::not_at_all ? std::string(hold_code::policy) : h.code;
        w.reason = h.sentence;
        if (how != apart::by_reason) w.reason += " (the first of many reasons)";
        w.by = h.by;
      }
      at = found->second;
      last = &h;
    }
    policy_wait& w = out[at];
    ++w.nodes;
    if (w.names.size() < most_waiting_names) w.names.push_back(h.unit);
  }
  return out;
}

/// A text that only counts on, or down, is no news.
bool same_but_for_numbers(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto skip = [&](std::string_view text, std::size_t& at) {
    const std::size_t from = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > from;
  };
  std::size_t i = 0, j = 0;
  for (;;) {
    if (skip(a, i) != skip(b, j)) return false;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (a[i++] != b[j++]) return false;
  }
}

/// What is asked again sooner is not worth a write each time.
constexpr reactor::nanoseconds soon = std::chrono::minutes(5);

bool is_after(const std::string& time, reactor::wall_time when) {
  const auto at = reactor::parse_rfc3339(time);
  return at && *at > when;
}

/// With what is known from before: since when, and the same words as long as they say the same.
std::vector<policy_wait> waits_after(const std::vector<policy_wait>& before,
                                     std::vector<policy_wait> now, reactor::wall_time at) {
  bool is_same = before.size() == now.size();
  for (std::size_t i = 0; i < now.size(); ++i) {
    policy_wait& w = now[i];
    if (!is_after(w.asked_again, at + soon)) w.asked_again.clear();
    const auto known = std::ranges::find_if(
        before, [&](const policy_wait& b) { return b.code == w.code && b.by == w.by; });
    w.since = known == before.end() ? reactor::format_rfc3339(at) : known->since;
    if (known != before.end() && is_after(known->asked_again, at))
      w.asked_again = known->asked_again;
    is_same = is_same && before[i].code == w.code && before[i].by == w.by &&
              before[i].nodes == w.nodes && before[i].names == w.names &&
              before[i].asked_again == w.asked_again &&
              same_but_for_numbers(before[i].reason, w.reason);
  }
  return is_same ? before : now;
}

}  // namespace

std::vector<policy_wait> policy_waits_in(const std::vector<hold>& holds,
                                         std::optional<reactor::wall_time> asked_again) {
  std::optional<std::vector<policy_wait>> told;
  for (const apart how : {apart::by_reason, apart::by_code, apart::not_at_all})
    if (!told) told = waits_told(holds, how);
  std::ranges::stable_sort(*told, std::ranges::greater(), &policy_wait::nodes);
  if (!told->empty()) told->front().names.clear();
  for (policy_wait& w : *told)
    if (asked_again) w.asked_again = reactor::format_rfc3339(*asked_again);
  return std::move(*told);
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
  out.policy_waits = waits_after(pool.status.policy_waits, found.policy_waits, now);

  const bool all_updated = c.node_count() == c.up_to_date;
  if (all_updated && !found.is_watched) out.deployed_digest = out.target_digest;
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
    const condition* was = find_condition(pool.status.conditions, pool_condition::degraded);
    if (d.is_policys && was && was->reason == d.reason &&
        same_but_for_numbers(was->message, d.message))
      degraded.message = was->message;
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
  out.policy_waits.clear();
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
