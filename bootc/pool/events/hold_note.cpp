#include "bootc/pool/events/hold_note.hpp"

#include "bootc/kinds/names.hpp"
#include "bootc/pool/events/events.hpp"

#include <boost/json/object.hpp>

namespace bootc {
namespace {

namespace json = boost::json;

constexpr std::size_t most_bytes = 1'024;
/// A drain that fails is tried again after 5 s at first, so that the note of the next attempt is
/// never older than the attempt.
constexpr reactor::nanoseconds life_of_trouble = std::chrono::seconds(5),
                               life_of_others = std::chrono::seconds(10);

std::string value_of(const bootc_node& b, std::string_view key) {
  return std::string(b.annotation(key).value_or(std::string_view()));
}

/// Its sentence names a pod or an error, and there is an Event about it. What is under way is told
/// by the node's steps.
bool says_what_to_do(std::string_view code) {
  const hold_code::hold_kind* kind = hold_code::find(code);
  return kind && kind->nature == hold_code::hold_nature::trouble;
}

std::string shortened(const std::string& text) {
  return text.size() <= most_bytes ? text : k8s::cut_utf8(text, most_bytes);
}

}  // namespace

std::optional<hold_note> note_of(const bootc_node& b) {
  const auto code = b.annotation(names::hold);
  if (!code) return std::nullopt;
  return hold_note{std::string(*code), value_of(b, names::hold_reason),
                   value_of(b, names::hold_since), value_of(b, names::hold_released_by)};
}

bool is_noted(const bootc_node& b, const hold* now) {
  const auto noted = note_of(b);
  if (!noted || !now) return !noted && !now;
  if (noted->code != now->code) return false;
  if (!says_what_to_do(now->code) && now->code != hold_code::draining.code) return true;
  return noted->sentence == shortened(now->sentence) &&
         noted->released_by == shortened(now->released_by);
}

reactor::nanoseconds shortest_life_of_note(std::string_view code) noexcept {
  return says_what_to_do(code) ? life_of_trouble : life_of_others;
}

k8s::event_note event_of(const bootc_node& b, const hold* now) {
  const k8s::object_reference about{
      std::string(names::api_version), "BootcNode", {}, b.meta.name.str(), b.meta.uid.text()};
  if (!now) {
    const auto before = note_of(b);
    std::string note = "it is no longer stuck";
    if (before)
      note += ": " + before->code + (before->since.empty() ? "" : " since " + before->since);
    return k8s::tell_of(hold_event::released, about, std::move(note));
  }
  return k8s::tell_of(hold_event::stuck, about,
                      now->code + ": " + now->sentence + "; released when " + now->released_by);
}

bool is_new(const bootc_node& b, const hold* now) {
  const auto before = note_of(b);
  if (now && says_what_to_do(now->code)) return !before || before->code != now->code;
  return !now && before && says_what_to_do(before->code);
}

json::object note_annotations(const bootc_node& b, const hold* now, reactor::wall_time at) {
  json::object annotations;
  if (now) {
    const auto before = note_of(b);
    const bool goes_on = before && before->code == now->code && !before->since.empty();
    annotations[names::hold] = now->code;
    annotations[names::hold_reason] = shortened(now->sentence);
    annotations[names::hold_since] = goes_on ? before->since : reactor::format_rfc3339(at);
    annotations[names::hold_released_by] = shortened(now->released_by);
  } else {
    for (const auto key :
         {names::hold, names::hold_reason, names::hold_since, names::hold_released_by})
      annotations[key] = nullptr;
  }
  return annotations;
}

}  // namespace bootc
