#include "bootc/pool/planning/draft.hpp"

#include <algorithm>
#include <utility>

namespace bootc::planning {

std::optional<wall_time> time_of(std::optional<std::string_view> annotation) {
  if (!annotation) return std::nullopt;
  auto parsed = reactor::parse_rfc3339(*annotation);
  if (!parsed) return std::nullopt;
  return *parsed;
}

action& draft::act(action_kind kind, std::string node) {
  action& a = plan.actions.emplace_back();
  a.kind = kind;
  if (writes_node(kind)) {
    const auto at = std::lower_bound(
        world.nodes.begin(), world.nodes.end(), node,
        [](const k8s::node* n, const std::string& name) { return n->meta.name < name; });
    if (at != world.nodes.end() && (*at)->meta.name == node)
      a.resource_version = (*at)->meta.resource_version.text();
  }
  a.node = std::move(node);
  return a;
}

action& draft::act(action_kind kind, const member& m) {
  action& a = act(kind, m.name);
  a.slotted = m.slotted;
  a.resource_version = m.version();
  a.spec = m.spec;
  return a;
}

void draft::hold_back(std::string node, const hold_code::hold_kind& kind, std::string sentence,
                      std::string released_by, std::string_view word) {
  if (!world.other_operator.empty() && !world.stale) {
    plan.holds.push_back({std::move(node), std::string(hold_code::other_operator),
                          world.other_operator + " works on this cluster: it keeps the Lease " +
                              std::string(names::lease),
                          "that operator ends, or its Lease does"});
    return;
  }
  // Nothing is decided on an old view, so nothing else holds anybody.
  plan.holds.push_back(
      world.stale
          ? hold{std::move(node), std::string(hold_code::stale_cluster),
                 "the view of its cluster is old", "the cluster answers again"}
          : hold{std::move(node),
                 std::string(kind.code) + (word.empty() ? std::string() : ":" + std::string(word)),
                 std::move(sentence), std::move(released_by)});
}

void draft::hold_for_brake(std::string node) {
  const units::stop& why = *world.braked;
  std::string sentence = why.sentence;
  if (!world.override_void.empty())
    sentence += "; the order to override it does nothing: " + world.override_void;
  hold_back(std::move(node), *hold_code::find(why.code), std::move(sentence), why.released_by);
  hold& said = plan.holds.back();
  if (said.code != why.code) return;
  said.since = why.since;
  said.asked_again = why.asked_again;
}

member* member_named(std::vector<member>& members, std::string_view name) {
  const auto at = std::lower_bound(members.begin(), members.end(), name,
                                   [](const member& m, std::string_view n) { return m.name < n; });
  return at != members.end() && at->name == name ? &*at : nullptr;
}

void draft::unshield(const std::string& name, const k8s::node& node, node_shield ours) {
  ours.do_not_repair &= node.meta.annotations.get(names::do_not_repair) == "true";
  ours.do_not_disrupt &= node.meta.annotations.get(names::do_not_disrupt) == "true";
  if (ours.any()) act(action_kind::unshield, name).shield = ours;
}

}  // namespace bootc::planning
