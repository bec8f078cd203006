// One render for all that ask for the same, and nothing shared that is not the same.
#include "helm/apart/kept_renders.hpp"

#include "formats/gzip.hpp"
#include "formats/tar.hpp"
#include "helm/go.hpp"
#include "helm/release/record.hpp"
#include "helm/release/release_jobs.hpp"
#include "helm/render/chart_cache.hpp"
#include "reactor/task_group.hpp"
#include "reactor/work_memory.hpp"
#include "tests/reactor/run.hpp"

#include <boost/pfr/tuple_size.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace helm::release {
namespace {

using apart::kept_renders;
using reactor::awaitable;

constexpr const char* pure =
    "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {v: {{ .Values.v | quote }}}\n";

std::shared_ptr<prepared_chart> chart_with(const std::string& text) {
  formats::tar_writer tar(0);
  tar.file("web/Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.2.3\n");
  tar.file("web/values.yaml", "v: standard\n");
  tar.file("web/templates/NOTES.txt", "hello {{ .Release.Name }}");
  tar.file("web/templates/x.yaml", text);
  chart_cache cache;
  auto c = cache.from_archive(formats::gzip(std::move(tar).finish()));
  EXPECT_TRUE(c) << (c ? "" : c.error().text);
  return *c;
}

render_request asking(std::shared_ptr<prepared_chart> c, const std::string& v = "mine") {
  render_request r;
  r.chart = std::move(c);
  r.values = value(value::map_type{{"v", v}});
  r.release = {"acme", "tenants", 1, true, false};
  r.caps = default_capabilities();
  return r;
}

std::string record_of(const rendered& made) {
  record r;
  r.name = "acme";
  r.origin = made.processed;
  r.manifest = made.manifest;
  r.notes = made.notes;
  auto text = write_record(r);
  return text ? *text : text.error().text;
}

class KeptRenders : public ::testing::Test {
protected:
  rendered render(const render_request& r) {
    rendered out;
    run_task(loop_, [&]() -> awaitable<void> { out = co_await again(r); });
    return out;
  }
  awaitable<rendered> again(render_request r, apart::memory_share* within = nullptr) {
    r.values = detached_copy(r.values);
    rendered out = co_await render_apart(loop_, std::move(r), within);
    co_return out;
  }
  kept_renders::figures figures() { return kept_renders::of(loop_).look(); }
  reactor::loop loop_{reactor::loop::mode::simulated, 7};
};

TEST_F(KeptRenders, TheKeyHoldsEverythingThatTemplatesSee) {
  const auto c = chart_with(pure);
  std::set<std::string> keys{render_key(asking(c))};
  std::size_t changes = 0;
  const auto differs = [&](const std::function<void(render_request&)>& change) {
    render_request r = asking(c);
    change(r);
    EXPECT_TRUE(keys.insert(render_key(r)).second) << "change " << changes;
    ++changes;
  };
  // One for each field of render_input, and the chart.
  static_assert(boost::pfr::tuple_size_v<render_input> == 9);
  differs([](render_request& r) { r.values = value(value::map_type{{"v", "other"}}); });
  differs([](render_request& r) { r.chart_values = value(value::map_type{}); });
  differs([](render_request& r) { r.skip_schema = true; });
  differs([](render_request& r) { r.sub_notes = true; });
  differs([](render_request& r) { r.hide_secrets = true; });
  differs([](render_request& r) { r.look_up = false; });
  differs([](render_request& r) { r.limits.steps = 1'000; });
  differs([](render_request& r) { r.chart = chart_with(std::string(pure) + "# other\n"); });
  static_assert(boost::pfr::tuple_size_v<release_options> == 5);
  differs([](render_request& r) { r.release.name = "other"; });
  differs([](render_request& r) { r.release.name_space = "other"; });
  differs([](render_request& r) { r.release.revision = 2; });
  differs([](render_request& r) { r.release.is_install = false; });
  differs([](render_request& r) { r.release.is_upgrade = true; });
  static_assert(boost::pfr::tuple_size_v<capabilities> == 2);
  differs([](render_request& r) { r.caps.kube.version = "v1.35.0"; });
  differs([](render_request& r) { r.caps.api_versions.emplace_back("example.com/v1/Thing"); });
  EXPECT_EQ(keys.size(), changes + 1);
  // The same values made another way, at another time.
  render_request same = asking(c);
  same.values = detached_copy(same.values);
  same.now += std::chrono::hours(5);
  EXPECT_EQ(render_key(same), render_key(asking(c)));
  EXPECT_EQ(render_key(asking(c)).size(), 64u) << "SHA-256";
}

TEST_F(KeptRenders, NothingIsSharedWithAStepAfterItOrAnswersOrWithoutAnArchive) {
  const auto c = chart_with(pure);
  render_request r = asking(c);
  r.answers = std::make_shared<const lookup_answers>(
      lookup_answers{{{"v1", "ConfigMap", "ns", "x"}, {"{}", ""}}});
  EXPECT_EQ(render_key(r), "");
  std::vector<std::string> warnings;
  auto loaded =
      load_files({{"Chart.yaml", "apiVersion: v2\nname: web\nversion: 1.0.0\n"}}, warnings);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(render_key(asking(std::make_shared<prepared_chart>(*loaded))), "");
}

TEST_F(KeptRenders, TheNextCallerGetsTheSameAndOthersTheirOwn) {
  const auto c = chart_with(pure);
  const rendered first = render(asking(c)), second = render(asking(c));
  EXPECT_FALSE(first.failure || second.failure);
  EXPECT_NE(first.manifest.find("mine"), std::string::npos);
  EXPECT_EQ(record_of(first), record_of(second));
  EXPECT_EQ(second.notes, "hello acme");
  EXPECT_EQ(figures().made, 1u);
  EXPECT_EQ(figures().saved, 1u);
  const rendered other = render(asking(c, "theirs"));
  EXPECT_NE(other.manifest.find("theirs"), std::string::npos);
  EXPECT_EQ(other.manifest.find("mine"), std::string::npos);
  EXPECT_EQ(figures().made, 2u);
}

TEST_F(KeptRenders, WhatHadChanceTheTimeOrTheClusterIsRenderedForEach) {
  for (const char* action : {"randAlphaNum 20", "genPrivateKey \"ed25519\" | quote", "uuidv4",
                             "(genCA \"x\" 1).Key | quote"}) {
    const auto before = figures().made;
    const auto c =
        chart_with("kind: Secret\napiVersion: v1\nmetadata: {name: a}\nstringData: {v: {{ " +
                   std::string(action) + " }}}\n");
    std::set<std::string> manifests;
    for (int i = 0; i < 3; ++i) {
      const rendered made = render(asking(c));
      EXPECT_FALSE(made.failure) << (made.failure ? made.failure->text : "");
      EXPECT_TRUE(made.impure);
      manifests.insert(made.manifest);
    }
    EXPECT_EQ(manifests.size(), 3u) << action;
    EXPECT_EQ(figures().made, before + 3);
  }
  const auto asks = chart_with("a: {{ lookup \"v1\" \"Secret\" \"ns\" \"x\" | toJson }}\n");
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(render(asking(asks)).missing) << "each cluster is asked";
  EXPECT_EQ(figures().saved, 0u);
}

TEST_F(KeptRenders, AFailureIsNotKept) {
  const auto c = chart_with("{{ fail \"not today\" }}");
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(render(asking(c)).failure);
  EXPECT_EQ(figures().made, 2u);
  EXPECT_EQ(figures().entries, 0u);
}

TEST_F(KeptRenders, CallersOfOneMomentWaitForOneRender) {
  loop_.set_longest_job(std::chrono::seconds(1));
  const auto c = chart_with(pure);
  int told = 0;
  reactor::run_task(loop_, [&]() -> awaitable<void> {
    reactor::task_group tasks(loop_);
    for (int i = 0; i < 20; ++i)
      tasks.start("ask", [&]() -> awaitable<void> {
        const rendered made = co_await again(asking(c));
        told += made.manifest.find("mine") != std::string::npos;
      });
    co_await tasks.join();
  });
  EXPECT_EQ(told, 20);
  EXPECT_EQ(figures().made, 1u);
  EXPECT_EQ(figures().saved, 19u);
}

TEST_F(KeptRenders, ACancelledFirstCallerStrandsNone) {
  loop_.set_longest_job(std::chrono::seconds(1));
  const auto c = chart_with(pure);
  int told = 0;
  reactor::run_task(loop_, [&]() -> awaitable<void> {
    reactor::task_group first(loop_), others(loop_);
    first.start("first", [&]() -> awaitable<void> { (void)co_await again(asking(c)); });
    while (figures().made == 0) co_await loop_.sleep_for(std::chrono::milliseconds(1));
    for (int i = 0; i < 3; ++i)
      others.start("other", [&]() -> awaitable<void> {
        const rendered made = co_await again(asking(c));
        told += made.manifest.find("mine") != std::string::npos;
      });
    co_await first.cancel_and_join();
    co_await others.join();
  });
  EXPECT_EQ(told, 3);
  EXPECT_EQ(figures().made, 2u);
}

/// It has what the one that renders may wait for (docs/adr/0015).
TEST_F(KeptRenders, ALargeOperationWaitsForNobody) {
  const auto c = chart_with(pure);
  reactor::run_task(loop_, [&]() -> awaitable<void> {
    reactor::work_memory memory(loop_);
    reactor::work_memory::share large(&memory, "large", std::chrono::hours(1)),
        small(&memory, "small", std::chrono::hours(1));
    auto grown = co_await large.grow();
    EXPECT_TRUE(grown);
    auto lead = kept_renders::of(loop_).take_lead(render_key(asking(c)));
    bool small_is_told = false;
    reactor::task_group tasks(loop_);
    tasks.start("small", [&]() -> awaitable<void> {
      (void)co_await again(asking(c), &small);
      small_is_told = true;
    });
    const rendered made = co_await again(asking(c), &large);
    EXPECT_FALSE(made.failure);
    EXPECT_EQ(figures().made, 1u);
    co_await loop_.sleep_for(std::chrono::minutes(10));
    EXPECT_FALSE(small_is_told) << "it waits for the lead";
    reactor::task_group gone(loop_);
    gone.start("gone", [&]() -> awaitable<void> { (void)co_await again(asking(c), &small); });
    co_await loop_.sleep_for(std::chrono::minutes(1));
    co_await gone.cancel_and_join();  // who waits may leave
    lead.reset();
    co_await tasks.join();
    EXPECT_TRUE(small_is_told);
  });
}

TEST_F(KeptRenders, TheLeastRecentlyUsedGoesFirstAndWhatIsTooLargeIsAMark) {
  kept_renders all(loop_);
  const auto entry = [](std::size_t packed, std::size_t unpacked = 1) {
    return kept_renders::entry{std::make_shared<const std::string>(packed, 'x'), unpacked};
  };
  constexpr std::size_t each = 256u << 10;
  for (int i = 0; i < 100; ++i) {
    all.keep("k" + std::to_string(i), entry(each));
    EXPECT_NE(all.find("k0"), nullptr) << "used each time";
    EXPECT_LE(all.look().bytes, kept_renders::most_bytes);
  }
  EXPECT_NE(all.find("k99"), nullptr);
  EXPECT_EQ(all.find("k1"), nullptr);
  EXPECT_EQ(all.look().entries, kept_renders::most_bytes / (each + kept_renders::entry_bytes));
  all.keep("k0", entry(each));  // again: it is counted once
  EXPECT_EQ(all.look().bytes, all.look().entries * (each + kept_renders::entry_bytes));
  all.keep("large", entry(kept_renders::most_bytes_of_one + 1));
  all.keep("long", entry(10, kept_renders::most_unpacked_bytes + 1));
  for (const char* key : {"large", "long"}) {
    ASSERT_NE(all.find(key), nullptr);
    EXPECT_EQ(all.find(key)->packed, nullptr);
  }
  // Marks are bounded as well.
  for (int i = 0; i < 100'000; ++i) all.keep("m" + std::to_string(i), {});
  EXPECT_LE(all.look().bytes, kept_renders::most_bytes);
}

TEST_F(KeptRenders, OfALargeRenderOnlyAMarkIsKept) {
  const auto c = chart_with(std::string(pure) + "# {{ repeat 9000000 \"x\" }}\n");
  for (int i = 0; i < 2; ++i) EXPECT_GT(render(asking(c)).manifest.size(), 9'000'000u);
  EXPECT_EQ(figures().made, 2u);
  EXPECT_EQ(figures().bytes, kept_renders::entry_bytes);
}

}  // namespace
}  // namespace helm::release
