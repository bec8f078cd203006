#include "tests/app/api/toy.hpp"

#include "app/api/extra_leases.hpp"
#include "k8s/client/client.hpp"
#include "k8s/fleet/cluster.hpp"
#include "k8s/informer/informer.hpp"
#include "reactor/metrics.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace toys {
namespace {

namespace json = boost::json;
using reactor::awaitable;

const k8s::resource& toys() {
  static const k8s::resource r{"example.com", "v1", "toys", "Toy", false};
  return r;
}

struct toy_view {
  k8s::object_meta meta;
  bool wound = false;
  static toy_view parse(k8s::wire_value object) {
    return {k8s::parse_meta(object), object["spec"]["wound"].boolean()};
  }
  friend bool operator==(const toy_view&, const toy_view&) = default;
};

constexpr reactor::metric_kind toys_wound{
    "toys_wound", reactor::metric_type::gauge, "", {"cluster"}, "Toys that are wound up."};

class part final : public units::cluster_controller {
public:
  part(k8s::engagement& on, const units::api_environment& h, nursery& n)
      : cluster_(on.on().name()), nursery_(n), toys_(on.loop(), on.api(), options(h)) {
    nursery_.on.insert(cluster_);
    on.follow(toys_);
    toys_.on_change([this, gauge = h.metrics.get_gauge(toys_wound, {{"cluster", cluster_}})](
                        const toy_view*, const toy_view*) mutable { gauge.set(double(wound())); });
    toys_.start();
    if (!h.extra_leases) return;
    const auto look = [this] {
      if (key_->ours())
        nursery_.with_key.insert(cluster_);
      else
        nursery_.with_key.erase(cluster_);
    };
    key_ = h.extra_leases->claim("key.example.com", look);
    look();
  }
  awaitable<void> stop() override {
    key_.reset();
    nursery_.with_key.erase(cluster_);
    co_await toys_.stop();
    nursery_.on.erase(nursery_.on.find(cluster_));
  }
  awaitable<bool> synced(reactor::steady_time deadline) override { return toys_.synced(deadline); }
  void reconsider() override { ++nursery_.reconsidered[cluster_]; }
  awaitable<std::vector<units::plan_row>> overview() override {
    units::plan_row shelf;
    shelf.name = "shelf";
    shelf.target = "wound";
    shelf.capacity = 1;
    shelf.updated = wound();
    toys_.objects().each([&](const toy_view& t) {
      units::unit u;
      u.name = t.meta.name.str();
      u.state = t.wound ? "Wound" : "Slack";
      u.is = t.wound ? units::standing::done : units::standing::moving;
      u.details = {{.key = "turns", .value = std::int64_t{t.wound ? 9 : 0}, .label = "turns"}};
      shelf.units.push_back(std::move(u));
    });
    std::ranges::sort(shelf.units, {}, &units::unit::name);
    for (const units::unit& u : shelf.units)
      if (u.is != units::standing::done) {
        shelf.holds.push_back({u.name, "no-key", "nobody has the key", "somebody finds it"});
        shelf.start.push_back(u.name);
      }
    shelf.updating = shelf.holds.size();
    std::vector<units::plan_row> rows;
    rows.push_back(std::move(shelf));
    co_return rows;
  }
  void describe(json::object& entry) const override { entry["toys"] = toys_.objects().size(); }

private:
  static k8s::informer_options options(const units::api_environment& h) {
    k8s::informer_options o;
    o.collection = toys();
    o.limits = h.limits;
    return o;
  }
  std::size_t wound() const {
    std::size_t n = 0;
    toys_.objects().each([&](const toy_view& t) { n += t.wound; });
    return n;
  }
  std::string cluster_;
  nursery& nursery_;
  std::unique_ptr<units::extra_leases::member> key_;
  k8s::informer<toy_view> toys_;
};

class running final : public units::running_api {
public:
  running(const units::api_environment& h, nursery& n) : environment_(h), nursery_(n) {}
  std::unique_ptr<units::cluster_controller> on_cluster(k8s::engagement& on) override {
    return std::make_unique<part>(on, environment_, nursery_);
  }
  std::unique_ptr<units::cluster_controller> at_home(k8s::engagement& on) override {
    return std::make_unique<part>(on, environment_, nursery_);
  }

private:
  units::api_environment environment_;
  nursery& nursery_;
};

}  // namespace

units::api api(nursery& n) {
  units::api a;
  a.name = "toys";
  a.says = {"shelf", "shelves", "toy", "toys"};
  a.kinds = {toys()};
  a.home_kinds = {toys()};
  a.remedy = "buy some";
  a.runs_on = units::api::place::both;
  a.metrics = {toys_wound};
  a.lease = "toys.example.com";
  a.lease_ns = "toys";
  a.make = [&n](const units::api_environment& h) { return std::make_unique<running>(h, n); };
  return a;
}

json::object crd() {
  return json::parse(
             R"({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "toys.example.com"},
    "spec": {"group": "example.com", "scope": "Cluster",
      "names": {"plural": "toys", "singular": "toy", "kind": "Toy", "listKind": "ToyList"},
      "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
        "type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})")
      .as_object();
}

json::object toy(const std::string& name, bool wound) {
  return {{"apiVersion", "example.com/v1"},
          {"kind", "Toy"},
          {"metadata", {{"name", name}}},
          {"spec", {{"wound", wound}}}};
}

}  // namespace toys
