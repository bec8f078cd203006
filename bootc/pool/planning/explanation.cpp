#include "bootc/pool/planning/explanation.hpp"

#include "bootc/kinds/cluster_node.hpp"
#include "bootc/kinds/daemon_texts.hpp"
#include "bootc/pool/drain_words.hpp"
#include "bootc/pool/events/hold_note.hpp"
#include "bootc/pool/pool_status.hpp"
#include "k8s/client/events.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace bootc::planning {
namespace {

using phase = drain_progress::phase;

/// What a cluster says can be megabytes long; people and policies see its beginning.
constexpr std::size_t most_words_bytes = 1'024;
std::string words_of(const std::string& said) {
  return said.size() <= most_words_bytes ? said : k8s::cut_utf8(said, most_words_bytes);
}

std::string in_words(wall_time t) {
  return reactor::format_rfc3339(t);
}

/// How far the daemon says that the stage is, behind a colon; empty when it does not.
std::string how_far(const bootc_node& b) {
  const condition* idle = find_condition(b.status.conditions, node_condition::idle);
  if (!idle || idle->reason != node_reason::staging) return {};
  const std::string said = idle->message.substr(0, idle->message.find("; "));
  if (said.empty() || said.starts_with(uncoordinated_text)) return {};
  return ": " + words_of(said);
}

/// Behind what is said of a drain: the pods of a node whose kubelet is away do not end.
std::string where_not_ready(const member& m) {
  return m.node && !is_ready(*m.node)
             ? "; Node " + m.name + " is not Ready, and its kubelet has to end them"
             : std::string();
}

/// What the daemon's conditions remember: Degraded flips when a node fails, Idle when an update
/// begins and ends.
std::optional<wall_time> since(const member& m) {
  if (!m.object) return std::nullopt;
  const bool failed = m.state == unit_state::degraded;
  const condition* c = find_condition(m.object->status.conditions,
                                      failed ? node_condition::degraded : node_condition::idle);
  return c ? time_of(c->last_transition_time) : std::nullopt;
}

std::string secret_problem(const pool_world& world) {
  if (!world.pool.spec.pull_secret) return {};
  if (world.secret.is != secret_state::kind::unknown)
    return problem_of(world.secret,
                      world.pool.spec.pull_secret->ns + "/" + world.pool.spec.pull_secret->name);
  // It is being asked for: what was wrong before stays until there is an answer.
  const condition* was = find_condition(world.pool.status.conditions, pool_condition::degraded);
  return was && was->reason == pool_reason::secret_error ? was->message : std::string();
}

/// Why one member of a rollout waits.
struct reasons {
  draft& d;
  const membership& all;
  const halt_rule& halt;
  const control_planes& quorum;
  const skew_rule& skew;

  void explain_skew(const member& m) const {
    const skew_rule::reason& why = skew.why(*m.skew);
    d.hold_back(m.name, why.kind, why.sentence, why.released_by);
  }

  void explain_drain(const member& m, const drain_progress& drain) const {
    if (drain.state == phase::failed)
      // At that hour this pass begins the attempt.
      return d.hold_back(m.name, hold_code::drain_failed, "its drain failed: " + drain.detail,
                         "the next attempt at " + in_words(drain.retry_at));
    // Until one works the drain counts as failed, so that neither code nor count flap with each
    // attempt.
    if (drain.failures > 0 && drain.state == phase::running) {
      const std::string now = obstacle_of(drain);
      return d.hold_back(m.name, hold_code::drain_failed,
                         "its drain failed: " + drain.last_failure + "; it is tried again" +
                             (now.empty() ? "" : ", and " + now) + where_not_ready(m),
                         "the attempt that is under way works");
    }
    if (const std::string refused = budgets_in(drain); !refused.empty())
      return d.hold_back(m.name, hold_code::pdb, refused + where_not_ready(m),
                         release_of_budgets(drain));
    d.hold_back(m.name, hold_code::draining,
                "it is being drained, " + left_of(drain) + where_not_ready(m), "its pods are gone");
  }

