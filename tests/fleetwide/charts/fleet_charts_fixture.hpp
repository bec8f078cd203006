#pragma once

#include "fleetwide/charts/api.hpp"
#include "fleetwide/charts/chart_note.hpp"
#include "fleetwide/fleet_home.hpp"
#include "fleetwide/kinds/fleet_chart.hpp"
#include "fleetwide/kinds/names.hpp"
#include "formats/base64.hpp"
#include "k8s/client/client.hpp"
#include "k8s/informer/view.hpp"
#include "simulation/charts/chart_fleet.hpp"
#include "tests/simulation/fleet_service.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fleetwide::testing {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;
using simulation::chart_kind;

/// Six clusters in virtual time, two of each ring, and a shelf with charts `app` and `base`.
class FleetChartsOnClusters : public ::testing::Test {
protected:
  explicit FleetChartsOnClusters(std::vector<std::string> rings = {"canary", "canary", "early",
                                                                   "early", "", ""}) {
    std::vector<simulation::chart_fleet::place> places;
    for (std::size_t i = 0; i < rings.size(); ++i) {
      simulation::chart_fleet::place p;
      p.name = "c" + std::to_string(i);
      if (!rings[i].empty()) p.labels["ring"] = rings[i];
      p.labels["region"] = i % 2 ? "us" : "eu";
      places.push_back(std::move(p));
    }
    world_ = std::make_unique<simulation::chart_fleet>(loop_, std::move(places));
    home().put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "team-a"}}}});
    world_->shelf().put("app", "1.0.0");
    world_->shelf().put("app", "1.1.0");
    world_->shelf().put("app", "2.0.0", chart_kind::failing);
    world_->shelf().put("base", "1.0.0");
    world_->on_write = [this](std::size_t cluster, const k8s::sim::written& w) {
      saw(world_->clusters()[cluster]->name(), w);
    };
  }
  ~FleetChartsOnClusters() override { EXPECT_EQ(loop_.live(), reactor::live_counts()); }

  k8s::sim::api_server& home() { return world_->home_api(); }
  k8s::sim::api_server& api(const std::string& cluster) { return world_->api(cluster); }

  /// Releases as they become deployed: "c0:app 1.0.0".
  void saw(const std::string& cluster, const k8s::sim::written& w) {
    if (w.plural == "events") return;
    ++writes_;
    if (w.name == notes_object) saw_note(cluster);
    if (w.plural != "configmaps" || w.type == k8s::sim::write_type::deleted || !w.after) return;
    const json::object* data =
        w.after->if_contains("data") ? w.after->at("data").if_object() : nullptr;
    if (!data || !data->contains("version") || !data->contains("level")) return;
    const std::string name(w.after->at("metadata").at("name").as_string());
    const std::string version(data->at("version").as_string());
    if (std::exchange(versions_[cluster + ":" + name], version) != version)
      moves_.push_back(cluster);
  }

  /// Who begins before any of those that began is done.
  void saw_note(const std::string& cluster) {
    const auto now = note_on(cluster);
    const std::string content = now ? now->content : std::string();
    const bool is_new = std::exchange(contents_[cluster], content) != content;
    if (now && now->is == chart_note::state::done) one_is_done_ = true;
    if (now && is_new && now->is == chart_note::state::begun && !one_is_done_)
      began_.insert(cluster);
  }

  json::object fleet_chart(const std::string& version, const std::string& rollout = "{}",
                           const std::string& more = "", const std::string& name = "app",
                           const std::string& ns = "default") {
    return json::
        parse(R"({"apiVersion":"fleet.windlass.dev/v1alpha1","kind":"FleetChart","metadata":{"name":")" +
              name + R"(","namespace":")" + ns +
              R"("},"spec":{"clusters":{"selector":{}},"chart":{"repository":"http://shelf.demo.local","name":")" +
              name + R"(","version":")" + version + R"("},"namespace":"apps","rollout":)" +
              rollout + more + "}}")
            .as_object();
  }
  void edit(const std::function<void(json::object& o)>& change, const std::string& name = "app") {
    home().edit("fleet.windlass.dev", "fleetcharts", "default", name, change);
  }
  void edit_spec(const std::function<void(json::object& spec)>& change,
                 const std::string& name = "app") {
    edit([&](json::object& o) { change(o["spec"].as_object()); }, name);
  }
  void ask_for(const std::string& version, const std::string& name = "app") {
    edit_spec([&](json::object& spec) { spec["chart"].as_object()["version"] = version; }, name);
  }
  void annotate(const char* key, const std::string& value, const std::string& name = "app") {
    edit(
        [&](json::object& o) {
          json::value& all = o["metadata"].as_object()["annotations"];
          if (!all.is_object()) all.emplace_object();
          all.get_object()[key] = value;
        },
        name);
  }
  void put_config(const std::string& name, const std::string& key, const std::string& text) {
    json::object data;
    data[key] = text;
    home().put({{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata", {{"name", name}, {"namespace", "default"}}},
                {"data", std::move(data)}});
  }
  void put_secret(const std::string& name, const std::string& key, const std::string& text) {
    json::object data;
    data[key] = formats::encode_base64(text);
    home().put({{"apiVersion", "v1"},
                {"kind", "Secret"},
                {"type", "Opaque"},
                {"metadata", {{"name", name}, {"namespace", "default"}}},
                {"data", std::move(data)}});
  }
  json::value status(const std::string& name = "app", const std::string& ns = "default") {
    const auto o = home().get("fleet.windlass.dev", "fleetcharts", ns, name);
    const json::value* s = o ? o->if_contains("status") : nullptr;
    return s ? *s : json::value(json::object());
  }
  std::string said(const std::string& type, const std::string& name = "app",
                   const std::string& ns = "default") {
    const json::value s = status(name, ns);
    const json::value* all = s.as_object().if_contains("conditions");
    if (!all) return "none";
    for (const json::value& c : all->as_array())
      if (c.at("type") == json::string(type))
        return std::string(c.at("status").as_string()) + " " +
               std::string(c.at("reason").as_string()) + " " +
               std::string(c.at("message").as_string());
    return "none";
  }
  std::string on(const std::string& cluster, const std::string& release = "app",
                 const std::string& ns = "apps") {
    return world_->release_on(cluster, ns, release);
  }
  /// "c0 c1" of those that have it, in order of name.
  std::string who_has(const std::string& what, const std::string& release = "app") {
    std::string out;
    for (const auto& c : world_->clusters())
      if (on(c->name(), release) == what) out += (out.empty() ? "" : " ") + c->name();
    return out;
  }
  std::optional<chart_note> note_on(const std::string& cluster,
                                    const std::string& key = "apps.app") {
    const auto o = api(cluster).get("", "configmaps", "bootc-operator", "windlass-fleet");
    const json::value* text = o ? o->at("data").as_object().if_contains(key) : nullptr;
    return text ? read_note(std::string_view(text->as_string())) : std::nullopt;
  }
  /// "1:superseded 2:deployed"
  std::string records(const std::string& cluster, const std::string& release = "app",
                      const std::string& ns = "apps") {
    std::string out;
    for (int i = 1; i < 20; ++i) {
      const auto o = api(cluster).get("", "secrets", ns,
                                      "sh.helm.release.v1." + release + ".v" + std::to_string(i));
      if (o)
        out += (out.empty() ? "" : " ") + std::to_string(i) + ":" +
               std::string(o->at("metadata").at("labels").at("status").as_string());
    }
    return out;
  }
  /// The clusters in the order in which their releases were moved since the last call.
  std::string moved() {
    std::string out;
    for (const std::string& cluster : moves_) out += (out.empty() ? "" : " ") + cluster;
    moves_.clear();
    return out;
  }

  std::unique_ptr<simulation::fleet_service> service(units::mode does) {
    std::vector<units::api> apis;
    apis.push_back(charts());
    return std::make_unique<simulation::fleet_service>(
        loop_, world_->home(), std::move(apis), does, policies_,
        reactor::logger([this] { return loop_.wall(); }, lines_), brake_);
  }
  void run(std::function<awaitable<void>()> story) {
    reactor::task_group tasks(loop_);
    tasks.start("story", [this, story]() -> awaitable<void> {
      auto up = world_->start();
      EXPECT_TRUE(up);
      co_await story();
      co_await world_->stop();
    });
    loop_.run();
    world_.reset();
  }
  /// What a service does within that time.
  awaitable<void> serve(reactor::nanoseconds time) {
    auto w = service(units::mode::act);
    co_await w->start();
    co_await loop_.sleep_for(time);
    co_await w->stop();
  }
  awaitable<std::vector<units::plan_row>> plan(std::vector<json::object> assumed = {}) {
    auto looking = service(units::mode::look);
    co_await looking->start();
    std::vector<fleet_object> objects;
    for (json::object& o : assumed) {
      o["metadata"].as_object()["uid"] = "assumed";
      o["metadata"].as_object()["resourceVersion"] = "1";
      auto p = k8s::parse_view<fleetwide::fleet_chart>(json::serialize(o));
      EXPECT_TRUE(p);
      if (p) objects.push_back(std::move(*p));
    }
    auto* home = dynamic_cast<fleet_home*>(co_await looking->part_at_home("fleetcharts"));
    EXPECT_TRUE(home);
    home->assume(std::move(objects));
    std::vector<units::plan_row> rows = co_await home->overview();
    co_await looking->stop();
    co_return rows;
  }
  static std::string holds_in(const std::vector<units::plan_row>& rows) {
    std::string out;
    for (const units::plan_row& r : rows)
      for (const units::hold& h : r.holds) out += (out.empty() ? "" : " ") + h.unit + ":" + h.code;
    return out;
  }

  static constexpr const char* rings =
      R"({"waves":{"label":"ring","values":["canary","early"]},"maxClusters":2,"soak":"2m"})";
  static constexpr const char* rings_and_back =
      R"({"waves":{"label":"ring","values":["canary","early"]},"maxClusters":2,"onFailure":"Return"})";

  reactor::loop loop_{reactor::loop::mode::simulated, 45};
  std::unique_ptr<simulation::chart_fleet> world_;
  units::brake brake_;
  std::string policies_;  // a folder; empty: the stock packs
  std::map<std::string, std::string> versions_;
  std::vector<std::string> moves_;
  std::uint64_t writes_ = 0;  // without Events
  std::map<std::string, std::string> contents_;
  std::set<std::string> began_;
  bool one_is_done_ = false;
  std::shared_ptr<reactor::log_capture> lines_ = std::make_shared<reactor::log_capture>();
};

}  // namespace fleetwide::testing
