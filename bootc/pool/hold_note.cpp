#include "bootc/pool/hold_note.hpp"

#include "k8s/client/events.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <array>

namespace bootc {
namespace {

namespace json = boost::json;

constexpr std::size_t most_bytes = 1'024;

std::string value_of(const bootc_node& b, std::string_view key) {
  return std::string(b.annotation(key).value_or(std::string_view()));
}

/// Their sentences name a pod or an error.
bool says_what_to_do(std::string_view code) {
  static constexpr std::array<std::string_view, 4> codes{
      hold_code::pdb, hold_code::drain_failed, hold_code::degraded, hold_code::drain_timeout};
  return std::ranges::find(codes, code) != codes.end();
}

std::string cut(const std::string& text) {
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
  return !says_what_to_do(now->code) || noted->sentence == cut(now->sentence);
}

json::object note_annotations(const bootc_node& b, const hold* now, reactor::wall_time at) {
  json::object annotations;
  if (now) {
    const auto before = note_of(b);
    const bool goes_on = before && before->code == now->code && !before->since.empty();
    annotations[names::hold] = now->code;
    annotations[names::hold_reason] = cut(now->sentence);
    annotations[names::hold_since] = goes_on ? before->since : reactor::format_rfc3339(at);
    annotations[names::hold_released_by] = cut(now->released_by);
  } else {
    for (const auto key :
         {names::hold, names::hold_reason, names::hold_since, names::hold_released_by})
      annotations[key] = nullptr;
  }
  return annotations;
}

}  // namespace bootc
