#pragma once

#include "bootc/kinds/names.hpp"
#include "bootc/pool/pool_status.hpp"
#include "bootc/pool/rollout_planner.hpp"
#include "registry/image_ref.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The inside of the planner, shared by the files that hold its steps; everybody else calls
/// plan_rollout().
namespace bootc::planning {

using hold_code::hold_kind;
using registry::image_ref;

using reactor::wall_time;

/// The annotation as a time; nothing when it is absent or unreadable.
std::optional<wall_time> time_of(std::optional<std::string_view> annotation);

/// What a member's `trouble` says of a reboot that takes longer than the pool allows.
inline constexpr std::string_view not_back_text = "not back from its reboot";

/// One owned BootcNode together with its Node, as it will be once the actions so far are carried
/// out.
struct member {
  std::string name;
  const k8s::node* node = nullptr;
  const bootc_node* object = nullptr;  // null: created in this pass
  bootc_node_spec spec;
  unit_state state = unit_state::pending;
  bool slotted = false, fresh_slot = false, freed = false;
  bool may_start = false;                 // it waits for nothing but a slot
  bool waits_to_stage = false;            // it keeps the image that it was told before, for now
  bool stages_in_slot = false;            // its daemon says that it stages once it is told to boot
  node_shield taken;                      // with a fresh slot
  bool named = false;                     // the policy says that it may start
  std::optional<std::size_t> refused_by;  // staged, but not this time: which of the pass's refusers
  std::string trouble;
  std::string stuck;          // what it should have done long ago
  std::string left_by_drain;  // pods, after one that took too long
  const drain_progress* drain = nullptr;

  /// Ready to be drained, or drained already.
  bool startable() const { return state == unit_state::staged || stages_in_slot; }
  bool approved() const { return spec.desired_state == image_state::booted; }
  std::string version() const {
    return object ? object->meta.resource_version.text() : std::string();
  }
  std::optional<std::string_view> annotation(std::string_view key) const {
    return object ? object->annotation(key) : std::nullopt;
  }
  /// Of Karpenter's annotations, those that are ours: as noted, or as this pass notes them.
  node_shield shield() const {
    return fresh_slot ? taken
                      : node_shield{annotation(names::owns_do_not_repair) == "true",
                                    annotation(names::owns_do_not_disrupt) == "true"};
  }
  bool was_schedulable() const { return annotation(names::was_cordoned) == "false"; }
  /// As it stands on the server, not as this pass will write it.
  bool is_told_to_boot() const {
    return object && object->spec.desired_state == image_state::booted && approved();
  }
};

/// Finds objects among others that are sorted by name; to be asked in the order of names.
template <class View>
class in_order {
public:
  explicit in_order(const std::vector<const View*>& all) : all_(all) {}
  template <class Name>
  const View* find(const Name& name) {
    while (at_ < all_.size() && all_[at_]->meta.name < name) ++at_;
    return at_ < all_.size() && all_[at_]->meta.name == name ? all_[at_] : nullptr;
  }

private:
  const std::vector<const View*>& all_;
  std::size_t at_ = 0;
};

/// One pass over one pool: a table of walks, each a step for every node, BootcNode or member, so
/// that it can be interrupted anywhere. What the walks hand on to each other are its members.
class pass {
public:
  explicit pass(const pool_world& world)
      : world_(world),
        pool_(world.pool),
        objects_by_name_(world.bootc_nodes),
        nodes_by_name_(world.nodes) {}
  bool advance(std::size_t steps);
  rollout_plan take() { return std::move(plan_); }
  bool give_back(std::size_t nodes) {
    members_.erase(members_.end() - static_cast<std::ptrdiff_t>(std::min(nodes, members_.size())),
                   members_.end());
    return members_.empty();
  }

private:
  struct walk {
    std::size_t (pass::*count)() const;
    void (pass::*step)(std::size_t i);
    void (pass::*end)() = nullptr;  // after the last step
  };
  static const std::vector<walk> rollout, release, refusal;
  std::size_t nodes() const { return world_.nodes.size(); }
  std::size_t objects() const { return world_.bootc_nodes.size(); }
  std::size_t members() const { return members_.size(); }
  std::size_t named() const;
  std::size_t waiting() const { return waiting_.size(); }

