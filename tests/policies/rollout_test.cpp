#include "policies/rollout.hpp"

#include "host/run.hpp"
#include "reactor/plain/entropy.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <set>

namespace policies {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

rollout_input three_staged() {
  rollout_input in;
  for (const char* name : {"w1", "w2", "w3"}) {
    rollout_unit u;
    u.name = name;
    u.state = "Staged";
    in.units.push_back(u);
  }
  in.fleet.capacity = in.fleet.free = 2;
  in.fleet.unit_count = 3;
  in.fleet.startable = "Staged";
  return in;
}

value list(std::initializer_list<const char*> names) {
  value::array a;
  for (const char* n : names) a.emplace_back(n);
  return a;
}

std::string error_of(value answer) {
  auto read = read_rollout_answer(answer, three_staged());
  return read ? "" : read.error().message();
}

TEST(RolloutAnswer, IsClampedToWhatIsPossible) {
  rollout_input in = three_staged();
  in.units[0].slotted = true;
  rollout_unit busy;
  busy.name = "w4";
  busy.state = "Staging";
  in.units.push_back(busy);
  in.fleet.free = 1;
  value::object o{{"start", list({"w1", "ghost", "w4", "w3", "w3", "w2"})}};
  auto read = read_rollout_answer(o, in);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_THAT(read->start, ElementsAre("w3"));
  EXPECT_THAT(read->clamped, ElementsAre(HasSubstr("start[1]: w1 has a slot"),
                                         HasSubstr("start[2]: there is no unit named 'ghost'"),
                                         HasSubstr("start[3]: w4 is Staging"),
                                         HasSubstr("start[5]: w3 is named twice"),
                                         HasSubstr("start[6]: w2 exceeds the 1 free slots")));
}

/// Anything that Lua can answer, mostly close to what is expected.
value anything(reactor::entropy& dice, int depth) {
  static constexpr const char* words[] = {"w1",    "w2",    "w3",         "ghost",  "",
                                          "start", "holds", "look_again", "reason", "code"};
  const auto word = [&] { return words[dice.between(std::uint64_t{0}, std::size(words) - 1)]; };
  switch (dice.between(std::uint64_t{0}, depth > 3 ? std::uint64_t{3} : std::uint64_t{7})) {
    case 0: return {};
    case 1: return dice.fraction() < 0.5;
    case 2: return (dice.fraction() - 0.5) * 1e12;
    case 3: return word();
    case 4:
    case 5: {
      value::array a;
      for (auto n = dice.between(std::uint64_t{0}, std::uint64_t{6}); n > 0; --n)
        a.push_back(dice.fraction() < 0.7 ? value(word()) : anything(dice, depth + 1));
      return a;
    }
    default: {
      value::object o;
      for (auto n = dice.between(std::uint64_t{0}, std::uint64_t{4}); n > 0; --n)
        o.emplace(word(), anything(dice, depth + 1));
      return o;
    }
  }
}

TEST(RolloutAnswer, NoAnswerOfAnyShapeStartsWhoMayNot) {
  reactor::seeded_entropy dice(41);
  std::size_t taken = 0;
  for (int i = 0; i < 30'000; ++i) {
    rollout_input in = three_staged();
    in.units[0].slotted = dice.fraction() < 0.3;
    in.units[1].degraded = dice.fraction() < 0.3;
    in.units[2].state = dice.fraction() < 0.5 ? "Staged" : "Rebooting";
    in.fleet.free = dice.between(std::uint64_t{0}, std::uint64_t{2});
    value::object o{{"start", anything(dice, 2)}};
    if (dice.fraction() < 0.5) o.emplace("holds", anything(dice, 2));
    if (dice.fraction() < 0.3) o.emplace("look_again", anything(dice, 3));
    const auto read = read_rollout_answer(dice.fraction() < 0.9 ? value(o) : anything(dice, 0), in);
    if (!read) continue;
    ++taken;
    ASSERT_LE(read->start.size(), in.fleet.free);
    std::set<std::string> once;
    for (const std::string& name : read->start) {
      ASSERT_TRUE(once.insert(name).second) << name;
      const auto u = std::ranges::find(in.units, name, &rollout_unit::name);
      ASSERT_NE(u, in.units.end()) << name;
      ASSERT_TRUE(!u->slotted && !u->degraded && u->state == "Staged") << name;
      ASSERT_FALSE(read->holds.contains(name));
    }
    for (const auto& [name, hold] : read->holds) {
      ASSERT_NE(std::ranges::find(in.units, name, &rollout_unit::name), in.units.end());
      ASSERT_FALSE(hold.reason.empty());
    }
    ASSERT_TRUE(read->look_again.count() == 0 || (read->look_again >= std::chrono::seconds(1) &&
                                                  read->look_again <= std::chrono::hours(24)));
  }
  EXPECT_GT(taken, 1'000u);
}

TEST(RolloutAnswer, TakesHoldsInBothForms) {
  value::object o{
      {"holds", value::object{{"w1", "later"},
                              {"w2", value::object{{"code", "Soak"}, {"reason", "a\nb"}}},
                              {"x", "?"}}},
      {"look_again", 90}};
  auto read = read_rollout_answer(o, three_staged());
  ASSERT_TRUE(read);
  EXPECT_EQ(read->holds.at("w1"), (rollout_hold{{}, "later"}));
  EXPECT_EQ(read->holds.at("w2"), (rollout_hold{"Soak", "a b"}));
  EXPECT_EQ(read->holds.size(), 2u);
  EXPECT_EQ(read->look_again, std::chrono::seconds(90));
  EXPECT_THAT(read->clamped, ElementsAre(HasSubstr("there is no such unit")));
}

TEST(RolloutAnswer, IsRefusedWithThePlaceNamed) {
  EXPECT_EQ(error_of("no"),
            "the answer: expected a table with start, holds, look_again, got a string");
  EXPECT_EQ(error_of(value::object{{"strat", list({})}}),
            "the answer: unknown entry 'strat', is it start?; known are start, holds, look_again");
  EXPECT_EQ(error_of(value::object{{"start", "w1"}}),
            "start: expected a list of unit names, got a string");
  EXPECT_EQ(error_of(value::object{{"start", value::array{"w1", "w2", 3}}}),
            "start[3]: expected a unit name, got a number");
  EXPECT_EQ(error_of(value::object{{"holds", list({"w1"})}}),
            "holds: expected a table of reasons by unit name, got a list");
  EXPECT_EQ(error_of(value::object{{"holds", value::object{{"w1", 1}}}}),
            "holds[\"w1\"]: expected a reason or {code = …, reason = …}, got a number");
  EXPECT_EQ(error_of(value::object{
                {"holds", value::object{{"w1", value::object{{"code", "a b"}, {"reason", "x"}}}}}}),
            "holds[\"w1\"].code: expected one word of letters and digits");
  EXPECT_EQ(error_of(value::object{{"holds", value::object{{"w1", value::object{{"code", "A"}}}}}}),
            "holds[\"w1\"].reason: expected a sentence, got nil");
  EXPECT_EQ(error_of(value::object{{"look_again", -1}}),
            "look_again: expected seconds, 0 or more, got a number");
}

TEST(RolloutAnswer, BoundsReasonsAndWaits) {
  std::string much;
  for (int i = 0; i < 400; ++i) much += "\u00e4";
  value::object o{{"holds", value::object{{"w1", much}}}, {"look_again", 1e12}};
  auto read = read_rollout_answer(o, three_staged());
  ASSERT_TRUE(read);
  EXPECT_LE(read->holds.at("w1").reason.size(), 300u);
  EXPECT_TRUE(read->holds.at("w1").reason.ends_with("\u00e4..."));
  EXPECT_EQ(read->look_again, std::chrono::hours(24));
}

TEST(RolloutNow, IsTakenApartInUtc) {
  const moment now = moment_of(*reactor::parse_rfc3339("2026-11-20T23:59:59Z"));
  EXPECT_EQ(now.text, "2026-11-20T23:59:59Z");
  EXPECT_EQ(now.unix_seconds, 1795219199);
  EXPECT_EQ(now.weekday, "Friday");
  EXPECT_EQ((std::vector<int>{now.year, now.month, now.day, now.hour, now.minute}),
            (std::vector<int>{2026, 11, 20, 23, 59}));
}

TEST(RolloutPlan, StartsByNameWithTheStockPack) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  host packs(l, {});
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto loaded = co_await packs.load();
    EXPECT_TRUE(loaded.has_value());
    subject anyone;
    auto plan = co_await plan_rollout(packs, std::move(anyone),
                                      std::make_shared<rollout_input>(three_staged()), l.wall());
    EXPECT_TRUE(plan.has_value()) << (plan ? "" : plan.error().message());
    if (!plan) co_return;
    EXPECT_THAT(plan->start, ElementsAre("w1", "w2"));
    EXPECT_EQ(plan->holds.at("w3").reason, "waits for a free slot (2 go first by name)");
    EXPECT_THAT(plan->clamped, ElementsAre());
    EXPECT_EQ(plan->pack, "rollout/default");
  });
}

