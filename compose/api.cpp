#include "compose/api.hpp"

#include "app/api/setup.hpp"
#include "app/flags.hpp"
#include "compose/compose_cluster.hpp"
#include "compose/metric_table.hpp"
#include "compose/rules/question.hpp"
#include "compose/tables.hpp"
#include "k8s/fleet/fleet.hpp"

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

namespace compose {
namespace {

/// Packs put this program into pods of theirs: where no flag says which image has it, the process's
/// own does.
pack_data::variable with_own_image(pack_data::variable v, std::function<std::string()> own_image) {
  if (!own_image) return v;
  return [v = std::move(v), own_image = std::move(own_image)](const std::string& name) {
    std::string said = v(name);
    return said.empty() && name == "OPERATOR_IMAGE_NAME" ? own_image() : said;
  };
}

class running final : public units::running_api {
public:
  running(const units::api_environment& h, pack_data::variable v)
      : environment_(h),
        variable_(with_own_image(std::move(v), h.own_image)),
        data_(h.loop, variable_, h.log),
        rows_(h.metrics, "compose"),
        names_(
            [this](const k8s::cluster& a, const k8s::cluster& b) {
              return environment_.fleet.compare(a, b) != k8s::sameness::other;
            },
            [this](const k8s::cluster& c) { return environment_.fleet.can_act(c, "compose"); }) {}
  std::unique_ptr<units::cluster_controller> on_cluster(k8s::engagement& on) override {
    return start(on, same_cluster::place::member);
  }
  std::unique_ptr<units::cluster_controller> at_home(k8s::engagement& on) override {
    return start(on, same_cluster::place::home);
  }

private:
  std::unique_ptr<units::cluster_controller> start(k8s::engagement& on, same_cluster::place at) {
    compose_cluster::options o{environment_, variable_, data_, rows_, names_, at};
    auto part = std::make_unique<compose_cluster>(on, std::move(o));
    part->start();
    return part;
  }
  units::api_environment environment_;
  pack_data::variable variable_;
  pack_data data_;
  units::row_budget rows_;
  same_cluster names_;
};

std::string from_environment(const std::string& name) {
  const char* text = std::getenv(name.c_str());
  return text == nullptr ? std::string() : std::string(text);
}

/// What packs learn of the environment, and of the flags that come before it.
struct trustee_flags {
  std::string namespaces;
  bool strict = false, hold = false;
};

units::api_setup declare_trustee_flags(app::flags& f) {
  const auto s = std::make_shared<trustee_flags>();
  f.value("--trustee-namespaces", s->namespaces,
          "where Trustee's instances are looked after (default: everywhere; where compose alone is "
          "named, what WATCH_NAMESPACES says)")
      .takes("NAMESPACE,…")
      .variables({"TRUSTEE_NAMESPACES"});
  f.on("--strict-versions", s->strict,
       "make no instance of Trustee of a version that is not in the catalogue, rather than one of "
       "`latest`");
  f.on("--hold-on-mismatch", s->hold,
       "keep the image of an instance of Trustee while a ConfigMap does not fit the new release");
  return [s](units::api& to, const units::process_facts& p) -> reactor::result<void> {
    set_up(to, [s, alone = p.is_alone, environment = p.environment](const std::string& name) {
      if (name == "TRUSTEE_NAMESPACES") return s->namespaces;
      if (name == "TRUSTEE_STRICT_VERSIONS" && s->strict) return std::string("true");
      if (name == "TRUSTEE_HOLD_ON_MISMATCH" && s->hold) return std::string("true");
      // WATCH_NAMESPACES belongs to kryptondeployments unless compose is the only API.
      if (name == "WATCH_NAMESPACES" && !alone) return std::string();
      return environment(name);
    });
    return {};
  };
}

}  // namespace

units::api api(pack_data::variable variable) {
  units::api a;
  a.name = "compose";
  a.says = {"composition", "compositions", "object", "objects"};
  a.watches = "composed objects";
  a.loads = "the kinds that packs name";
  a.runs_on = units::api::place::both;
  // It has no kind of its own at home, so it is there only where --apis names it: what the stock
  // packs compose for may be another operator's business.
  a.where_served = true;
  a.lease = api_lease;
  a.lease_ns = "bootc-operator";
  a.holds.assign(holds.begin(), holds.end());
  a.events.assign(events.begin(), events.end());
  a.conditions.assign(conditions.begin(), conditions.end());
  a.metrics.assign(metric_table::all.begin(), metric_table::all.end());
  set_up(a, variable ? std::move(variable) : from_environment);
  a.hooks = {policies::compose::related_hook(), policies::compose::sync_hook(),
             policies::compose::data_hook()};
  a.settings = declare_trustee_flags;
  return a;
}

void set_up(units::api& to, pack_data::variable variable) {
  to.make = [variable = std::move(variable)](const units::api_environment& h) {
    return std::make_unique<running>(h, variable);
  };
}

}  // namespace compose
