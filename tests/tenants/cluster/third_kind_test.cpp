// A third kind of object with a release: all that a new user of the keeper has to say.
#include "helm/placed/keeper.hpp"
#include "k8s/client/discovery.hpp"
#include "k8s/informer/informer.hpp"
#include "tests/reactor/run.hpp"
#include "tests/tenants/cluster/stage.hpp"

#include <algorithm>
#include <string>

namespace helm::tenants::testing {
namespace {

using namespace helm::placed;

constexpr std::string_view cleanup = "shops.example/cleanup", noted = "shops.example/fingerprint";
const k8s::annotation_filter its_annotations{false, {"shops.example/"}};

/// A ConfigMap stands for the object; its annotation names the version of the chart.
struct shop {
  k8s::object_meta meta;
  static shop parse(k8s::wire_value object) { return {k8s::parse_meta(object, its_annotations)}; }
  std::string version() const { return std::string(meta.annotations.get("shops.example/version")); }
  friend bool operator==(const shop&, const shop&) = default;
};
struct shop_world : placement_facts {
  std::optional<shop> object;
};

bool never_elsewhere(const names::owner_reference&) {
  return false;
}
const k8s::event_kind told_event{"ShopChanged", k8s::event_severity::normal, "ConfigMap", ""};
const placement_planner_words words{told_event, told_event, told_event,
                                    told_event, cleanup,    never_elsewhere};

class shop_planning final : placement_planner {
public:
  shop_planning(const shop_world& w, placement_plan& out)
      : placement_planner(w, named(w, out), w.object->meta, {}, {"Shop", w.object->meta.key()},
                          words),
        out_(out) {}
  void make() {
    if (object_.deleting())
      uninstall();
    else if (name_is_free() && has_finalizer("") && is_idle() && namespace_is_there())
      follow_release();
  }

private:
  static placement_plan& named(const shop_world& w, placement_plan& out) {
    out.workspace = out.release = w.object->meta.name.str();
    return out;
  }
  void wait(waits_for, std::string why, std::optional<nanoseconds> again) override {
    out_.reason = std::move(why);
    out_.again_in = again;
  }
  void reserved(const std::string&) override {}
  void lost(const std::string& conflict) override { out_.reason = conflict; }
  void terminating() override {}
  void absent() override { apply(step::install, ""); }
  void upgrade(std::string why) override { apply(step::upgrade, std::move(why)); }
  void deployed() override {
    if (object_.annotations.get(noted) == facts_.wanted.fingerprint) return;
    if (facts_.applied == facts_.wanted.fingerprint)
      go(step::note_fingerprint, "");
    else
      upgrade("");
  }
  void begin(step what, std::string why) override { go(what, std::move(why)); }
  void after_failure() override { wait(waits_for::backoff, "", waits_); }
  void nothing_left() override { let_go(""); }

  placement_plan& out_;
};

struct kept_shops {
  using object = shop;
  using writes = placed::object_writes<shop>;
  using world = shop_world;
  using plan = placement_plan;
  struct place {};
  struct extra {};
};

class shops final : placed::keeper<kept_shops> {
public:
  shops(reactor::loop& l, k8s::client& api, operation_slots& slots)
      : keeper(l, api, options_of(l, slots)),
        api_(api),
        known_to_(api),
        events_(l, api, {}),
        shops_(l, api, watched()) {
    shops_.on_change([this](const shop* before, const shop* now) {
      controller_.add((now ? now : before)->meta.key());
    });
    shops_.start();
    controller_.start();
  }
  awaitable<void> stop() {
    co_await stop_keeping();
    co_await shops_.stop();
    co_await events_.stop();
  }

private:
  static keeper::options options_of(reactor::loop& l, operation_slots& slots) {
    keeper::options o;
    o.words = {.api_version = "v1",
               .kind = "ConfigMap",
               .reporter = "shops",
               .component = "shops",
               .field = "shop",
               .deleting = "shops.example/deleting",
               .namespace_created = told_event,
               .record_doubted = told_event,
               .failed = retry_cause::operation};
    o.kind = k8s::resources::config_maps();
    o.finalizer = cleanup;
    o.slots = &slots;
    o.order = [] { return operation_order{.notes_ns = "windlass"}; };
    o.chart = [&l](chart_coordinates c) -> awaitable<supplied_chart> {
      co_await l.yield();
      std::vector<std::string> notes;
      auto loaded = load_archive(archive_of(c.version), notes);
      supplied_chart out;
      if (loaded) out.chart = std::make_shared<prepared_chart>(*std::move(loaded));
      co_return out;
    };
    return o;
  }
  static k8s::informer_options watched() {
    k8s::informer_options o;
    o.collection = k8s::resources::config_maps();
    o.ns = "default";
    return o;
  }