  const std::vector<walk>& begin();
  bool validate();
  bool resolve();
  bool was_refused_elsewhere() const;
  void turn_back();
  std::string image_before() const;
  void read_annotations();
  std::string hash_for(const std::string& before) const;
  std::string secret_problem() const;
  void find_member(std::size_t i);
  bool is_fetching(const bootc_node& b, const k8s::node& node);
  bool may_fetch(const member& m);
  void release_if_leaving(std::size_t i);
  void release_with_pool(std::size_t i);
  void finish_release();
  void refuse(std::size_t i);
  void refuse_newcomer(std::size_t i);
  void hold_for_refusal(std::string node);
  void finish_refusal();
  void release_node(const bootc_node& object, const k8s::node* node);
  void unshield(const std::string& name, const k8s::node& node, node_shield ours);
  void join(const k8s::node& node);
  void sync(std::size_t i);
  bool is_back(const bootc_node& object, const k8s::node& node) const;
  void classify_member(std::size_t i);
  bool says_it_stages_in_slot(const member& m) const;
  void settle_drain(member& m);
  void stop_after_timeout(member& m);
  void note_reboot_timeout(std::size_t i);
  void note_stuck(std::size_t i);
  void free_if_finished(std::size_t i);
  bool has_failed_its_reboot(const member& m) const;
  void look_for_trouble(std::size_t i);
  void judge_halt();
  void count_slots(std::size_t i);
  void judge_slots();
  void note_waiting(std::size_t i);
  void take_wish(std::size_t i);
  void note_control_plane(std::size_t i);
  void give_slot(std::size_t i);
  bool refuse_control_plane(member& m);
  bool holds_slot(const k8s::node& n) const;
  void keep_cordoned(std::size_t i);
  void start_drain(std::size_t i);
  void explain(std::size_t i);
  void show(const member& m);
  void show_waiting(const bootc_node& object, const k8s::node* node);
  std::string since_when(const member& m, const hold& h) const;
  void explain_unit(const member& m);
  void explain_staged(const member& m);
  void explain_drain(const member& m, const drain_progress& d);
  void count(std::size_t i);
  void end_of_holds() { hold_ends_.push_back(plan_.holds.size()); }
  void finish_status();
  void finish();

  action& act(action_kind kind, std::string node);
  action& act(action_kind kind, const member& m);
  /// `word`: a policy's own, behind the code.
  void hold_back(std::string node, const hold_kind& kind, std::string sentence,
                 std::string released_by, std::string_view word = {});
  void look_again(wall_time when) {
    if (when > world_.now && (!plan_.look_again || when < *plan_.look_again))
      plan_.look_again = when;
  }
  member* member_named(std::string_view name);
  void count_holds();
  bool owned(const bootc_node& b) const {
    return b.meta.owner && b.meta.owner.uid == pool_.meta.uid;
  }

  /// Everything is shown, nothing is done.
  bool only_looks() const { return world_.stale || !world_.other_operator.empty(); }

  const pool_world& world_;
  const node_pool& pool_;
  rollout_plan plan_;
  const std::vector<walk>* walks_ = nullptr;
  std::size_t walk_ = 0, step_ = 0;  // where it is
  in_order<bootc_node> objects_by_name_;
  in_order<k8s::node> nodes_by_name_;
  image_ref target_;
  std::string pinned_;  // the image that all members shall run
  staging_mode staging_ = staging_mode::locked;
  reactor::nanoseconds stuck_after_{};
  std::size_t stages_at_once_ = 0, fetching_ = 0;  // 0 = as many as there are
  std::vector<member> members_;                    // sorted by name
  std::vector<std::string> conflicting_pools_, unowned_;
  std::vector<std::string> unhealthy_, degraded_;
  // staged without lock; rebooted by others too
  std::vector<std::string> unlocked_, uncoordinated_;
  std::string unhealthy_text_, invalid_;
  std::string unresolved_;  // why the tag's digest is not known
  std::string to_agree_;    // what a person does so that a tag is followed that was refused before
  tag_findings tag_;
  failure_answer on_failure_ = failure_answer::halt;
  way_back back_;
  bool returning_ = false;  // the target is the image before
  std::size_t with_object_ = 0, free_ = 0;
  std::vector<member*> waiting_;  // for a slot, in the order in which they get one
  census counts_;
  std::vector<std::size_t> hold_ends_;  // of the walks that made holds, each in the order of names
  struct disturbed {
    std::string name;
    bool slotted;
    friend bool operator==(const disturbed&, const disturbed&) = default;
  };
  std::size_t control_planes_ = 0;
  std::vector<disturbed> refusers_;   // control-plane nodes for which others wait
  std::vector<disturbed> disturbed_;  // those of them that may not be joined; sorted by name
  bool pool_has_members_ = false;     // as it is deleted
  // of a refused pool: those with a BootcNode come first, then those without
  std::size_t refused_units_ = 0, refused_holds_ = 0;
};

}  // namespace bootc::planning