  void explain_policy(const member& m, const policy_hold& why) const {
    const auto kind = hold_code::of_policy_word(why.code);
    if (why.is_fault)
      d.hold_back(m.name, hold_code::policy_fault, std::string(policy_failed_text) + why.reason,
                  "the policy is corrected");
    else
      d.hold_back(m.name, kind, why.reason,
                  d.world.policy.look_again
                      ? "the policy is asked again at " + in_words(*d.world.policy.look_again)
                      : "the policy chooses it",
                  kind == hold_code::policy.code ? why.code : std::string());
    d.plan.holds.back().by = why.by.empty() ? d.world.policy.by : why.by;
    if (d.world.policy.look_again)
      d.plan.holds.back().asked_again = in_words(*d.world.policy.look_again);
  }

  void explain_staged(const member& m) const {
    if (m.slotted && !m.approved()) {
      if (m.skew) return explain_skew(m);
      if (d.plan.halted && (!m.drain || m.drain->state != phase::running))
        return d.hold_back(m.name, hold_code::halted,
                           "it holds a slot, but the rollout is halted: " + halt.why(),
                           halt.released_by());
      // Another process drains it; what holds that up is noted on the object.
      const auto noted = !m.drain && m.object ? note_of(*m.object) : std::nullopt;
      const bool is_of_drain =
          noted && (noted->code == hold_code::pdb || noted->code == hold_code::drain_failed ||
                    noted->code == hold_code::draining);
      const bool drains =
          m.drain ? m.drain->state == phase::running : d.world.only_looks && is_of_drain;
      if (d.is_braked() && !drains) return d.hold_for_brake(m.name);
      if (is_of_drain)
        return d.hold_back(m.name, *hold_code::find(noted->code), noted->sentence,
                           next_attempt_again(noted->released_by, d.world.now));
      return m.drain ? explain_drain(m, *m.drain)
                     : d.hold_back(m.name, hold_code::draining,
                                   "it is being drained, it begins now" + where_not_ready(m),
                                   "its pods are gone");
    }
    if (m.approved())
      return d.hold_back(m.name, hold_code::rebooting, "told to boot " + m.spec.desired_image,
                         "it reports the new image and is Ready");
    if (d.is_braked()) return d.hold_for_brake(m.name);
    if (m.refused_by) {
      const auto& [name, slotted] = quorum.refuser(*m.refused_by);
      return slotted
                 ? d.hold_back(m.name, hold_code::control_plane,
                               "control-plane node " + name + " holds a reboot slot",
                               name + " is back and Ready")
                 : d.hold_back(m.name, hold_code::control_plane,
                               "control-plane node " + name + " is not Ready", name + " is Ready");
    }
    if (m.trouble == "drain timed out") {
      const auto retry = time_of(m.annotation(names::drain_retry_at));
      std::string sentence = "its drain took longer than drainTimeoutSeconds";
      if (m.annotation(names::drain_within)) sentence += ", or than the policy allows";
      // Which pods were left is known to the pass that gave up; afterwards it stands in what that
      // one noted.
      const auto noted = m.object && !m.freed ? note_of(*m.object) : std::nullopt;
      if (noted && noted->code == hold_code::drain_timeout)
        sentence = noted->sentence;
      else if (!m.left_by_drain.empty())
        sentence += "; left: " + m.left_by_drain;
      return d.hold_back(
          m.name, hold_code::drain_timeout, std::move(sentence),
          retry && !m.freed ? next_attempt(*retry, d.world.now) : "the next attempt");
    }
    if (d.pool.spec.paused)
      return d.hold_back(m.name, hold_code::paused, "the pool is paused",
                         "spec.rollout.paused is false");
    if (m.skew) return explain_skew(m);
    if (d.plan.halted && !halt.is_policys())
      return d.hold_back(m.name, hold_code::halted, "the rollout is halted: " + halt.why(),
                         halt.released_by());
    if (d.world.policy.is == policy_answer::kind::failed)
      return d.hold_back(m.name, hold_code::policy_fault,
                         std::string(policy_failed_text) + d.world.policy.detail,
                         "the policy is corrected");
    if (d.world.policy.is == policy_answer::kind::given && (!m.named || halt.is_policys())) {
      const auto given = d.world.policy.holds.find(m.name);
      // A halt holds every node with the word of the policy that halts.
      const policy_hold why = halt.is_policys() ? *d.world.policy.halt
                              : given != d.world.policy.holds.end()
                                  ? given->second
                                  : policy_hold{{}, "the policy has not chosen it"};
      return explain_policy(m, why);
    }
    if (d.plan.capacity == 0)
      return d.hold_back(m.name, hold_code::slot_full, "maxUnavailable allows no node",
                         "spec.rollout.maxUnavailable is raised");
    d.hold_back(m.name, hold_code::slot_full,
                std::to_string(d.plan.occupied) + " of " + std::to_string(d.plan.capacity) +
                    " reboot slots are taken",
                "a node in a slot is updated and Ready");
  }