  awaitable<k8s::result<k8s::next>> reconcile(key_type key) override { return pass(key); }
  const shop* find_object(const key_type& key) const override { return shops_.find(key); }
  bool is_live() const override { return shops_.is_synced(); }
  const reactor::logger& log_to() const override { return log_; }
  awaitable<k8s::result<gathered>> gather(key_type key, shop about, ask how) override {
    gathered g;
    cluster_reads reads(loop_, api_, {});
    auto found = co_await look_at_release(reads, nullptr, key.name, key.name, {}, how);
    if (!found) co_return found.error();
    g.is.workspace = found->workspace;
    if (found->release) g.is.release = found->release->facts;
    g.is.wanted.chart = {"http://charts", "web", about.version()};
    g.is.wanted.fingerprint = fingerprint(g.is.wanted.chart, value());
    g.is.now = loop_.wall();
    g.is.object = std::move(about);
    recall(key, g, {g.is.object->meta.generation, g.is.wanted.fingerprint});
    co_return g;
  }
  placement_plan plan_for(const gathered& g) const override {
    placement_plan out;
    shop_planning(g.is, out).make();
    return out;
  }
  bool would_say(const gathered&, const placement_plan&) const override { return false; }
  void planned(const key_type&, const gathered&, const placement_plan&) override {}
  awaitable<stepped> rest(key_type, gathered, placement_plan p) override {
    stepped out;
    if (p.again_in) out.then = k8s::requeue_after(*p.again_in);
    co_return out;
  }
  k8s::client& api_of(const kept_shops::place&) const override { return api_; }
  k8s::discovery& discovery_of(const kept_shops::place&) const override { return known_to_; }
  std::string slot_of(const kept_shops::place&) const override { return "here"; }
  std::string fingerprint_name(const kept_shops::place&) const override {
    return std::string(noted);
  }
  k8s::event_recorder& events() override { return events_; }
  void log(reactor::log_level, std::string_view, const shop&, const std::string&) const override {}
  awaitable<void> namespace_failed(key_type, gathered, std::string) override { co_return; }
  bool complete(operation_order&, const gathered& g, const placement_plan&,
                const under_way&) override {
    return !g.is.wanted.chart.version.empty();
  }
  awaitable<void> announce(key_type, gathered&, placement_plan) override { co_return; }
  outcome_words words_of(operation, operation_end, const gathered&,
                         const placement_plan& p) const override {
    return {"", told_event, p.release};
  }
  void count(const under_way&, const placement_plan&, const std::string&,
             reactor::nanoseconds) override {}
  awaitable<void> say_failure(key_type, shop, step, operation, std::string) override { co_return; }

  k8s::client& api_;
  mutable k8s::discovery known_to_;
  k8s::event_recorder events_;
  k8s::informer<shop> shops_;
  reactor::logger log_;
};

TEST(AThirdKind, HasItsReleaseInstalledUpgradedAndRemoved) {
  reactor::loop l(reactor::loop::mode::simulated, 11);
  reactor::run_task(l, [&]() -> awaitable<void> {
    member server(l, "a");
    k8s::client api(l, server.to());
    operation_slots slots(l, 2, 4);
    const auto write = [&](const std::string& version) {
      server.api.put(json::parse(
                         R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default",
              "name":"corner","annotations":{"shops.example/version":")" +
                         version + "\"}}}")
                         .as_object());
    };
    write("1.2.0");
    auto keeps = std::make_unique<shops>(l, api, slots);
    co_await l.sleep_for(30s);
    EXPECT_EQ(server.records("corner", "corner"), "1:deployed");
    EXPECT_EQ(server.value("corner"), "standard 1.2.0");
    server.api.edit("", "configmaps", "default", "corner", [](json::object& o) {
      o["metadata"].as_object()["annotations"].as_object()["shops.example/version"] = "1.3.0";
    });
    co_await l.sleep_for(30s);
    EXPECT_EQ(server.records("corner", "corner"), "1:superseded 2:deployed");
    co_await keeps->stop();
    // Another process finds nothing to do.
    const std::size_t writes = server.writes;
    keeps = std::make_unique<shops>(l, api, slots);
    co_await l.sleep_for(30s);
    EXPECT_EQ(server.writes, writes);
    k8s::object_key corner{"default", "corner"};
    auto gone = co_await api.remove(k8s::resources::config_maps(), std::move(corner));
    EXPECT_TRUE(gone);
    co_await l.sleep_for(60s);
    EXPECT_FALSE(server.has("configmaps", "default", "corner"));
    EXPECT_EQ(server.records("corner", "corner"), "");
    co_await keeps->stop();
    co_await api.stop();
    co_await server.stop();
  });
}

}  // namespace
}  // namespace helm::tenants::testing
