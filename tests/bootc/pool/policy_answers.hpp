#pragma once

#include "policies/rollout.hpp"
#include "tests/bootc/builders.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace bootc::testing {

using namespace std::chrono_literals;

/// Bytes read as a pool in some state and as what a policy says about it, which may be anything.
class any_rollout {
public:
  explicit any_rollout(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
    capacity_ = below(6);
    s_.max_unavailable(static_cast<std::int64_t>(capacity_));
    s_.world.pool.spec.paused = one_in(8);
    if (one_in(2)) s_.world.pool.spec.drain_timeout_seconds = 600;
    const std::size_t n = 1 + below(8);
    for (std::size_t i = 0; i < n; ++i) add("w" + std::to_string(i));
    answer();
  }

  rollout_plan plan() const { return s_.plan(); }

  /// What the plan must not do and does, a sentence each.
  std::vector<std::string> violations(const rollout_plan& p) const {
    std::vector<std::string> out;
    std::size_t freed = 0, taken = 0, control_planes = 0;
    std::set<std::string> takers;
    for (const action& a : p.actions) {
      if (!a.node.empty() && !states_.contains(a.node)) out.push_back("acts on a stranger");
      if (a.kind == action_kind::free_slot || a.kind == action_kind::note_drain_timeout) ++freed;
      if (a.kind == action_kind::start_drain && s_.world.pool.spec.drain_timeout_seconds &&
          (a.timeout > 600s || a.timeout <= 0s))
        out.push_back(a.node + " is drained for longer than its pool allows");
      if (a.kind == action_kind::approve) {
        const auto drain = s_.world.drains.find(a.node);
        if (!slotted_.contains(a.node) || drain == s_.world.drains.end() ||
            drain->second.state != drain_progress::phase::succeeded ||
            drain->second.image != image_of('b'))
          out.push_back(a.node + " is told to boot without having been drained");
      }
      if (a.kind != action_kind::take_slot) continue;
      ++taken;
      control_planes += control_planes_.contains(a.node);
      if (!takers.insert(a.node).second) out.push_back(a.node + " takes two slots");
      if (slotted_.contains(a.node)) out.push_back(a.node + " has a slot already");
      if (states_.contains(a.node) && states_.at(a.node) != unit_state::staged)
        out.push_back(a.node + " takes a slot before its image is there");
      if (s_.world.policy.is == policy_answer::kind::given &&
          std::ranges::find(s_.world.policy.start, a.node) == s_.world.policy.start.end())
        out.push_back(a.node + " takes a slot that the policy did not give");
    }
    if (taken > 0) {
      if (slotted_.size() + taken > capacity_ + freed)
        out.push_back(std::to_string(slotted_.size() + taken - freed) + " slots of " +
                      std::to_string(capacity_));
      if (s_.world.policy.is == policy_answer::kind::failed)
        out.push_back("somebody starts although the policy failed");
      if (s_.world.policy.halt) out.push_back("a unit starts although the policy halts");
      if (s_.world.pool.spec.paused) out.push_back("somebody starts in a paused pool");
      if (ill_in_slots_ >= halt_threshold)
        out.push_back("somebody starts beside two ill nodes in slots");
    }
    if (control_planes > 1) out.push_back("two control planes start at once");
    if (control_planes > 0)
      for (const std::string& other : control_planes_)
        if (!takers.contains(other) && (ill_.contains(other) || still_slotted(other, p)))
          out.push_back("a control plane starts beside " + other);
    if (steps(p) != steps(plan())) out.push_back("the same world has two plans");
    return out;
  }

private:
  std::size_t below(std::size_t n) { return at_ < bytes_.size() ? bytes_[at_++] % n : 0; }
  bool one_in(std::size_t n) { return below(n) == n - 1; }

  bool still_slotted(const std::string& node, const rollout_plan& p) const {
    if (!slotted_.contains(node)) return false;
    return std::ranges::none_of(p.actions, [&](const action& a) {
      return a.node == node &&
             (a.kind == action_kind::free_slot || a.kind == action_kind::note_drain_timeout);
    });
  }

