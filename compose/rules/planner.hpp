#pragma once

#include "compose/rules/answer.hpp"

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace policies::compose {

/// One write. `of` is the child or the parent; what it was decided on goes with it, so that a newer
/// object refuses it.
struct action {
  enum class kind {
    add_finalizer,     // of the parent, by a merge patch
    create,            // body, with data and asks of a Secret
    apply,             // server-side, of body
    patch,             // a merge patch of body, with data and asks of a Secret
    remove,            // with uid and resource_version
    set_status,        // a merge patch of the parent's status
    remove_finalizer,  // of the parent, by a merge patch
  };
  kind what;
  object_name of;
  std::string uid, resource_version;
  value body;
  std::map<std::string, std::string> data;  // of a Secret, in clear
  std::map<std::string, asked_value> asks;
  std::string asked;               // digest of what it brings about
  std::vector<std::string> lines;  // what differs, for people
  /// What the pack wants told of it; the message of `failed` lacks the server's words. An empty
  /// reason: nothing.
  stated_event done, failed;
};
std::string_view verb(action::kind k) noexcept;

/// Why a child, or all of them, are not as the hook wants.
struct hold {
  std::string code, child, sentence, released_by;
  friend bool operator==(const hold&, const hold&) = default;
};
namespace hold_code {
inline constexpr std::string_view conflict = "conflict", claimed = "claimed",
                                  waits_for_input = "waits-for-input",
                                  waits_for_source = "waits-for-source", ending = "ending",
                                  scope = "scope", circle = "circle", paused = "paused",
                                  policy = "policy", policy_fault = "policy-fault",
                                  missing_kind = "missing-kind", write_failed = "write-failed";
inline constexpr std::array all = {conflict, claimed,      waits_for_input, waits_for_source,
                                   ending,   scope,        circle,          paused,
                                   policy,   policy_fault, missing_kind,    write_failed};
}  // namespace hold_code

struct sync_plan {
  std::vector<action> actions;  // in order
  std::vector<hold> holds;
  std::vector<stated_event> events;  // of the answer, and conflicts
  bool lacks_a_child = false;        // one that should exist does not, and is held
  reactor::nanoseconds look_again{0};
  bool idle() const { return actions.empty(); }
};

/// Another custom resource of the pack's kinds.
struct sibling {
  object_name id;
  std::string uid;
  double created = 0;
};
/// Of two that ask for one child the older has it: by creation, then by name.
bool is_older(const sibling& a, const sibling& b);

/// What a write was for and what the object was then: if nothing of that changed since, the same
/// write changes nothing either, however its object reads (a server rewrites quantities, prunes
/// fields).
struct settled_write {
  std::string asked, content;
  friend bool operator==(const settled_write&, const settled_write&) = default;
};
/// Digest of what an object says beside its status and versions; of a parent, of its status.
std::string content_of(const object& o);
std::string status_content_of(const object& parent);

/// All that a plan depends on.
struct sync_input {
  std::shared_ptr<const declaration> about;
  std::shared_ptr<const object> parent;
  /// What the answer names, what it copies from and takes as input, and all that is marked as ours
  /// and owned by the parent.
  std::map<object_name, std::shared_ptr<const object>> live;
  std::map<object_name, sibling> claims;   // the oldest other parent that asks for that child
  std::map<std::string, sibling> parents;  // all others there are, by uid
  std::map<object_name, settled_write> settled;
  std::map<object_name, std::string> refused;  // what the server said to the last write of it
  std::set<kind_name> without_namespace;
  std::string data_problem;  // of the pack's files
  reactor::wall_time now{};
};

/// Parent, children as they are, the hook's answer and what we last wrote → what is to be done.
/// Pure.
/// Safety   for every answer: only declared kinds are touched; what belongs to others is
///          not; nothing that was generated is generated again; only what is marked and owned is
///          deleted; after the actions the same answer plans none; the parent does not report
///          that it is ready (condition Ready, field isReady) while a child that should exist does
///          not.
sync_plan plan_sync(const sync_input& s, const sync_answer& a);
/// Whether it carries the finalizer of its kind, so that its end waits for us.
bool is_kept_by_its_finalizer(const object& parent, const declaration& about);

/// The hook failed, or what it was to be given is not there: the status says so and nothing else
/// happens.
sync_plan plan_fault(const sync_input& s, std::string_view code, std::string_view sentence,
                     std::string_view released_by = "a newer policy, or what it stumbled over");

/// The parent's own condition by its type; null: none.
const value* condition_of(const object& parent, std::string_view type);

}  // namespace policies::compose
