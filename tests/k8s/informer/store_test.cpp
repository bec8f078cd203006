#include "k8s/informer/store.hpp"

#include "k8s/views/pod.hpp"
#include "reactor/plain/thread_time.hpp"
#include "tests/k8s/informer/objects.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace k8s {
namespace {

pod make(const objects::pod_spec& spec) {
  auto p = parse_view<pod>(objects::pod_json(spec));
  EXPECT_TRUE(p);
  return std::move(*p);
}

pod named(const std::string& name, std::uint64_t version, const std::string& node = "w1",
          const std::string& uid = {}) {
  objects::pod_spec spec;
  spec.name = name;
  spec.version = version;
  spec.node = node;
  spec.uid = uid;
  return make(spec);
}

void node_of(const pod& p, std::vector<interned>& values) {
  if (!p.node.empty()) values.push_back(p.node);
}

struct StoreTest : testing::Test {
  StoreTest() {
    pods.add_index("node", node_of);
    pods.add_index("owner", [](const pod& p, std::vector<interned>& values) {
      if (p.meta.owner) values.emplace_back(p.meta.owner.uid.text());
    });
    pods.add_index("app", [](const pod& p, std::vector<interned>& values) {
      if (const interned* app = p.meta.labels.find("app")) values.push_back(*app);
    });
    pods.on_change([this](const pod* before, const pod* now) {
      seen.push_back(
          (before ? before->meta.name.str() + "@" + before->meta.resource_version.text() : "-") +
          ">" + (now ? now->meta.name.str() + "@" + now->meta.resource_version.text() : "-"));
    });
  }
  store<pod> pods;
  std::vector<std::string> seen;
};

TEST_F(StoreTest, FindsByName) {
  EXPECT_EQ(pods.put(named("a", 1), origin::watch), put_outcome::added);
  ASSERT_TRUE(pods.find("default", "a"));
  EXPECT_FALSE(pods.find("other", "a"));
  EXPECT_EQ(pods.find("default", "a"), pods.find({"default", "a"}));
}

TEST_F(StoreTest, TellsWithOldAndNew) {
  pods.put(named("a", 1), origin::watch);
  EXPECT_EQ(pods.put(named("a", 2, "w2"), origin::watch), put_outcome::changed);
  EXPECT_TRUE(pods.remove(named("a", 3).meta));
  EXPECT_EQ(seen, (std::vector<std::string>{"->a@1", "a@1>a@2", "a@2>-"}));
}

TEST_F(StoreTest, AnEqualViewWakesNobodyButIsRemembered) {
  pods.put(named("a", 1), origin::watch);
  EXPECT_EQ(pods.put(named("a", 2), origin::watch), put_outcome::same);
  EXPECT_EQ(seen.size(), 1u);
  EXPECT_EQ(pods.find("default", "a")->meta.resource_version, "2");
}

TEST_F(StoreTest, NeverGoesBack) {
  pods.put(named("a", 5), origin::watch);
  EXPECT_EQ(pods.put(named("a", 4, "w2"), origin::watch), put_outcome::older);
  EXPECT_EQ(pods.put(named("a", 5, "w2"), origin::watch), put_outcome::repeated);
  EXPECT_EQ(pods.put(named("a", 4, "w2", "22222222-2222-4222-8222-222222222222"), origin::list),
            put_outcome::older);
  EXPECT_EQ(pods.find("default", "a")->node, "w1");
}

TEST_F(StoreTest, AListIsTheTruthForARepeatedVersion) {
  pods.put(named("a", 5), origin::watch);
  EXPECT_EQ(pods.put(named("a", 5, "w2"), origin::list), put_outcome::changed);
  EXPECT_EQ(pods.find("default", "a")->node, "w2");
}

TEST_F(StoreTest, AnotherUidIsAnotherObject) {
  pods.put(named("a", 1), origin::watch);
  EXPECT_EQ(pods.put(named("a", 2, "w1", "22222222-2222-4222-8222-222222222222"), origin::watch),
            put_outcome::replaced);
  EXPECT_EQ(seen, (std::vector<std::string>{"->a@1", "a@1>-", "->a@2"}));
  EXPECT_FALSE(pods.remove(named("a", 3).meta)) << "the delete of the former object";
  EXPECT_EQ(pods.size(), 1u);
}

TEST_F(StoreTest, IndicesFollow) {
  pods.put(named("a", 1, "w1"), origin::watch);
  pods.put(named("b", 2, "w1"), origin::watch);
  pods.put(named("c", 3, "w2"), origin::watch);
  EXPECT_EQ(pods.count("node", "w1"), 2u);
  EXPECT_EQ(pods.count("owner", "11111111-1111-4111-8111-111111111111"), 3u);
  EXPECT_EQ(pods.count("app", "web"), 3u);
  pods.put(named("b", 4, "w2"), origin::watch);
  EXPECT_EQ(pods.count("node", "w1"), 1u);
  EXPECT_EQ(pods.by("node", "w2").size(), 2u);
  pods.remove(named("a", 5).meta);
  EXPECT_EQ(pods.count("node", "w1"), 0u);
  EXPECT_EQ(pods.count("nowhere", "w1"), 0u);
}

TEST_F(StoreTest, ARelistMarksAndSweeps) {
  for (const char* name : {"a", "b", "c"}) pods.put(named(name, 1), origin::list);
  seen.clear();
  pods.begin_relist();
  pods.put(named("a", 1), origin::list);
  pods.put(named("b", 7, "w2"), origin::list);
  EXPECT_EQ(pods.size(), 3u) << "the old ones keep serving";
  EXPECT_EQ(pods.sweep(), 1u);
  EXPECT_EQ(seen, (std::vector<std::string>{"b@1>b@7", "c@1>-"}));
}

TEST_F(StoreTest, ARelistThatBeginsAgainForgetsTheFormerMarks) {
  for (const char* name : {"a", "b"}) pods.put(named(name, 1), origin::list);
  pods.begin_relist();
  pods.put(named("a", 1), origin::list);
  pods.begin_relist();
  pods.put(named("b", 1), origin::list);
  EXPECT_EQ(pods.sweep(), 1u);
  EXPECT_FALSE(pods.find("default", "a"));
}

TEST_F(StoreTest, AnEventDuringARelistMarksToo) {
  pods.put(named("a", 1), origin::list);
  pods.begin_relist();
  pods.put(named("new", 9), origin::watch);
  EXPECT_EQ(pods.sweep(), 1u);
  EXPECT_TRUE(pods.find("default", "new"));
}

TEST_F(StoreTest, SweepsInPartsBetweenWhichItLives) {
  for (const char* name : {"a", "b", "c", "d", "e"}) pods.put(named(name, 1), origin::list);
  pods.begin_relist();
  pods.put(named("a", 1), origin::list);
  EXPECT_EQ(pods.sweep_some(2), 2u);
  EXPECT_EQ(pods.size(), 3u);
  pods.put(named("e", 9), origin::watch);  // it came into being after the list
  pods.put(named("new", 9), origin::watch);
  EXPECT_EQ(pods.sweep_some(2), 1u);
  EXPECT_EQ(pods.sweep_some(2), 0u);
  EXPECT_TRUE(pods.find("default", "a"));
  EXPECT_TRUE(pods.find("default", "e"));
  EXPECT_TRUE(pods.find("default", "new"));
  EXPECT_EQ(pods.size(), 3u);
  pods.begin_relist();
  EXPECT_EQ(pods.sweep(), 3u);
}

TEST_F(StoreTest, EqualsAMapAfterAnyHistory) {
  std::mt19937_64 random(7);
  std::map<std::string, std::string> expected;  // name → node
  std::uint64_t version = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::string name = "p" + std::to_string(random() % 200),
                      node = "w" + std::to_string(random() % 5);
    if (random() % 3 == 0) {
      const pod gone = named(name, ++version);
      EXPECT_EQ(pods.remove(gone.meta), expected.erase(name) == 1);
    } else {
      pods.put(named(name, ++version, node), origin::watch);
      expected[name] = node;
    }
  }
  EXPECT_EQ(pods.size(), expected.size());
  std::map<std::string, std::size_t> by_node;
  for (const auto& [name, node] : expected) {
    ASSERT_TRUE(pods.find("default", name)) << name;
    EXPECT_EQ(pods.find("default", name)->node, node);
    ++by_node[node];
  }
  for (const auto& [node, count] : by_node) EXPECT_EQ(pods.count("node", node), count);
  std::size_t visited = 0;
  pods.each([&](const pod&) { ++visited; });
  EXPECT_EQ(visited, expected.size());
}

