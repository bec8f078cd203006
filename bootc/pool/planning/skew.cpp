#include "bootc/pool/planning/skew.hpp"

#include "bootc/kinds/cluster_node.hpp"
#include "bootc/pool/events/hold_note.hpp"

#include <utility>

namespace bootc::planning {
namespace {

using k8s::skew::broken_rule;
using k8s::skew::part;

/// A new answer of an API server wakes no pass.
constexpr reactor::nanoseconds look_at_servers_again = std::chrono::minutes(1);
constexpr const char* release_of_skew =
    "the cluster's versions allow it, or spec.image.ref names another image";

/// Runs the target, and what its kubelet says of itself is from after the reboot.
bool runs_target(const draft& d, const k8s::node& node, const bootc_node* object) {
  if (!object || !object->status.booted || !is_ready(node)) return false;
  const auto before = object->annotation(names::approved_boot_id);
  return is_image(*object->status.booted, d.goal.target.digest) &&
         !(before && node.boot_id == *before);
}

/// What the node comes back with, where it holds a slot and that is known.
std::optional<k8s::skew::version> on_its_way(const pool_world& world, const bootc_node* object) {
  if (!object || !object->in_slot()) return std::nullopt;
  const std::string& image = object->spec.desired_image;
  const std::size_t at = image.find('@');
  if (at == image.npos) return std::nullopt;
  const auto known = world.kubernetes.images.find(std::string_view(image).substr(at + 1));
  if (known == world.kubernetes.images.end()) return std::nullopt;
  return k8s::skew::parse_version(known->second.version);
}

/// What the Release says whose image the pool's reference is; empty where it is of another one.
std::string version_of_release(const node_pool& pool) {
  const std::string_view noted = pool.meta.annotations.get(names::kubernetes);
  const std::size_t blank = noted.find(' ');
  return blank != noted.npos && noted.substr(blank + 1) == pool.spec.image_ref
             ? std::string(noted.substr(0, blank))
             : std::string();
}

}  // namespace

void skew_rule::range::add(const said& one) {
  if (!oldest || one.is.minor < oldest->is.minor) oldest = one;
  if (!newest || one.is.minor > newest->is.minor) newest = one;
}

bool skew_rule::brings_server(const draft& d, const k8s::node& node) {
  return is_control_plane(node) &&
         !d.world.kubernetes.static_servers.contains(node.meta.name.str());
}

void skew_rule::look_at(const draft& d, const k8s::node& node, const bootc_node* object) {
  const std::string& name = node.meta.name.str();
  const bool brings = brings_server(d, node);
  // A command that only looks asks no registry; of each pool the service notes on one node what it
  // found out.
  if (d.world.kubernetes.are_noted && object && d.owns(*object) &&
      object->spec.desired_image == d.goal.pinned)
    if (const auto noted = note_of(*object))
      for (const hold_code::hold_kind& kind : {hold_code::version_skew, hold_code::removed_apis})
        if (noted->code == kind.code) noted_ = {kind, noted->sentence, noted->released_by};
  const auto kubelet = k8s::skew::parse_version(node.kubelet_version);
  const auto proxy = k8s::skew::parse_version(node.kube_proxy_version);
  if (kubelet && brings)
    control_planes_.push_back({*kubelet, name});
  else if (kubelet)
    kubelets_.add({*kubelet, name});
  if (proxy && !brings) proxies_.add({*proxy, name});
  // What is on its way comes back with another version.
  if (const auto coming = on_its_way(d.world, object)) {
    if (brings)
      control_planes_.push_back({*coming, name});
    else
      kubelets_.add({*coming, name});
  }
  // The newest counts: a node may still show what it ran before.
  if (kubelet && runs_target(d, node, object) && (!booted_ || kubelet->minor > booted_->is.minor))
    booted_ = said{*kubelet, name};
}

void skew_rule::judge(draft& d) {
  const pool_world& world = d.world;
  for (const auto& [node, text] : world.kubernetes.static_servers)
    if (auto version = k8s::skew::parse_version(text))
      servers_.push_back({*std::move(version), "the API server on node " + node});
  for (const std::string& text : world.kubernetes.servers)
    if (auto version = k8s::skew::parse_version(text))
      servers_.push_back({*std::move(version), "an API server"});
  std::optional<said> claimed;
  if (!d.goal.returning)
    if (auto version = k8s::skew::parse_version(version_of_release(d.pool)))
      claimed = said{*std::move(version), "the Release"};
  const auto known = world.kubernetes.images.find(d.goal.target.digest);
  if (!claimed && known != world.kubernetes.images.end()) {
    is_asking_ = known->second.is_asking;
    if (auto version = k8s::skew::parse_version(known->second.version))
      claimed = said{*std::move(version), known->second.by};
  }
  image_ = booted_ ? booted_ : claimed;
  if (booted_) is_asking_ = false;
  kubernetes_versions& shown = d.plan.kubernetes;
  if (image_) shown.image = image_->is.text;
  if (booted_) shown.booted_on = booted_->by;
  range of_servers;
  for (const auto* some : {&servers_, &control_planes_})
    for (const said& one : *some) of_servers.add(one);
  if (of_servers.oldest) shown.oldest = of_servers.oldest->is.text;
  if (of_servers.newest) shown.newest = of_servers.newest->is.text;
  if (booted_ && claimed && booted_->is.minor != claimed->is.minor) {
    shown.contradiction = claimed->by + " says that the image carries Kubernetes " +
                          claimed->is.text + ", but node " + booted_->by + " runs it as " +
                          booted_->is.text + ", which counts";
    d.plan.warnings.push_back({"ImageVersionDiffers", shown.contradiction});
  }
}

std::string skew_rule::sentence(const k8s::skew::rule& broken, const said& beside) const {
  return "its image carries Kubernetes " + image_->is.text + " (" +
         (booted_ ? "node " + image_->by + " runs it" : image_->by) + "), and " + beside.by +
         " runs " + beside.is.text + ": " + std::string(broken.says);
}

std::string skew_rule::broken_by_worker(const k8s::node& node) const {
  const unsigned target = image_->is.minor;
  for (const said& server : servers_)
    if (const auto* r = broken_rule(part::kubelet, target, part::api_server, server.is.minor))
      return sentence(*r, server);
  for (const said& plane : control_planes_) {
    const bool is_newer = target > plane.is.minor;
    if (const auto* r =
            broken_rule(part::kubelet, target, is_newer ? part::control_plane : part::api_server,
                        plane.is.minor))
      return sentence(*r, {plane.is, "control-plane node " + plane.by});
  }
  // A server before 1.31 repeats the kubelet's version there, which says nothing of a kube-proxy.
  const auto proxy = k8s::skew::parse_version(node.kube_proxy_version);
  if (proxy && node.kube_proxy_version != node.kubelet_version)
    if (const auto* r = broken_rule(part::kube_proxy, proxy->minor, part::kubelet, target))
      return sentence(*r, {*proxy, "its kube-proxy"});
  return {};
}

std::string skew_rule::broken_by_control_plane(const k8s::node& node) const {
  const unsigned target = image_->is.minor;
  if (const auto former = k8s::skew::parse_version(node.kubelet_version))
    if (const auto* r = broken_rule(part::control_plane, target, part::former, former->minor))
      return sentence(*r, {*former, "the node"});
  for (const said& plane : control_planes_)
    if (node.meta.name != plane.by)
      if (const auto* r = broken_rule(part::api_server, target, part::api_server, plane.is.minor))
        return sentence(*r, {plane.is, "control-plane node " + plane.by});
  for (const said& server : servers_)
    if (const auto* r = broken_rule(part::api_server, target, part::api_server, server.is.minor))
      return sentence(*r, server);
  for (const auto& [of, all] :
       {std::pair(part::kubelet, &kubelets_), {part::kube_proxy, &proxies_}})
    for (const auto& one : {all->oldest, all->newest})
      if (one)
        if (const auto* r = broken_rule(of, one->is.minor, part::api_server, target))
          return sentence(*r, {one->is, "node " + one->by});
  return {};
}

void skew_rule::give_reason(member& m, reason why) {
  if (reasons_.empty() || reasons_.back().sentence != why.sentence)
    reasons_.push_back(std::move(why));
  m.skew = reasons_.size() - 1;
}

void skew_rule::judge_upgrade(draft& d, member& m) {
  const kubernetes_facts& facts = d.world.kubernetes;
  const auto oldest = k8s::skew::parse_version(d.plan.kubernetes.oldest);
  if (!facts.are_gated || !brings_server(d, *m.node) || !oldest ||
      image_->is.minor <= oldest->minor)
    return;
  const minor_step step{oldest->minor, image_->is.minor};
  d.plan.kubernetes.asks = step;
  const units::upgrade_answer& said = facts.answer;
  if (facts.asked != step)
    return give_reason(m,
                       {hold_code::removed_apis, "the cluster is about to be looked at", "it was"});
  if (said.is == units::upgrade_answer::kind::fine) return;
  d.look_again(d.world.now + said.again_in);
  give_reason(m, {hold_code::removed_apis, said.sentence, said.released_by});
}

void skew_rule::judge(draft& d, member& m) {
  const bool is_there = m.object && m.object->status.booted &&
                        is_image(*m.object->status.booted, d.goal.target.digest);
  if (!image_) {
    if (is_there) return;
    if (is_asking_)
      return give_reason(m,
                         {hold_code::version_lookup, std::string(hold_code::version_lookup.meaning),
                          std::string(hold_code::version_lookup.released)});
    if (!noted_.sentence.empty()) give_reason(m, noted_);
    return;
  }
  const bool brings = brings_server(d, *m.node);
  std::string broken = brings ? broken_by_control_plane(*m.node) : broken_by_worker(*m.node);
  if (broken.empty()) {
    if (!is_there) judge_upgrade(d, m);
    return;
  }
  d.look_again(d.world.now + look_at_servers_again);
  if (!is_there)
    return give_reason(m, {hold_code::version_skew, std::move(broken), release_of_skew});
  // Known only since this node runs it. A pool that arrived is left alone: the others moved.
  if (!brings && d.pool.status.deployed_digest != d.goal.target.digest) m.moved_beyond = true;
}

}  // namespace bootc::planning
