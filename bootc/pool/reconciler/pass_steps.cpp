#include "bootc/pool/reconciler/pass_steps.hpp"

#include <algorithm>
#include <string_view>

namespace bootc {

bool is_unanswered(const k8s::fault& f) noexcept {
  return f.http_status == 0 || f.http_status >= 500;
}

bool frees_slot(action_kind k) noexcept {
  return k == action_kind::free_slot || k == action_kind::note_drain_timeout ||
         k == action_kind::delete_node;
}

bool takes_notes(action_kind k) noexcept {
  switch (k) {
    case action_kind::sync_spec:
    case action_kind::take_slot:
    case action_kind::free_slot:
    case action_kind::note_drain_timeout:
    case action_kind::approve:
    case action_kind::note_approval: return true;
    default: return false;
  }
}

void disturbed_first(std::vector<action>& all) {
  std::set<std::string_view> first;
  for (const action& a : all)
    if (a.kind == action_kind::approve || a.kind == action_kind::start_drain) first.insert(a.node);
  // One that takes its slot now comes after those that give theirs back.
  for (const action& a : all)
    if (a.kind == action_kind::take_slot) first.erase(a.node);
  if (first.empty()) return;
  std::set<std::string> kept(first.begin(), first.end());
  std::ranges::stable_partition(
      all, [&](const action& a) { return a.node.empty() || kept.contains(a.node); });
}

bool pass_steps::takes_slots() const noexcept {
  return std::ranges::any_of(actions_,
                             [](const action& a) { return a.kind == action_kind::take_slot; });
}

void pass_steps::take_no_slot(std::optional<k8s::fault> why) {
  if (!failure_) failure_ = std::move(why);
  for (const action& a : actions_)
    if (a.kind == action_kind::take_slot) stopped_.insert(a.node);
}

const action* pass_steps::next() {
  for (; at_ < actions_.size(); ++at_) {
    action& a = actions_[at_];
    if (stopped_.contains(a.node)) continue;
    if (a.kind == action_kind::take_slot && lost_slots_ > 0) {
      --lost_slots_;
      stopped_.insert(a.node);
      continue;
    }
    const auto& written = versions_of(a);
    if (const auto newer = written.find(a.node); newer != written.end())
      a.resource_version = newer->second;
    return &a;
  }
  return nullptr;
}

void pass_steps::made(const std::string& version) {
  const action& a = actions_[at_++];
  if (!version.empty()) versions_of(a)[a.node] = version;
  if (frees_slot(a.kind)) giving_back_.erase(a.node);
}

bool pass_steps::failed(const k8s::fault& why) {
  const action& a = actions_[at_++];
  if (!failure_) failure_ = why;
  stopped_.insert(a.node);
  lost_slots_ += giving_back_.erase(a.node);
  return !why.cancelled && !a.node.empty();
}

std::string pass_steps::pool_version() const {
  const auto written = bootc_nodes_.find("");
  return written == bootc_nodes_.end() ? std::string() : written->second;
}

std::map<std::string, std::string>& pass_steps::versions_of(const action& a) {
  return writes_node(a.kind) ? nodes_ : bootc_nodes_;
}

}  // namespace bootc
