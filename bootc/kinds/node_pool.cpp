#include "bootc/kinds/node_pool.hpp"

#include "bootc/kinds/names.hpp"
#include "bootc/kinds/our_annotations.hpp"
#include "k8s/client/wire.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <algorithm>
#include <charconv>
#include <limits>

namespace bootc {
namespace {

namespace json = boost::json;

/// More than anybody writes: those of the tables and some of a policy.
constexpr std::size_t most_held_codes = 64;

std::optional<std::int64_t> optional_integer(k8s::wire_value value) {
  if (!value.present()) return std::nullopt;
  return value.integer();
}

std::optional<int_or_string> read_int_or_string(k8s::wire_value value) {
  if (!value.present()) return std::nullopt;
  if (value.kind() == k8s::wire_kind::number) return value.integer();
  return std::string(value.text());
}

policy_wait read_policy_wait(k8s::wire_value v) {
  policy_wait out;
  out.code = v["code"].text();
  out.reason = v["reason"].text();
  out.by = v["by"].text();
  out.since = v["since"].text();
  out.asked_again = v["askedAgain"].text();
  out.nodes = v["nodes"].integer();
  v["names"].elements([&](k8s::wire_value name) {
    if (out.names.size() < most_waiting_names) out.names.emplace_back(name.text());
  });
  return out;
}

json::array policy_waits_to_json(const std::vector<policy_wait>& all) {
  json::array out;
  for (const policy_wait& w : all) {
    json::object one{{"code", w.code}, {"reason", w.reason}, {"since", w.since}};
    one["nodes"] = w.nodes;
    if (!w.by.empty()) one["by"] = w.by;
    if (!w.asked_again.empty()) one["askedAgain"] = w.asked_again;
    json::array names;
    for (const std::string& name : w.names) names.emplace_back(name);
    if (!names.empty()) one["names"] = std::move(names);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

const k8s::resource& node_pools() {
  static const k8s::resource r{std::string(names::group), std::string(names::version),
                               "bootcnodepools", "BootcNodePool", false};
  return r;
}

std::optional<reactor::nanoseconds> reboot_limit(const node_pool_spec& spec) noexcept {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();  // what the schema allows
  if (!spec.reboot_timeout_seconds) return default_reboot_limit;
  if (*spec.reboot_timeout_seconds <= 0) return std::nullopt;
  return std::chrono::seconds(std::min(*spec.reboot_timeout_seconds, most));
}

std::string_view node_pool::policy() const {
  return meta.annotations.get(names::policy);
}

std::optional<failure_answer> parse_failure_answer(std::string_view word) noexcept {
  if (word.empty() || word == "Halt") return failure_answer::halt;
  if (word == "Return") return failure_answer::go_back;
  return std::nullopt;
}

std::string_view text(staging_mode m) noexcept {
  switch (m) {
    case staging_mode::unlocked: return "unlocked";
    case staging_mode::in_slot: return "in-slot";
    case staging_mode::locked: break;
  }
  return "locked";
}

std::optional<staging_mode> parse_staging_mode(std::string_view word) noexcept {
  for (const staging_mode m : {staging_mode::locked, staging_mode::unlocked, staging_mode::in_slot})
    if (word == text(m)) return m;
  return std::nullopt;
}

std::optional<reboot_policy> parse_reboot_policy(std::string_view word) noexcept {
  if (word == "RebootOnly") return reboot_policy::reboot_only;
  if (word == "AllowSoftReboot") return reboot_policy::allow_soft_reboot;
  return std::nullopt;
}

std::optional<staging_mode> node_pool::staging() const {
  const std::string_view word = meta.annotations.get(names::stage);
  return word.empty() ? staging_mode::locked : parse_staging_mode(word);
}

std::optional<std::size_t> node_pool::stages_at_once() const {
  const std::string_view word = meta.annotations.get(names::stages_at_once);
  if (word.empty()) return 0;
  std::size_t out = 0;
  const char* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, out);
  return read.ec == std::errc() && read.ptr == end && out > 0 ? std::optional(out) : std::nullopt;
}

std::optional<reactor::nanoseconds> node_pool::stuck_after() const {
  const std::string_view word = meta.annotations.get(names::stuck_after);
  if (word.empty()) return default_stuck_after;
  const auto read = reactor::parse_duration(std::string(word));
  return read && *read > reactor::nanoseconds::zero() ? std::optional(*read) : std::nullopt;
}

bool node_pool::follows_release() const noexcept {
  return meta.annotations.get(names::release) == names::of_its_cluster;
}

tag_updates node_pool::updates() const noexcept {
  return follows_release() ? tag_updates::manual : spec.updates;
}

std::string_view node_pool::approval() const {
  return meta.annotations.get(names::approve_digest);
}

namespace {

void read_spec(k8s::wire_value spec, node_pool_spec& out) {
  const auto [selector, image, rollout, disruption, secret] =
      spec.fields("nodeSelector", "image", "rollout", "disruption", "pullSecretRef");
  if (auto selected = k8s::label_selector::parse(selector))
    out.node_selector = std::move(*selected);
  else
    out.selector_problem = selected.error();
  const auto [ref, updates] = image.fields("ref", "updates");
  out.image_ref = ref.text();
  if (updates.text() == "Manual") out.updates = tag_updates::manual;
  const auto [most, paused, on_failure, drain, reboot] = rollout.fields(
      "maxUnavailable", "paused", "onFailure", "drainTimeoutSeconds", "rebootTimeoutSeconds");
  out.max_unavailable = read_int_or_string(most);
  out.paused = paused.boolean();
  out.on_failure = on_failure.text();
  out.drain_timeout_seconds = optional_integer(drain);
  out.reboot_timeout_seconds = optional_integer(reboot);
  out.reboots = parse_reboot_policy(disruption["rebootPolicy"].text()).value_or(out.reboots);
  out.pull_secret = parse_secret_ref(secret);
}

void read_status(k8s::wire_value status, node_pool_status& s) {
  const auto [observed, target, deployed, available, nodes, updated, updating, degraded, held] =
      status.fields("observedGeneration", "targetDigest", "deployedDigest", "updateAvailable",
                    "nodeCount", "updatedCount", "updatingCount", "degradedCount", "held");
  s.observed_generation = observed.integer();
  s.target_digest = target.text();
  s.deployed_digest = deployed.text();
  s.update_available = available.boolean();
  s.node_count = nodes.integer();
  s.updated_count = updated.integer();
  s.updating_count = updating.integer();
  s.degraded_count = degraded.integer();
  s.counts_shown = nodes.present() && updated.present() && updating.present() && degraded.present();
  held.members([&](std::string_view code, k8s::wire_value n) {
    if (s.held.size() < most_held_codes) s.held.emplace(code, n.integer());
  });
  const auto [waits, next, resolved, waiting, approved, failed, back, conditions] =
      status.fields("policyHolds", "nextTagResolutionTime", "resolvedRef", "availableDigest",
                    "approvedDigest", "failedDigest", "returnRef", "conditions");
  waits.elements([&](k8s::wire_value v) {
    if (s.policy_waits.size() < most_policy_waits) s.policy_waits.push_back(read_policy_wait(v));
  });
  s.next_tag_resolution_time = next.text();
  s.resolved_ref = resolved.text();
  s.available_digest = waiting.text();
  s.approved_digest = approved.text();
  s.failed_digest = failed.text();
  s.return_ref = back.text();
  s.conditions = parse_conditions(conditions);
}

}  // namespace

node_pool node_pool::parse(k8s::wire_value object) {
  node_pool out;
  out.meta = k8s::parse_meta(object, our_annotations);
  const auto [spec, status] = object.fields("spec", "status");
  read_spec(spec, out.spec);
  read_status(status, out.status);
  return out;
}

json::object status_patch(const node_pool_status& from, const node_pool_status& to) {
  json::object status;
  const auto put_text = [&](const char* key, const std::string& before, const std::string& after) {
    if (before != after) status[key] = after.empty() ? json::value(nullptr) : json::value(after);
  };
  const bool counts_begin = to.counts_shown && !from.counts_shown;
  const auto put_count = [&](const char* key, std::int64_t before, std::int64_t after) {
    if (before != after || counts_begin) status[key] = after;
  };
  if (from.observed_generation != to.observed_generation)
    status["observedGeneration"] = to.observed_generation;
  put_text("targetDigest", from.target_digest, to.target_digest);
  put_text("deployedDigest", from.deployed_digest, to.deployed_digest);
  if (from.update_available != to.update_available) status["updateAvailable"] = to.update_available;
  put_count("nodeCount", from.node_count, to.node_count);
  put_count("updatedCount", from.updated_count, to.updated_count);
  put_count("updatingCount", from.updating_count, to.updating_count);
  put_count("degradedCount", from.degraded_count, to.degraded_count);
  if (from.held != to.held) {
    json::object held;
    for (const auto& [code, n] : from.held)
      if (!to.held.contains(code)) held[code] = nullptr;
    for (const auto& [code, n] : to.held) held[code] = n;
    status["held"] = to.held.empty() ? json::value(nullptr) : json::value(std::move(held));
  }
  if (from.policy_waits != to.policy_waits)
    status["policyHolds"] = to.policy_waits.empty()
                                ? json::value(nullptr)
                                : json::value(policy_waits_to_json(to.policy_waits));
  put_text("nextTagResolutionTime", from.next_tag_resolution_time, to.next_tag_resolution_time);
  put_text("resolvedRef", from.resolved_ref, to.resolved_ref);
  put_text("availableDigest", from.available_digest, to.available_digest);
  put_text("approvedDigest", from.approved_digest, to.approved_digest);
  put_text("failedDigest", from.failed_digest, to.failed_digest);
  put_text("returnRef", from.return_ref, to.return_ref);
  if (from.conditions != to.conditions)
    status["conditions"] = k8s::conditions_to_json(to.conditions);
  if (status.empty()) return {};
  json::object patch;
  patch["status"] = std::move(status);
  return patch;
}

}  // namespace bootc