  /// Some time ago. True when it has failed by now.
  bool tell_to_boot(bootc_node& b, unit_state state) {
    const auto ago = std::chrono::minutes(below(60));
    b.spec.desired_state = image_state::booted;
    b.meta.annotations = with(b.meta.annotations, std::string(names::approved_at),
                              reactor::format_rfc3339(noon - ago));
    return state == unit_state::degraded || (state != unit_state::up_to_date && ago >= 30min);
  }

  void add(const std::string& name) {
    const auto state = static_cast<unit_state>(below(7));
    states_[name] = state;
    const bool slotted = one_in(3);
    bool failed = false;
    if (slotted) {
      bootc_node& b = s_.slotted(name, state);
      if (one_in(3)) failed = tell_to_boot(b, state);
    } else {
      s_.member(name, state);
    }
    k8s::node& node = s_.node_named(name);
    if (one_in(4)) {
      node.ready = k8s::condition_status::no;
      ill_.insert(name);
    }
    if (one_in(4)) {
      node.meta.labels = with(node.meta.labels, std::string(names::control_plane_role), "");
      control_planes_.insert(name);
    }
    if (!slotted) return;
    slotted_.insert(name);
    if (failed || (state == unit_state::up_to_date && ill_.contains(name))) ++ill_in_slots_;
    if (one_in(2)) {
      drain_progress& d = s_.drain(name, static_cast<drain_progress::phase>(below(4)));
      if (one_in(3)) d.image = image_of('a');
      d.started = noon - std::chrono::minutes(below(60));
      d.retry_at = noon + std::chrono::minutes(below(60)) - 30min;
    }
  }

  std::string any_name() {
    const std::size_t i = below(states_.size() + 3);
    if (i < states_.size()) return std::next(states_.begin(), static_cast<long>(i))->first;
    return i == states_.size() ? "" : i == states_.size() + 1 ? "stranger" : std::string(300, 'w');
  }

  void answer() {
    policy_answer& a = s_.world.policy;
    a.is = static_cast<policy_answer::kind>(below(3));
    a.by = "any";
    if (one_in(6)) a.halt = policy_hold{"signal-bad", "errors is 0.2"};
    policies::value::array start;
    for (std::size_t n = below(12); n > 0; --n) start.emplace_back(any_name());
    // What the host lets through, or what no host would.
    if (one_in(2)) {
      const auto read = policies::read_rollout_answer(
          policies::value::object{{"start", std::move(start)}}, input());
      if (read) a.start = read->start;
      if (!read) a.is = policy_answer::kind::failed;
    } else {
      for (const policies::value& one : start) a.start.push_back(*one.if_string());
    }
    for (std::size_t n = below(4); n > 0; --n)
      a.holds[any_name()] = {one_in(2) ? "code" : "", one_in(2) ? "because" : "", one_in(2)};
    for (std::size_t n = below(4); n > 0; --n)
      a.drain_timeouts[any_name()] =
          std::chrono::seconds(static_cast<std::int64_t>(below(256)) * 100 - 5'000);
    if (one_in(2)) a.look_again = noon + std::chrono::hours(below(200)) - 100h;
    if (one_in(4)) a.fault = "one of them failed";
  }

  policies::rollout_input input() const {
    policies::rollout_input out;
    for (const auto& [name, state] : states_) {
      policies::rollout_unit& u = out.units.emplace_back();
      u.name = name;
      u.state = text(state);
      u.slotted = slotted_.contains(name);
    }
    out.fleet.startable = text(unit_state::staged);
    out.fleet.capacity = capacity_;
    out.fleet.free = capacity_ - std::min(capacity_, slotted_.size());
    return out;
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0, capacity_ = 0, ill_in_slots_ = 0;
  situation s_;
  std::map<std::string, unit_state, std::less<>> states_;
  std::set<std::string, std::less<>> slotted_, ill_, control_planes_;
};

}  // namespace bootc::testing