  void explain_unit(const member& m) const {
    if (m.fresh_slot && m.startable()) return;  // it goes now
    if (m.fresh_slot && d.world.assume_staged) return;
    if (!m.stuck.empty())
      return d.hold_back(
          m.name, hold_code::stuck,
          m.stuck + ", for more than " + reactor::format_duration(d.goal.stuck_after),
          "its daemon acts, or says what is wrong");
    if (m.trouble == not_back_text && m.state != unit_state::degraded)
      return d.hold_back(m.name, hold_code::reboot_timeout,
                         "it is not back from its reboot after " +
                             reactor::format_duration(*reboot_limit(d.pool.spec)) +
                             " (rebootTimeoutSeconds)",
                         "it reports the new image and is Ready");
    switch (m.state) {
      case unit_state::up_to_date:
        if (m.slotted)
          d.hold_back(m.name, hold_code::not_ready, "it runs the image, but the Node is not Ready",
                      "the Node is Ready");
        else if (m.name == d.world.policy.watched)
          if (const auto why = d.world.policy.holds.find(m.name); why != d.world.policy.holds.end())
            explain_policy(m, why->second);
        return;
      case unit_state::degraded: {
        const condition* why =
            m.object ? find_condition(m.object->status.conditions, node_condition::degraded)
                     : nullptr;
        const std::string said = why ? words_of(why->message) : std::string();
        // What did not boot once is not tried again by itself.
        const bool needs_other = why && why->message.find(not_on_target_text) != std::string::npos;
        return d.hold_back(
            m.name, hold_code::degraded, said.empty() ? "its daemon reports an error" : said,
            needs_other ? "another spec.image.ref" : "its daemon reports Degraded=False");
      }
      case unit_state::rebooting:
        return d.hold_back(m.name, hold_code::rebooting, "it reboots into " + m.spec.desired_image,
                           "it reports the new image and is Ready");
      case unit_state::staged: return explain_staged(m);
      case unit_state::pending:
      case unit_state::staging:
        if (d.world.assume_staged || m.stages_in_slot) return explain_staged(m);
        if (d.is_braked() && (m.waits_to_stage || !m.object)) return d.hold_for_brake(m.name);
        if (m.waits_to_stage)
          return d.hold_back(m.name, hold_code::staging_turn,
                             std::to_string(all.fetching()) +
                                 " nodes of the pool fetch the image, and " +
                                 std::to_string(d.goal.stages_at_once) + " may at once",
                             "one of them has fetched it");
        if (!m.object || (m.object->status.conditions.empty() && !m.object->status.booted))
          return d.hold_back(m.name, hold_code::no_daemon, "no daemon has reported for it yet",
                             "its daemon publishes a status");
        return d.hold_back(m.name, hold_code::staging,
                           "its daemon fetches " + m.spec.desired_image + how_far(*m.object),
                           "it reports the image as staged");
      case unit_state::unclassified:
        return d.hold_back(m.name, hold_code::invalid_spec, "its desired image cannot be read",
                           "the BootcNode is corrected");
    }
  }
};

/// Since when it waits for this: what was noted, else what its objects remember.
std::string since_when(const node_pool& pool, const member& m, const hold& h) {
  if (h.code == hold_code::braked) return h.since;
  if (is_of_policy(h.code)) {
    const auto known = std::ranges::find(pool.status.policy_waits, h.code, &policy_wait::code);
    return known == pool.status.policy_waits.end() ? std::string() : known->since;
  }
  if (!m.object) return {};
  std::optional<wall_time> at;
  if (const auto noted = note_of(*m.object); noted && noted->code == h.code)
    at = time_of(noted->since);
  else if (h.code == hold_code::degraded)
    at = since(m);
  else if (h.code == hold_code::rebooting || h.code == hold_code::reboot_timeout)
    at = time_of(m.annotation(names::approved_at));
  return at ? in_words(*at) : std::string();
}

}  // namespace