TEST(RolloutPlan, FitsFiveThousandUnits) {
  reactor::loop l;  // real: the cost is printed
  host packs(l, {});
  auto input = std::make_shared<rollout_input>();
  for (int i = 0; i < 5000; ++i) {
    rollout_unit u;
    u.name = "node-" + std::to_string(100000 + i);
    u.state = i % 3 == 0 ? "UpToDate" : "Staged";
    u.zone = "zone-" + std::to_string(i % 3);
    input->units.push_back(std::move(u));
  }
  input->fleet.capacity = input->fleet.occupied = 25;
  for (int i = 0; i < 25; ++i)
    input->fleet.in_slots.push_back(input->units[static_cast<std::size_t>(3 * i)].name);
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto loaded = co_await packs.load();
    EXPECT_TRUE(loaded.has_value());
    l.take_health();
    const auto before = l.now();
    subject anyone;
    auto plan = co_await plan_rollout(packs, std::move(anyone), input, l.wall());
    const auto took = std::chrono::duration<double, std::milli>(l.now() - before).count();
    EXPECT_TRUE(plan.has_value()) << (plan ? "" : plan.error().message());
    if (!plan) co_return;
    EXPECT_EQ(plan->holds.size(), 3333u);
    EXPECT_EQ(plan->holds.at("node-100001").reason,
              "waits for a free slot (25 of 25 taken by node-100000, node-100003, node-100006, …)");
    EXPECT_LT(plan->cost.instructions, rollout_instructions(5000) / 4);
    const auto stall =
        std::chrono::duration<double, std::milli>(l.take_health().longest_stall).count();
    std::printf(
        "5,000 units: %.1f ms, %lld instructions, %zu turns, longest %.2f ms, heap %zu KiB\n", took,
        static_cast<long long>(plan->cost.instructions), plan->cost.turns, stall,
        plan->cost.heap_bytes / 1024);
  });
}

