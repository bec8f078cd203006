#pragma once

#include "helm/go.hpp"
#include "helm/release/record.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::release {

/// What actions decide without asking anyone. A history is oldest first.
using history = std::vector<record>;

inline constexpr const char* not_found_text = "release: not found";
inline constexpr const char* exists_text = "release: already exists";
inline constexpr const char* pending_text =
    "another operation (install/upgrade/rollback) is in progress";
/// `"web" has no deployed releases`
std::string no_deployed_text(const std::string& name);

/// By revision, oldest first.
void sort_history(history& h);
/// Null when there is none. If several are deployed, the highest counts.
const record* newest_deployed(const history& h);
const record* find_revision(const history& h, int revision);

/// Empties all but the newest and the newest deployed one, from which alone an action starts: what
/// is left of the others are names, states and times. So a history takes as much memory as two
/// revisions, however many there are.
void keep_what_counts(history& h);

/// Revisions to delete before one more is stored, so that `limit` remain; 0 means no limit. Never
/// the newest deployed.
std::vector<int> revisions_to_prune(const history& h, int limit);

/// The revision an upgrade starts from.
/// Errors   no deployed release, an operation in progress.
outcome<const record*> upgrade_base(const history& h, const std::string& name);

/// What the user said about values of the release that is there.
enum class reuse : std::uint8_t { unless_given, reset, keep, reset_then_keep };
struct chosen_values {
  value config;                       // of the new revision
  std::optional<value> chart_values;  // instead of the new chart's own
};
outcome<chosen_values> choose_values(reuse how, const record& current, value given,
                                     const std::function<void(const std::string&)>& warn);

using label_map = std::map<std::string, std::string>;
/// `desired` over `current`; the text "null" takes a label away.
label_map merge_labels(const label_map& current, const label_map& desired);
/// Labels that say what a record is; users may not set them.
bool is_system_label(std::string_view name);
label_map without_system_labels(const label_map& all);
std::optional<std::string> label_problem(const label_map& given);

/// Positions of the hooks of an event, in the order in which they run.
std::vector<std::size_t> hooks_for(const std::vector<recorded_hook>& all, std::string_view event);
bool has_policy(const hook& h, std::string_view policy);

struct uninstall_split {
  std::string kept;    // "[ConfigMap] a\n" for every object that stays
  std::string doomed;  // the documents to delete, in the order in which to do it
};
/// Errors   "corrupted release record. You must manually delete the resources: …"
outcome<uninstall_split> split_for_uninstall(const std::string& manifest);

// Recovery of what a process that died left behind.

/// Labels of a record whose action is under way: who works on it, and until when (Unix seconds) at
/// most.
inline constexpr const char* instance_label = "windlass.dev/instance";
inline constexpr const char* deadline_label = "windlass.dev/deadline";
/// Whether a pending record is ours and no process can be working on it any more.
bool is_abandoned(const record& r, std::string_view instance, std::int64_t now_seconds);
/// The description of a record whose action ended early.
std::string failed_description(const record& r, std::string_view why);

// list

struct list_choice {
  std::vector<status> states;                  // empty: every state
  std::function<bool(const record&)> matches;  // looked at last; empty: every record
  bool latest_only = true;
  bool by_date = false, reverse = false;
  int limit = 0, offset = 0;
};
/// Which of all records `list` shows, in its order.
history choose_listed(history all, const list_choice& c);

}  // namespace helm::release
