#pragma once

#include "app/api/api.hpp"
#include "reactor/plain/time.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace units {

/// One target that an object asked for. `windlass rollout` notes what it writes; the service notes
/// what others wrote, and when every unit had it.
struct target_record {
  std::size_t revision = 0;
  std::string target;
  std::string manager;  // the field manager that wrote it
  std::string by;       // the user, where it was a command of ours
  std::string at;       // RFC 3339
  std::string outcome;  // "12 of 12 updated", when it was replaced or now
  std::string done;     // RFC 3339, when every unit had it; empty: not yet, or it was not seen
  std::size_t units = 0,
              at_once = 0;  // at that moment: how many, and how many were disturbed at once
  friend bool operator==(const target_record&, const target_record&) = default;
};

/// Where an object keeps its records, the last ten, as a JSON array.
inline constexpr std::string_view history_annotation = "windlass.dev/target-history";
inline constexpr std::size_t most_records = 10;

/// The fields that a merge patch would write, as paths ("spec", "image", "ref").
std::vector<std::vector<std::string>> fields_of(const boost::json::object& patch);
/// The text of a field; empty without it.
std::string text_at(const boost::json::object& object, const std::vector<std::string>& path);
/// "spec.image.ref"
std::string text_of_field(const std::vector<std::string>& path);

/// The field of which the API says that it is the target; empty where it takes none.
std::vector<std::string> target_field(const units::api::edits& by);
/// The field by which a row is paused.
std::vector<std::string> pause_field(const units::api::edits& by);

/// Who wrote a field, and when.
struct field_owner {
  std::string manager, at;
  friend bool operator==(const field_owner&, const field_owner&) = default;
};
/// The managers of the field by the object's managedFields, the last one to write first.
std::vector<field_owner> owners_of(const boost::json::object& object,
                                   const std::vector<std::string>& path);
/// A person's hand (kubectl and its verbs) or this program. Any other manager puts its own value
/// back sooner or later: Argo CD, Flux, Helm, an operator.
bool is_by_hand(std::string_view manager, std::string_view ours);

/// "11 of 12 updated, 1 degraded"
std::string outcome_text(std::size_t updated, std::size_t units, std::size_t degraded);

/// The records of an annotation, oldest first; what is no record is left out.
std::vector<target_record> records_in(std::string_view annotation);
/// How long a step of that rollout took, of all units in steps of at_once; none where it is not
/// known or cannot be.
std::optional<reactor::nanoseconds> step_time(const target_record& r);

/// The records of the object, oldest first; what is no record is left out. The one of its present
/// target comes last, with `outcome`; it is made of the field's owner where it was not recorded.
std::vector<target_record> history_of(const boost::json::object& object,
                                      const std::vector<std::string>& field, std::string outcome);
/// Adds a target that is written now.
void add_record(std::vector<target_record>& to, target_record next);
std::string annotation_of(const std::vector<target_record>& all);
boost::json::array history_json(const std::vector<target_record>& all);

/// What `rollout undo` goes back to: that revision, else the newest with another target than the
/// present one. Null: there is none.
const target_record* undo_target(const std::vector<target_record>& all, std::size_t revision);

}  // namespace units
