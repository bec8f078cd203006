#pragma once

#include "bootc/kinds/names.hpp"
#include "bootc/pool/rollout_plan.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bootc::planning {

using reactor::wall_time;

/// The annotation as a time; nothing when it is absent or unreadable.
std::optional<wall_time> time_of(std::optional<std::string_view> annotation);

/// What a member's `trouble` says of a reboot that takes longer than the pool allows.
inline constexpr std::string_view not_back_text = "not back from its reboot";

/// A control-plane node for which others wait: it holds a slot, or is not Ready.
struct disturbed_node {
  std::string name;
  bool slotted = false;
  friend bool operator==(const disturbed_node&, const disturbed_node&) = default;
};

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
  std::optional<std::size_t> refused_by;  // staged, but not this time: see control_planes::refuser
  std::optional<std::size_t> skew;        // its move breaks the version skew: see skew_rule::why
  bool moved_beyond = false;              // it runs the target, which breaks the version skew
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

/// The one of that name among members that are sorted by name; null when there is none.
member* member_named(std::vector<member>& members, std::string_view name);

}  // namespace bootc::planning