void explanation::add(const member& m, const rules& by) {
  show(m);
  const std::size_t before = draft_.plan.holds.size();
  reasons{draft_, by.all, by.halt, by.quorum, by.skew}.explain_unit(m);
  for (std::size_t h = before; h < draft_.plan.holds.size(); ++h)
    draft_.plan.holds[h].since = since_when(draft_.pool, m, draft_.plan.holds[h]);
}

void explanation::add_waiting(const bootc_node& object, const k8s::node* node) {
  member m;
  m.name = object.meta.name.str();
  m.node = node;
  m.object = &object;
  m.spec = object.spec;
  m.slotted = object.in_slot();
  m.state = classify(object);
  if (m.slotted) ++draft_.plan.occupied;
  counts_.add(m.state);
  show(m);
  if (!draft_.plan.holds.empty() && draft_.plan.holds.back().unit == m.name)
    draft_.plan.holds.back().since = since_when(draft_.pool, m, draft_.plan.holds.back());
}

void explanation::add_newcomer(const k8s::node& node) {
  member m;
  m.name = node.meta.name.str();
  m.node = &node;
  counts_.add(m.state);
  show(m);
}

void explanation::show(const member& m) {
  unit u;
  u.name = m.name;
  u.state = m.state;
  u.slotted = m.slotted;
  u.may_take_slot = m.startable();
  u.approved = m.approved();
  u.starting = m.fresh_slot;
  u.beyond_skew = m.skew.has_value();
  u.control_plane = m.node && is_control_plane(*m.node);
  u.ready = m.node && is_ready(*m.node);
  u.trouble = m.trouble;
  u.desired_image = words_of(m.waits_to_stage ? draft_.goal.pinned : m.spec.desired_image);
  u.since = since(m);
  if (m.node) {
    u.labels = m.node->meta.labels;
    u.annotations = m.node->meta.annotations;
    u.conditions = m.node->troubles;
  }
  if (m.object && m.object->status.booted) {
    u.booted_image = words_of(m.object->status.booted->image);
    u.booted_digest = words_of(m.object->status.booted->digest);
  }
  if (m.object)
    if (const condition* why =
            find_condition(m.object->status.conditions, node_condition::degraded))
      u.message = words_of(why->message);
  draft_.plan.units.push_back(std::move(u));
  if (m.object)
    if (const condition* idle = find_condition(m.object->status.conditions, node_condition::idle)) {
      if (draft_.goal.staging != staging_mode::unlocked &&
          idle->message.find(unlocked_text) != std::string::npos)
        unlocked_.push_back(m.name);
      if (idle->message.find(uncoordinated_text) != std::string::npos)
        uncoordinated_.push_back(m.name);
    }
}