TEST_F(StoreTest, IsGivenBackInSteps) {
  for (int i = 0; i < 100; ++i) pods.put(named("p" + std::to_string(i), 1), origin::list);
  pods.remove(named("p3", 2).meta);
  EXPECT_EQ(pods.weight(), 99 * sizeof(pod));
  seen.clear();
  std::size_t forgotten = 0;
  while (const std::size_t some = pods.forget_some(20)) {
    EXPECT_LT(some, 40u) << "about as many as were asked for";
    forgotten += some;
  }
  EXPECT_EQ(forgotten, 100u);
  EXPECT_EQ(pods.size(), 0u);
  EXPECT_EQ(pods.weight(), 0u);
  EXPECT_TRUE(seen.empty());
  EXPECT_EQ(pods.put(named("p1", 3), origin::list), put_outcome::added) << "and it can begin again";
}

TEST(SlotTable, FindsEverythingWhileItGrows) {
  // Hashes that collide a lot, so that chains run over the places where the old table was emptied.
  const auto hash_of = [](std::uint32_t slot) { return slot % 97 * 13; };
  slot_table table;
  std::set<std::uint32_t> in;
  std::uint64_t rng = 7;
  for (std::uint32_t step = 0; step < 4'000; ++step) {
    rng = rng * 6364136223846793005u + 1442695040888963407u;
    if (rng >> 62 == 0 && !in.empty()) {
      const auto at = in.lower_bound(static_cast<std::uint32_t>(rng >> 33) % step);
      const std::uint32_t slot = at == in.end() ? *in.begin() : *at;
      table.erase(slot, hash_of);
      in.erase(slot);
    } else {
      table.insert(step, hash_of);
      in.insert(step);
    }
    if (step % 50) continue;
    ASSERT_EQ(table.size(), in.size());
    for (std::uint32_t slot = 0; slot <= step; ++slot) {
      const std::uint32_t found =
          table.find(hash_of(slot), [&](std::uint32_t s) { return s == slot; });
      ASSERT_EQ(found == slot, in.contains(slot)) << slot << " at step " << step;
    }
  }
}

