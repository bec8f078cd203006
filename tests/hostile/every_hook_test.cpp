// Hostile packs with every hook of the program, asked what the hook is typically asked. All of them
// answer in rollout.plan in packs_test and in compose.sync in tests/compose; here all have the
// other described hooks, and the rest take turns: a call of most of them uses up its budget.
#include "bench/hostile/packs.hpp"
#include "bench/hostile/packs_table.hpp"
#include "cli/apis.hpp"
#include "policies/host/pack.hpp"
#include "reactor/loop.hpp"
#include "tests/reactor/run.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <map>
#include <string>

namespace {

using policies::argument;

/// Of the hooks that take turns.
constexpr std::size_t one_of = 12;

/// The same function stands for every hook.
std::string with_every_hook(const std::string& policy) {
  constexpr std::string_view before = "rollout = {plan = plan}";
  const auto at = policy.find(before);
  if (at == std::string::npos) return {};
  std::map<std::string, std::string> families;
  for (const policies::hook& h : *cli::all_hooks())
    families[h.family()] += h.function() + " = plan, ";
  std::string all =
      "composes = {parents = {{apiVersion = 'example.com/v1', kind = 'Shop'}}, "
      "children = {{apiVersion = 'v1', kind = 'ConfigMap'}}}";
  for (const auto& [family, functions] : families) all += ", " + family + " = {" + functions + "}";
  return std::string(policy).replace(at, before.size(), all);
}

std::vector<argument> question_of(const policies::hook& h, const policies::pack& p) {
  for (const policies::hook* like : {&h, policies::find_hook(*cli::all_hooks(), "rollout.plan")}) {
    if (!like->typical) continue;
    auto all = like->typical(p);
    if (!all.empty()) return std::move(all.front());
  }
  return {};
}

TEST(HostilePacks, HarmNobodyInAnyHook) {
  struct tally {
    std::size_t asked = 0, answered = 0;
  };
  std::map<std::string, tally> tallies;
  std::size_t number = 0, loaded = 0;
  reactor::nanoseconds longest{};
  std::string slowest;
  for (const bench::hostile::pack& p : bench::hostile::packs()) {
    const std::string source = with_every_hook(p.policy);
    if (source.empty()) continue;
    ++number;
    reactor::loop l;  // real: there a processor's time bounds a call
    reactor::run_task(l, [&]() -> reactor::awaitable<void> {
      policies::pack_files files{{"policy.lua", source}};
      policies::sandbox_limits limits;
      limits.hooks = cli::all_hooks();
      limits.processor_time = std::chrono::seconds(1);
      auto one = co_await policies::pack::load(l, "hostile", std::move(files), limits);
      if (!one) {
        EXPECT_EQ(p.expected, bench::hostile::pack::verdict::refused)
            << p.name << ": " << one.error().message();
        co_return;
      }
      ++loaded;
      std::size_t turn = number;
      for (const policies::hook& h : *cli::all_hooks()) {
        EXPECT_TRUE((*one)->has(h.name)) << p.name << ": " << h.name;
        const bool asked_elsewhere = h.name == "rollout.plan" || h.name == "compose.sync";
        if ((asked_elsewhere || !h.is_described()) && ++turn % one_of != 0) continue;
        tally& t = tallies[h.name];
        ++t.asked;
        const reactor::steady_time before = l.now();
        std::string said;
        policies::judge accept = [&](const policies::value& v) -> reactor::result<void> {
          said = policies::to_text(v);
          if (!h.is_described()) return {};
          return policies::check(v, h.answer);
        };
        auto answered = co_await policies::pack::call(*one, h.name, question_of(h, **one),
                                                      h.instructions, std::move(accept));
        const reactor::nanoseconds took = l.now() - before;
        if (took > longest) {
          longest = took;
          slowest = p.name + " in " + h.name;
        }
        if (answered) {
          t.answered += answered->accepted ? 1 : 0;
          for (const std::string& line : answered->log) said += line;
        } else {
          said += answered.error().message();
          EXPECT_FALSE(answered.error().message().empty()) << p.name << ": " << h.name;
        }
        EXPECT_EQ(said.find(bench::hostile::escape_mark), std::string::npos)
            << p.name << ": " << h.name << ": " << said;
      }
    });
  }
  EXPECT_GT(loaded, 100u);
  EXPECT_EQ(tallies.size(), cli::all_hooks()->size());
  for (const auto& [name, t] : tallies) EXPECT_GE(t.asked * 2 * one_of, loaded) << name;
  std::cout << "## hostile packs: " << loaded << " of " << number << " loaded, asked in "
            << tallies.size() << " hooks; the longest call took "
            << std::chrono::duration_cast<std::chrono::milliseconds>(longest).count()
            << " ms: " << slowest << "\n";
}

}  // namespace