void explanation::count_holds() {
  draft_.plan.counts = counts_;
  draft_.plan.counts.occupied = draft_.plan.occupied;
  draft_.plan.held = counted(draft_.plan.holds);
}

void explanation::count(const member& m) {
  counts_.add(m.trouble.empty() ? m.state : unit_state::degraded);
  if (m.state == unit_state::degraded)
    degraded_.push_back(m.name);
  else if (!m.trouble.empty())
    degraded_.push_back(m.name + " (" + m.trouble + ")");
}

void explanation::finish_status(const membership& all, const halt_rule& halt) {
  rollout_plan& plan = draft_.plan;
  const goal& goal = draft_.goal;
  const policy_answer& policy = draft_.world.policy;
  const auto by_node = [](const hold& a, const hold& b) {
    return std::tie(a.unit, a.code) < std::tie(b.unit, b.code);
  };
  const auto at = [&](std::size_t i) {
    return plan.holds.begin() + static_cast<std::ptrdiff_t>(i);
  };
  hold_ends_.push_back(plan.holds.size());
  for (std::size_t i = 1; i < hold_ends_.size(); ++i)
    std::inplace_merge(plan.holds.begin(), at(hold_ends_[i - 1]), at(hold_ends_[i]), by_node);
  count_holds();
  pool_findings found;
  found.target_digest = goal.target.digest;
  found.counts = plan.counts;
  found.held = plan.held;
  found.policy_waits = policy_waits_in(plan.holds, policy.look_again);
  if (!degraded_.empty())
    found.degradations.push_back(
        {pool_reason::node_degraded, "Degraded nodes: " + joined(std::move(degraded_))});
  if (!all.conflicting_pools().empty() || !all.unowned().empty()) {
    std::set<std::string> pools(all.conflicting_pools().begin(), all.conflicting_pools().end());
    std::string message;
    if (!pools.empty())
      message = "Node selector overlaps with pool(s): " + joined({pools.begin(), pools.end()});
    if (!all.unowned().empty())
      message += (message.empty() ? "" : "; ") +
                 ("BootcNode(s) that no pool owns: " + joined(all.unowned()));
    found.degradations.push_back({pool_reason::node_conflict, std::move(message)});
  }
  const bool failed = policy.is == policy_answer::kind::failed;
  if (const std::string& why = failed ? policy.detail : policy.fault; failed || !why.empty())
    found.degradations.push_back(
        {pool_reason::policy_fault, "The policy failed: " + words_of(why)});
  if (std::string problem = secret_problem(draft_.world); !problem.empty())
    found.degradations.push_back({pool_reason::secret_error, std::move(problem)});
  if (!goal.tag.error.empty())
    found.degradations.push_back({pool_reason::tag_resolution_error, goal.tag.error});
  found.tag = goal.tag;
  found.back = goal.back;
  found.is_watched = !policy.watched.empty();
  if (goal.returning)
    found.degradations.push_back({pool_reason::rollout_returned,
                                  goal.back.failed + " halted its rollout; the nodes go back to " +
                                      goal.back.ref + " until the pool names another image"});
  if (plan.halted) {
    std::string halted = "Rollout halted: " + halt.message();
    if (goal.on_failure == failure_answer::go_back && goal.back.ref.empty())
      halted += "; no host has an image that every node ran before, so none goes back";
    found.degradations.push_back(
        {pool_reason::rollout_halted, std::move(halted), halt.is_policys()});
  }
  if (!unlocked_.empty())
    plan.warnings.push_back(
        {"StagedUnlocked", "Staged without a lock, so that any reboot boots the new image: " +
                               joined(std::move(unlocked_))});
  if (!uncoordinated_.empty())
    plan.warnings.push_back(
        {"UncoordinatedReboots",
         "Rebooted by others too, outside of every slot: " + joined(std::move(uncoordinated_))});
  plan.status = status_after(draft_.pool, found, draft_.world.now);
}

}  // namespace bootc::planning
