// What two writers note at one moment, on one server.
#include "helm/placed/noted_release.hpp"
#include "helm/tenants/home/remembered_places.hpp"
#include "reactor/side_by_side.hpp"
#include "tests/reactor/run.hpp"
#include "tests/tenants/cluster/stage.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

namespace helm::tenants::testing {
namespace {

class Ledger : public ::testing::Test {
protected:
  void run(std::function<awaitable<void>()> f) {
    reactor::run_task(l, [&]() -> awaitable<void> {
      co_await f();
      co_await api.stop();
      co_await server.stop();
    });
  }
  static release::record revision(int number, const std::string& manifest) {
    release::record r;
    r.name = "web";
    r.ns = "shop";
    r.revision = number;
    r.uid = "uid-" + std::to_string(number);
    r.manifest = manifest;
    return r;
  }
  noted_release notes() { return {l, api, "windlass", "shop", "web", "Tenant/default/shop"}; }

  reactor::loop l{reactor::loop::mode::simulated, 5};
  member server{l, "a"};
  k8s::client api{l, server.to()};
};

TEST_F(Ledger, ManyWritersOfOneEntryAndOfItsNeighboursLoseNothing) {
  run([&]() -> awaitable<void> {
    constexpr std::size_t writers = 6, entries = 40;
    std::vector<std::string> failed;
    std::function<awaitable<void>(std::size_t)> one = [&](std::size_t i) -> awaitable<void> {
      ledger in(api, "windlass");
      std::vector<std::string> keys = {"shared"};
      for (std::size_t k = i; k < entries; k += writers) keys.push_back("k" + std::to_string(k));
      for (const std::string& key : keys) {
        const char letter = static_cast<char>('a' + i);
        ledger::edit adds = [letter](const ledger::text& now) {
          return ledger::text(now.value_or("") + letter);
        };
        auto done = co_await in.change(key, std::move(adds));
        if (!done) failed.push_back(key + ": " + done.error().message());
      }
    };
    co_await reactor::side_by_side(writers, std::move(one), writers);
    EXPECT_THAT(failed, ::testing::IsEmpty());
    ledger in(api, "windlass");
    auto all = co_await in.read_all();
    if (!all) co_return ADD_FAILURE() << all.error().message();
    EXPECT_EQ(all->size(), entries + 1);
    std::string shared = (*all)["shared"];
    std::ranges::sort(shared);
    EXPECT_EQ(shared, "abcdef");
    // A text that stays the same costs no write, and one that is forgotten is gone.
    const std::size_t before = server.writes;
    ledger::edit same = [](const ledger::text& now) { return now; };
    (void)co_await in.change("shared", std::move(same));
    EXPECT_EQ(server.writes, before);
    ledger::edit none = [](const ledger::text&) { return ledger::text(); };
    (void)co_await in.change("shared", std::move(none));
    auto left = co_await in.read("shared");
    EXPECT_TRUE(left && !*left);
  });
}

TEST_F(Ledger, OfTwoWritersOfOneReleaseNeitherForgetsWhatTheOtherNoted) {
  run([&]() -> awaitable<void> {
    noted_release first = notes(), second = notes();
    std::optional<release::record> none;
    auto one = revision(1, "kind: A\n"), two = revision(2, "kind: B\n");
    co_await first.note(one, none);
    const bool believed = co_await second.knows(one);
    EXPECT_TRUE(believed);
    co_await second.note(two, std::optional(one));
    // The first one still tells how its revision went.
    co_await first.note(one, none);
    noted_release third = notes();
    const bool knows_two = co_await third.knows(two), knows_one = co_await third.knows(one);
    EXPECT_TRUE(knows_two && knows_one);
    // The release that it removes is not the one that was noted since.
    auto three = revision(3, "kind: C\n");
    co_await second.note(three, std::optional(two));
    co_await third.forget();
    noted_release fourth = notes();
    const bool still = co_await fourth.knows(two);
    EXPECT_TRUE(still);
    co_await fourth.forget();
    noted_release fifth = notes();
    const bool gone = co_await fifth.knows(two);
    EXPECT_FALSE(gone);
    for (const noted_release* n : {&first, &second, &third, &fourth, &fifth})
      EXPECT_EQ(n->told(), "");
  });
}

TEST_F(Ledger, NotesOfNamespacesThatAreGoneMakeRoom) {
  const std::string text(40'000, 'x');
  const std::vector<std::string> there = {"here", "also-here"};
  const std::vector<std::string> stay = {"here.web", "also-here.web", "_places.gone-0.eu"};
  // A finalizer that the Tenant's author takes away leaves its note behind.
  std::vector<std::string> keys;
  for (int i = 0; i < 600; ++i) keys.push_back("gone-" + std::to_string(i) + ".web");
  keys.insert(keys.begin(), stay.begin(), stay.end());
  run([&]() -> awaitable<void> {
    ledger in(api, "windlass");
    for (const std::string& ns : there) {
      k8s::object_key tenant{"default", ns};
      names::owner_reference owner{"Tenant", std::move(tenant)};
      std::string name = ns;
      auto made = co_await create_workspace(api, std::move(name), std::move(owner));
      EXPECT_TRUE(made);
    }
    for (const std::string& key : keys) {
      ledger::edit says = [&text](const ledger::text&) { return ledger::text(text); };
      auto done = co_await in.change(key, std::move(says));
      if (!done) co_return ADD_FAILURE() << key << ": " << done.error().message();
    }
    auto all = co_await in.read_all();
    if (!all) co_return ADD_FAILURE() << all.error().message();
    std::size_t bytes = 0;
    for (const auto& [key, said] : *all) bytes += key.size() + said.size();
    EXPECT_LE(bytes, 16 * (ledger::roomy_bytes + 2 * text.size()));
    for (const std::string& key : stay) EXPECT_TRUE(all->contains(key)) << key;
  });
}

TEST(LedgerKeys, ThatAreAboutNoNamespaceStay) {
  const std::vector<std::string> keys = {"a.web", "b.web", "b.other", "_places.b.eu", "text"};
  EXPECT_EQ(keys_of_gone(keys, {"a"}), (std::vector<std::string>{"b.web", "b.other"}));
}

TEST_F(Ledger, PlacesThatAnotherProcessRememberedStay) {
  run([&]() -> awaitable<void> {
    const k8s::object_key object{"default", "eu"}, a{"default", "a"}, b{"default", "b"},
        c{"default", "c"};
    const k8s::uid uid("u1");
    remembered_places first(api, "windlass"), second(api, "windlass");
    remembered_places third(api, "windlass");
    auto done = co_await first.load();
    EXPECT_TRUE(done);
    done = co_await second.load();
    EXPECT_TRUE(done);
    done = co_await first.add(object, uid, a);
    EXPECT_TRUE(done);
    done = co_await second.add(object, uid, b);
    EXPECT_TRUE(done);
    done = co_await first.add(object, uid, c);
    EXPECT_TRUE(done);
    done = co_await first.remove(object, a);
    EXPECT_TRUE(done);
    done = co_await third.load();
    EXPECT_TRUE(done);
    EXPECT_THAT(third.of(object, uid), ::testing::UnorderedElementsAre(b, c));
  });
}

}  // namespace
}  // namespace helm::tenants::testing
