#pragma once

#include "bootc/image_ref.hpp"
#include "bootc/names.hpp"
#include "bootc/rollout_planner.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The inside of the planner, shared by the files that hold its steps; everybody else calls plan_rollout().
namespace bootc::planning {

using reactor::wall_time;

/// The annotation as a time; nothing when it is absent or unreadable.
std::optional<wall_time> time_of(std::optional<std::string_view> annotation);

/// One owned BootcNode together with its Node, as it will be once the actions so far are carried out.
struct member {
  std::string name;
  const k8s::node* node = nullptr;
  const bootc_node* object = nullptr;  // null: created in this pass
  bootc_node_spec spec;
  unit_state state = unit_state::pending;
  bool slotted = false, fresh_slot = false, freed = false;
  std::string trouble;
  const drain_progress* drain = nullptr;

  bool approved() const { return spec.desired_state == image_state::booted; }
  std::string version() const {
    return object ? object->meta.resource_version.text() : std::string();
  }
  std::optional<std::string_view> annotation(std::string_view key) const {
    return object ? object->annotation(key) : std::nullopt;
  }
  bool was_schedulable() const { return annotation(names::was_cordoned) == "false"; }
};

/// One pass over one pool: the steps in their order, and what they hand on to each other.
class pass {
public:
  explicit pass(const pool_world& world) : world_(world), pool_(world.pool) {}
  rollout_plan run();

private:
  bool validate();
  void find_members();
  void release_leaving();
  void release(const bootc_node& object, const k8s::node* node);
  void join(const k8s::node& node);
  void sync(member& m);
  void release_pool();
  bool is_back(const bootc_node& object, const k8s::node& node) const;
  void classify_members();
  void settle_drain(member& m);
  void stop_after_timeout(member& m);
  void note_reboot_timeouts();
  void free_finished();
  void check_halt();
  void assign_slots();
  std::optional<hold> refuse_control_plane(const member& m);
  void keep_cordoned();
  void start_drains();
  void explain();
  void explain(const member& m);
  void explain_staged(const member& m);
  void finish_status();

  action& act(action_kind kind, std::string node);
  action& act(action_kind kind, const member& m);
  void hold_back(std::string node, std::string_view code, std::string sentence,
                 std::string released_by);
  void look_again(wall_time when) {
    if (when > world_.now && (!plan_.look_again || when < *plan_.look_again))
      plan_.look_again = when;
  }
  const k8s::node* node_named(std::string_view name) const;
  bool owned(const bootc_node& b) const {
    return b.meta.owner && b.meta.owner.uid == pool_.meta.uid;
  }

  const pool_world& world_;
  const node_pool& pool_;
  rollout_plan plan_;
  image_ref target_;
  std::vector<member> members_;
  std::vector<std::string> conflicting_pools_, unowned_;
  std::map<std::string, hold, std::less<>> refused_;  // staged, but not this time: why
  std::vector<std::string> unhealthy_;
  std::string invalid_;
};

}  // namespace bootc::planning
