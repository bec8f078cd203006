#include "policies/rollout.hpp"

#include "formats/go/time.hpp"
#include "policies/label_views.hpp"
#include "reactor/keyed_map.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace policies {

template <>
struct view_record<rollout_unit> {
  static constexpr const char* name = "unit";
  static constexpr field fields[] = {
      field_of<&rollout_unit::name>("name"),
      field_of<&rollout_unit::state>("state"),
      field_of<&rollout_unit::zone>("zone"),
      field_of<&rollout_unit::slotted>("slotted"),
      field_of<&rollout_unit::degraded>("degraded"),
      field_of<&rollout_unit::ready>("ready"),
      field_of<&rollout_unit::control_plane>("control_plane"),
      field_of<&rollout_unit::labels>("labels"),
      field_of<&rollout_unit::annotations>("annotations"),
      field_of<&rollout_unit::since>("since"),
      field_of<&rollout_unit::image>("image"),
      field_of<&rollout_unit::target>("target"),
      field_of<&rollout_unit::pool>("pool"),
      field_of<&rollout_unit::cluster>("cluster"),
  };
};

template <>
struct view_record<rollout_cluster> {
  static constexpr const char* name = "cluster";
  static constexpr field fields[] = {
      field_of<&rollout_cluster::name>("name"),
      field_of<&rollout_cluster::cluster_labels>("labels"),
      field_of<&rollout_cluster::units>("nodes"),
      field_of<&rollout_cluster::updated>("updated"),
      field_of<&rollout_cluster::degraded>("degraded"),
      field_of<&rollout_cluster::slotted>("slotted"),
  };
};

template <>
struct view_record<rollout_fleet> {
  static constexpr const char* name = "fleet";
  static constexpr field fields[] = {
      field_of<&rollout_fleet::pool>("pool"),
      field_of<&rollout_fleet::cluster>("cluster"),
      field_of<&rollout_fleet::cluster_labels>("cluster_labels"),
      field_of<&rollout_fleet::pool_labels>("pool_labels"),
      field_of<&rollout_fleet::capacity>("capacity"),
      field_of<&rollout_fleet::free>("free"),
      field_of<&rollout_fleet::occupied>("occupied"),
      field_of<&rollout_fleet::unit_count>("node_count"),
      field_of<&rollout_fleet::updated>("updated"),
      field_of<&rollout_fleet::degraded>("degraded"),
      field_of<&rollout_fleet::halted>("halted"),
      field_of<&rollout_fleet::paused>("paused"),
      field_of<&rollout_fleet::in_slots>("in_slots"),
      field_of<&rollout_fleet::clusters>("clusters"),
  };
};

namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::int64_t instructions_per_unit = 2'000;
constexpr std::size_t max_reason_bytes = 300, max_code_bytes = 63, max_clamped = 20;
/// A policy that asks to be looked at more often than this only burns time; the longest wait bounds a typing error.
constexpr reactor::nanoseconds least_look_again = std::chrono::seconds(1),
                               most_look_again = std::chrono::hours(24);

reactor::fault wrong(const std::string& where, std::string_view expected, const value& got) {
  return make_fault(
      errc::malformed, {},
      where + ": expected " + std::string(expected) + ", got " + std::string(got.kind()));
}

std::string member_name(const std::string& key) {
  return "holds[\"" + key + "\"]";
}

/// The reason ends up in conditions, events and tables: one line, bounded, cut between characters.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (text.size() > max_reason_bytes) {
    std::size_t end = max_reason_bytes - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80) --end;
    text.resize(end);
    text += "...";
  }
  return text;
}

result<rollout_hold> read_hold(const std::string& where, const value& v) {
  if (const std::string* reason = v.if_string()) return rollout_hold{{}, one_line(*reason)};
  if (v.if_object() == nullptr) return wrong(where, "a reason or {code = …, reason = …}", v);
  rollout_hold hold;
  for (const auto& [key, member] : *v.if_object()) {
    if (key != "code" && key != "reason")
      return make_fault(errc::malformed, {},
                        where + ": unknown entry '" + key + "'; known are code, reason");
    const std::string* text = member.if_string();
    if (text == nullptr) return wrong(where + "." + key, "a string", member);
    if (key == "reason") {
      hold.reason = one_line(*text);
    } else {
      const bool word =
          !text->empty() && text->size() <= max_code_bytes &&
          std::all_of(text->begin(), text->end(), [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
          });
      if (!word)
        return make_fault(errc::malformed, {},
                          where + ".code: expected one word of letters and digits");
      hold.code = *text;
    }
  }
  if (hold.reason.empty())
    return make_fault(errc::malformed, {}, where + ".reason: expected a sentence");
  return hold;
}

}  // namespace

std::int64_t rollout_instructions(std::size_t units) {
  return unit_instructions + instructions_per_unit * static_cast<std::int64_t>(units);
}