TEST(RolloutPlan, FitsWavesOfTenThousandClusters) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  host packs(l, {});
  auto input = std::make_shared<rollout_input>();
  rollout_unit u;
  u.name = "default/acme";
  u.state = input->fleet.startable = "Staged";
  input->units.push_back(std::move(u));
  input->fleet.api = "tenants";
  input->fleet.cluster = "last";
  input->fleet.free = input->fleet.capacity = 1;
  input->fleet.cluster_labels = {{"mesh.openkcm.io/wave", "9"}};
  input->fleet.parameters = {
      {"max_failures", "0"}, {"soak_seconds", "60"}, {"wave_label", "mesh.openkcm.io/wave"}};
  for (int i = 0; i < 10'000; ++i) {
    rollout_cluster c;
    c.name = "cluster-" + std::to_string(i);
    c.cluster_labels = {{"mesh.openkcm.io/wave", std::to_string(i % 9)}};
    c.units = c.updated = 3;
    c.updated_at = 1;
    input->fleet.clusters.push_back(std::move(c));
  }
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto loaded = co_await packs.load();
    EXPECT_TRUE(loaded.has_value());
    subject s;
    s.pack = "rollout/waves";
    auto plan = co_await plan_rollout(packs, std::move(s), input, l.wall());
    EXPECT_TRUE(plan.has_value()) << (plan ? "" : plan.error().message());
    if (!plan) co_return;
    EXPECT_EQ(plan->start, std::vector<std::string>{"default/acme"});
    EXPECT_GT(plan->cost.instructions, rollout_instructions(1));
  });
}

TEST(RolloutPlan, NamesPackAndPlaceOfANonsenseAnswer) {
  reactor::loop l(reactor::loop::mode::simulated, 1);
  EXPECT_EQ(rollout_instructions(0), unit_instructions);
  host packs(l, {});
  run_task(l, [&]() -> reactor::awaitable<void> {
    auto loaded = co_await packs.load();
    EXPECT_TRUE(loaded.has_value());
    subject s;
    s.pack = "mine";
    auto plan =
        co_await plan_rollout(packs, s, std::make_shared<rollout_input>(three_staged()), l.wall());
    EXPECT_FALSE(plan.has_value());
    EXPECT_EQ(plan ? "" : plan.error().message(),
              "rollout.plan: there is no policy pack named mine");
  });
}

}  // namespace
}  // namespace policies