/// Puts that many and lowers `least`, the processor time that each put took at least in all calls:
/// a store grows at the same puts each time, and what the machine takes away hits others.
void puts_into(store<pod>& many, std::vector<reactor::nanoseconds>& least) {
  const pod p = named("x", 1);
  for (std::size_t i = 0; i < least.size(); ++i) {
    pod one = p;
    one.meta.name = "pod-" + std::to_string(i);
    one.meta.uid = uid("00000000-0000-4000-8000-" + std::to_string(100'000'000'000 + i));
    const auto before = reactor::thread_cpu();
    many.put(std::move(one), origin::list);
    least[i] = std::min(least[i], reactor::thread_cpu() - before);
  }
}

TEST(StoreSize, NoPutTakesLongHoweverManyThereAre) {
  constexpr auto bound = std::chrono::milliseconds(10);
  std::vector<reactor::nanoseconds> least(200'000, reactor::nanoseconds::max());
  const auto longest = [&least] { return *std::max_element(least.begin(), least.end()); };
  for (int tries = 0; tries < 10 && longest() >= bound; ++tries) {
    store<pod> many;
    puts_into(many, least);
    EXPECT_EQ(many.size(), 200'000u);
    EXPECT_EQ(many.put(named("one more", 2), origin::watch), put_outcome::refused);
  }
  EXPECT_LT(longest(), bound);
}

/// What is done to a store, told in the order that its users see.
std::string told_under(reactor::hash_key key) {
  const reactor::hash_key before = reactor::set_hash_key(key);
  interned::hash_again();
  std::string told;
  {
    store<pod> pods;
    pods.add_index("node", node_of);
    pods.on_change([&](const pod* old, const pod* now) {
      told += (old ? "-" + old->meta.name.str() : "") + (now ? "+" + now->meta.name.str() : "");
    });
    for (int round = 0; round < 3; ++round) {
      pods.begin_relist();
      for (int i = round; i < 300; i += round + 1)
        pods.put(named("p" + std::to_string(i), static_cast<std::uint64_t>(round + 1),
                       "w" + std::to_string(i % 7)),
                 origin::list);
      pods.sweep();
    }
    pods.each([&](const pod& p) { told += " " + p.meta.name.str(); });
    for (const pod* p : pods.by("node", "w3")) told += "/" + p->meta.name.str();
  }
  reactor::set_hash_key(before);
  interned::hash_again();
  return told;
}

TEST(StoreOrder, DoesNotDependOnTheHash) {
  const std::string told = told_under({1, 2});
  EXPECT_GT(told.size(), 1'000u);
  EXPECT_EQ(told_under({3, 4}), told);
}

TEST_F(StoreTest, StaysBelowItsBudgetPerPod) {
  constexpr std::size_t count = 10'000;
  const std::size_t strings_before = interned::used().bytes;
  for (std::size_t i = 0; i < count; ++i) {
    objects::pod_spec spec;
    spec.name = "payment-service-7d9c6b5f4-" + std::to_string(10'000 + i);
    spec.version = i + 1;
    spec.node = "node-" + std::to_string(i / 100);
    spec.labels =
        R"("app":"payment","pod-template-hash":"7d9c6b5f4","team":"core","version":"v1","zone":"a")";
    pods.put(make(spec), origin::list);
  }
  const std::size_t strings = interned::used().bytes - strings_before;
  EXPECT_LT((pods.memory_bytes() + strings) / count, 400u);
  pods.begin_relist();
  EXPECT_EQ(pods.sweep(), count);
  EXPECT_LT(pods.memory_bytes(), 10'000u) << "an empty store keeps nothing";
}

}  // namespace
}  // namespace k8s
