#include "bootc/pool/events/event_notes.hpp"

#include "bootc/kinds/names.hpp"
#include "bootc/pool/drain_words.hpp"
#include "registry/image_ref.hpp"

#include <utility>

namespace bootc {
namespace {

using k8s::event_severity;
using phase = drain_progress::phase;

k8s::object_reference reference(const node_pool& p) {
  return {
      std::string(names::api_version), "BootcNodePool", {}, p.meta.name.str(), p.meta.uid.text()};
}

k8s::object_reference reference(const std::string& node, const k8s::node* its) {
  return {"v1", "Node", {}, node, its ? its->meta.uid.text() : std::string()};
}

k8s::event_note note(k8s::object_reference about, event_severity type, std::string_view reason,
                     std::string_view action, std::string text) {
  k8s::event_note out;
  out.regarding = std::move(about);
  out.type = type;
  out.reason = reason;
  out.action = action;
  out.note = std::move(text);
  out.reporter = event_reporter;
  return out;
}

k8s::event_note about_node(const std::string& node, const k8s::node* its, const node_pool& of,
                           event_severity type, std::string_view reason, std::string_view action,
                           std::string text) {
  k8s::event_note out = note(reference(node, its), type, reason, action, std::move(text));
  out.related = reference(of);
  return out;
}

/// "False:Staged:quay.io/…"
std::string marker_of(const condition& idle, const std::string& image) {
  return idle.status + ":" + idle.reason + ":" + image;
}

/// Whether `text` is that, which is asked of every node in every pass.
bool is_marker_of(std::string_view text, const condition& idle, std::string_view image) {
  const auto take = [&](std::string_view part) {
    const bool begins = text.starts_with(part);
    if (begins) text.remove_prefix(part.size());
    return begins;
  };
  return take(idle.status) && take(":") && take(idle.reason) && take(":") && text == image;
}

std::optional<std::string> text_of(std::string_view reason, const std::string& image) {
  if (reason == node_reason::staging) return "Staging image " + image;
  if (reason == node_reason::staged) return "Image " + image + " is staged and awaiting reboot";
  if (reason == node_reason::rebooting) return "Rebooting into image " + image;
  return std::nullopt;
}

}  // namespace

std::string short_digest(std::string_view digest) {
  constexpr std::string_view algorithm = "sha256:";
  constexpr std::size_t digits = 12;
  return std::string(digest.starts_with(algorithm) ? digest.substr(0, algorithm.size() + digits)
                                                   : digest);
}

std::vector<k8s::event_note> pool_events(const node_pool& pool, const node_pool_status& after) {
  std::vector<k8s::event_note> out;
  const node_pool_status& before = pool.status;
  const condition* was = find_condition(before.conditions, pool_condition::up_to_date);
  const condition* is = find_condition(after.conditions, pool_condition::up_to_date);
  const bool moved = before.target_digest != after.target_digest;
  const auto say = [&](event_severity type, std::string_view reason, std::string_view action,
                       std::string text) {
    out.push_back(note(reference(pool), type, reason, action, std::move(text)));
  };
  const auto ref = registry::parse_image_ref(pool.spec.image_ref);
  const bool by_tag = ref && ref->digest.empty();
  const bool same_tag = before.resolved_ref.empty() || before.resolved_ref == after.resolved_ref;
  const auto available = [&](const std::string& digest) {
    say(event_severity::normal, "ImageUpdateAvailable", "ResolveImage",
        "Image tag " + pool.spec.image_ref + " resolved to new digest " + short_digest(digest) +
            " (previously " + short_digest(before.target_digest) + ")");
  };
  const bool waits_for_approval = !after.available_digest.empty();
  if (waits_for_approval && after.available_digest != before.available_digest)
    available(after.available_digest);
  // An approved one was told when it became available.
  else if (moved && by_tag && same_tag && !before.target_digest.empty() &&
           after.target_digest != before.available_digest)
    available(after.target_digest);
  if (is && is->reason == pool_reason::in_progress &&
      (moved || !was || was->reason != pool_reason::in_progress))
    say(event_severity::normal, "RolloutStarted", "Rollout",
        "Rollout started toward digest " + short_digest(after.target_digest));
  if (was && was->status == "False" && is && is->is_true())
    say(event_severity::normal, "RolloutCompleted", "Rollout",
        "Rollout completed at digest " + short_digest(after.target_digest));
  const condition* well = find_condition(before.conditions, pool_condition::degraded);
  const condition* wrong = find_condition(after.conditions, pool_condition::degraded);
  if (wrong && wrong->is_true() &&
      (!well || well->status != wrong->status || well->reason != wrong->reason ||
       well->message != wrong->message))
    say(event_severity::warning, wrong->reason, "PoolDegraded", wrong->message);
  return out;
}

std::optional<node_step> next_step(const bootc_node& b, const k8s::node* its, const node_pool& of) {
  const condition* idle = find_condition(b.status.conditions, node_condition::idle);
  if (!idle) return std::nullopt;
  const std::string& image = b.spec.desired_image;
  const auto told = b.annotation(names::last_observed_state);
  if (told && is_marker_of(*told, *idle, image)) return std::nullopt;
  node_step out;
  out.remember = marker_of(*idle, image);
  const auto say = [&](std::string_view reason, std::string text) {
    out.note = about_node(b.meta.name.str(), its, of, event_severity::normal, reason, "NodeUpdate",
                          std::move(text));
  };
  if (idle->status != "True") {
    if (auto text = text_of(idle->reason, image)) say(idle->reason, std::move(*text));
    return out;
  }
  const bool arrived =
      b.status.booted && is_image(*b.status.booted, registry::digest_in(b.spec.desired_image));
  const bool was_active = told && !told->starts_with("True:");
  if (was_active && !arrived) return std::nullopt;
  if (was_active) say(node_reason::idle, "Node is up to date with image " + image);
  return out;
}

k8s::event_note event_of(const warning& w, const k8s::node* its, const node_pool& of) {
  if (w.node.empty())
    return note(reference(of), event_severity::warning, w.reason, "Rollout", w.message);
  return about_node(w.node, its, of, event_severity::warning, w.reason, "NodeUpdate", w.message);
}

void drain_teller::tell_one(const node_pool& pool, const std::string& node, const k8s::node* its,
                            const drain_progress& d, reactor::wall_time now, news& into) {
  told& known = told_[node];
  if (known.started != d.started) known = told{{}, d.started};
  known.pool = pool.meta.name.str();
  const auto say = [&](std::string_view reason, std::string text) {
    into.notes.push_back(
        about_node(node, its, pool, event_severity::warning, reason, "Drain", std::move(text)));
  };
  switch (d.state) {
    case phase::succeeded: return;
    case phase::failed:
      if (!std::exchange(known.ended, true))
        say("DrainFailed", "Failed to drain node: " + d.detail + "; the drain will be retried");
      return;
    case phase::timed_out:
      if (!std::exchange(known.ended, true)) {
        std::string text = "Drain took longer than drainTimeoutSeconds and was given up";
        if (!d.detail.empty()) text += "; left: " + d.detail;
        say("DrainTimedOut", std::move(text));
      }
      return;
    case phase::running: break;
  }
  const reactor::wall_time is_long = d.started + long_drain;
  if (now < is_long) {
    if (!into.look_again || is_long < *into.look_again) into.look_again = is_long;
  } else if (!std::exchange(known.is_long, true)) {
    const std::string obstacle = obstacle_of(d);
    say("DrainTakingTooLong",
        "Drain has been running for more than 5m0s; " +
            (obstacle.empty() ? "it may be blocked by a PodDisruptionBudget" : obstacle));
  }
}

void drain_teller::forget(const node_pool& pool, const drains_by_node& all) {
  std::erase_if(told_, [&](const auto& one) {
    return pool.meta.name == one.second.pool && !all.contains(one.first);
  });
}

}  // namespace bootc