result<rollout_answer> read_rollout_answer(const value& answer, const rollout_input& input) {
  const value::object* object = answer.if_object();
  if (object == nullptr)
    return wrong("the answer", "a table with start, holds, look_again", answer);
  reactor::keyed_map<std::string_view, const rollout_unit*> known;
  known.reserve(input.units.size());
  for (const rollout_unit& u : input.units) known.try_emplace(u.name, &u);

  rollout_answer out;
  std::size_t not_taken = 0;
  const auto clamp = [&](std::string why) {
    if (++not_taken <= max_clamped) out.clamped.push_back(std::move(why));
  };
  std::set<std::string_view> starting;
  const value *start = nullptr, *holds = nullptr, *look_again = nullptr;
  for (const auto& [key, member] : *object) {
    if (key == "start")
      start = &member;
    else if (key == "holds")
      holds = &member;
    else if (key == "look_again")
      look_again = &member;
    else
      return make_fault(
          errc::malformed, {},
          "the answer: unknown entry '" + one_line(key) + "'; known are start, holds, look_again");
  }
  if (start != nullptr && !start->is_null()) {
    const value::array* list = start->if_array();
    if (list == nullptr) return wrong("start", "a list of unit names", *start);
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string where = "start[" + std::to_string(i + 1) + "]";
      const std::string* name = (*list)[i].if_string();
      if (name == nullptr) return wrong(where, "a unit name", (*list)[i]);
      const auto found = known.find(*name);
      const rollout_unit* unit = found ? *found : nullptr;
      if (!unit) {
        clamp(where + ": there is no unit named '" + one_line(*name) + "'");
      } else if (starting.contains(unit->name)) {
        clamp(where + ": " + *name + " is named twice");
      } else if (unit->slotted) {
        clamp(where + ": " + *name + " has a slot already");
      } else if (unit->state != input.fleet.startable) {
        clamp(where + ": " + *name + " is " + unit->state + ", not " + input.fleet.startable);
      } else if (unit->degraded) {
        clamp(where + ": " + *name + " is degraded");
      } else if (out.start.size() >= input.fleet.free) {
        clamp(where + ": " + *name + " exceeds the " + std::to_string(input.fleet.free) +
              " free slots");
      } else {
        starting.insert(unit->name);
        out.start.push_back(*name);
      }
    }
  }
  if (holds != nullptr && !holds->is_null()) {
    const value::object* table = holds->if_object();
    if (table == nullptr) return wrong("holds", "a table of reasons by unit name", *holds);
    for (const auto& [name, reason] : *table) {
      auto hold = read_hold(member_name(one_line(name)), reason);
      if (!hold) return hold.error();
      if (!known.contains(name)) {
        clamp(member_name(one_line(name)) + ": there is no such unit");
      } else if (starting.contains(name)) {
        clamp(member_name(name) + ": the unit is in start as well; it starts");
      } else {
        out.holds.emplace(name, std::move(*hold));
      }
    }
  }
  if (look_again != nullptr && !look_again->is_null()) {
    const double* seconds = look_again->if_number();
    if (seconds == nullptr || *seconds < 0)
      return wrong("look_again", "seconds, 0 or more", *look_again);
    const double most = std::chrono::duration<double>(most_look_again).count();
    if (*seconds > 0) {
      out.look_again = std::chrono::duration_cast<reactor::nanoseconds>(
          std::chrono::duration<double>(std::min(*seconds, most)));
      out.look_again = std::max(out.look_again, least_look_again);
    }
  }
  if (not_taken > max_clamped)
    out.clamped.push_back("and " + std::to_string(not_taken - max_clamped) + " more");
  return out;
}

value now_argument(reactor::wall_time now) {
  const auto t = formats::time_of(now);
  const auto date = formats::civil(t);
  return value::object{
      {"text", reactor::format_rfc3339(now)},
      {"unix", static_cast<double>(t.seconds)},
      {"year", static_cast<int>(date.year)},
      {"month", date.month},
      {"day", date.day},
      {"hour", date.hour},
      {"minute", date.minute},
      {"weekday", std::string(formats::weekday_name(date.weekday))},
  };
}

reactor::awaitable<result<rollout_answer>> plan_rollout(host& packs, subject s,
                                                        std::shared_ptr<const rollout_input> input,
                                                        reactor::wall_time now) {
  // Two views into one snapshot: each keeps all of it alive.
  std::vector<argument> arguments;
  arguments.emplace_back(
      view_of(std::shared_ptr<const std::vector<rollout_unit>>(input, &input->units)));
  arguments.emplace_back(view_of(std::shared_ptr<const rollout_fleet>(input, &input->fleet)));
  arguments.emplace_back(now_argument(now));
  const auto answer = std::make_shared<rollout_answer>();
  judge accept = [answer, input](const value& proposed) -> result<void> {
    auto read = read_rollout_answer(proposed, *input);
    if (!read) return read.error();
    *answer = std::move(*read);
    return {};
  };
  auto made = co_await packs.call("rollout.plan", std::move(s), std::move(arguments),
                                  rollout_instructions(input->units.size()), std::move(accept));
  if (!made) co_return made.error();
  answer->pack = made->pack;
  answer->version = made->version;
  answer->cost = made->cost;
  co_return std::move(*answer);
}

}  // namespace policies
