#include "policies/rollout.hpp"

#include "policies/hold_text.hpp"
#include "policies/rollout_views.hpp"
#include "reactor/plain/keyed_map.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

namespace policies {

namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::int64_t instructions_per_unit = 2'000, instructions_per_cluster = 500;
constexpr std::size_t max_clamped = 20;

const shape& answer_shape() {
  static const shape all = [] {
    return record_shape(
        "plan",
        {maybe("start", list_shape(text_shape("a unit name"), "a list of unit names"),
               "who gets a slot, first first, `free` of them at most"),
         maybe("holds", map_shape(reason_shape(), "a table of reasons by unit name"),
               "why the others wait"),
         {"look_again",
          number_shape("seconds, 0 or more", 0),
          "ask again after that long although nothing changed; kept between a second and a day",
          "seconds",
          true,
          {}}},
        "a table with start, holds, look_again");
  }();
  return all;
}

std::string member_name(const std::string& key) {
  return "holds[\"" + key + "\"]";
}

std::vector<std::vector<argument>> typical_questions(const pack& of) {
  std::vector<std::vector<argument>> questions;
  for (const auto& input : typical_rollouts(of.about().signals)) {
    std::vector<argument> question;
    question.emplace_back(
        view_of(std::shared_ptr<const std::vector<rollout_unit>>(input, &input->units)));
    question.emplace_back(view_of(std::shared_ptr<const rollout_fleet>(input, &input->fleet)));
    question.push_back(now_argument(reactor::wall_time(std::chrono::seconds(1'795'428'000))));
    questions.push_back(std::move(question));
  }
  return questions;
}

}  // namespace

std::int64_t rollout_instructions(std::size_t units, std::size_t clusters) {
  return unit_instructions + instructions_per_unit * static_cast<std::int64_t>(units) +
         instructions_per_cluster * static_cast<std::int64_t>(clusters);
}

namespace {

/// Why a unit that the answer names in `start` does not start; empty: it does.
std::string reason_against(const rollout_unit& unit, const rollout_input& input,
                           const std::set<std::string_view>& starting) {
  if (starting.contains(unit.name)) return " is named twice";
  if (unit.slotted) return " has a slot already";
  if (unit.state != input.fleet.startable)
    return " is " + unit.state + ", not " + input.fleet.startable;
  if (unit.degraded) return " is degraded";
  if (starting.size() >= input.fleet.free)
    return " exceeds the " + std::to_string(input.fleet.free) + " free slots";
  return {};
}

}  // namespace

result<rollout_answer> read_rollout_answer(const value& answer, const rollout_input& input) {
  if (auto fine = check(answer, answer_shape()); !fine) return fine.error();
  reactor::keyed_map<std::string_view, const rollout_unit*> known;
  known.reserve(input.units.size());
  for (const rollout_unit& u : input.units) known.try_emplace(u.name, &u);

  rollout_answer out;
  std::size_t not_taken = 0;
  const auto clamp = [&](std::string why) {
    if (++not_taken <= max_clamped) out.clamped.push_back(std::move(why));
  };
  std::set<std::string_view> starting;
  const value *start = answer.find("start"), *holds = answer.find("holds"),
              *look_again = answer.find("look_again");
  if (start != nullptr) {
    const value::array* list = start->if_array();
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string where = "start[" + std::to_string(i + 1) + "]";
      const std::string* name = (*list)[i].if_string();
      const auto found = known.find(*name);
      const rollout_unit* unit = found ? *found : nullptr;
      if (!unit) {
        clamp(where + ": there is no unit named '" + one_line(*name) + "'");
      } else if (std::string why = reason_against(*unit, input, starting); !why.empty()) {
        clamp(where + ": " + *name + why);
      } else {
        starting.insert(unit->name);
        out.start.push_back(*name);
      }
    }
  }
  if (holds != nullptr) {
    for (const auto& [name, reason] : *holds->if_object()) {
      auto hold = read_hold(name, reason);
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
  if (look_again != nullptr) {
    const double* seconds = look_again->if_number();
    out.look_again = bounded_wait(*seconds);
  }
  if (not_taken > max_clamped)
    out.clamped.push_back("and " + std::to_string(not_taken - max_clamped) + " more");
  return out;
}

hook rollout_hook() {
  hook h;
  h.name = "rollout.plan";
  h.question = "who may start now, in which order, and why do the others wait?";
  h.asked = "for one pool of one cluster, whenever something in it changed and after `look_again`";
  h.failure =
      "no other unit starts; what is under way is finished. The error is the reason of the holds";
  h.budget = "200,000 instructions and 2,000 a unit, 500 a cluster";
  h.arguments = {
      {"units", shape_of<std::vector<rollout_unit>>(), "every unit of the pool, by name ascending"},
      {"fleet", shape_of<rollout_fleet>(), "the pool and its surroundings"},
      now_described()};
  h.answer = answer_shape();
  h.typical = typical_questions;
  h.takes = [](const value& answer, const hook::asking&) {
    return outcome_of(read_rollout_answer(answer, rollout_input()));
  };
  h.instructions = rollout_instructions(10);
  return h;
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
  auto made = co_await packs.call(
      "rollout.plan", std::move(s), std::move(arguments),
      rollout_instructions(input->units.size(), input->fleet.clusters.size()), std::move(accept));
  if (!made) co_return made.error();
  answer->pack = made->pack;
  answer->version = made->version;
  answer->cost = made->cost;
  co_return std::move(*answer);
}

}  // namespace policies
