#include "helm/upgrades/gated_api.hpp"

#include "app/api/setup.hpp"
#include "app/flags.hpp"
#include "helm/tenants/chart_children.hpp"
#include "helm/upgrades/upgrade_gate.hpp"

#include <memory>
#include <string>
#include <utility>

namespace helm::upgrades {

units::api gated(units::api a) {
  a.service_settings = [before = a.service_settings](app::flags& f) -> units::api_setup {
    struct said {
      bool gate = false;
      std::string waivers;
    };
    const auto to = std::make_shared<said>();
    f.on("--gate-removed-apis", to->gate,
         "hold control-plane nodes whose image has a newer minor of Kubernetes, while `windlass "
         "check upgrade` finds on their cluster what that would break, or cannot look at all");
    f.value("--removed-api-waivers", to->waivers,
            "YAML file of findings that do not count there until a day, each with a reason; read "
            "again before each judgement")
        .takes("FILE");
    const units::api_setup first = before ? before(f) : units::api_setup();
    return [to, first](units::api& of, const units::process_facts& p) -> reactor::result<void> {
      if (first)
        if (auto done = first(of, p); !done) return done.error();
      if (!to->gate && !to->waivers.empty())
        return reactor::make_fault(reactor::errc::refused, "",
                                   "--removed-api-waivers goes with --gate-removed-apis");
      if (!to->gate) return {};
      if (auto read = load_waivers(to->waivers); !read) return read.error();
      of.workers = tenants::start_chart_children;
      of.gates = gates_with(to->waivers);
      return {};
    };
  };
  return a;
}

}  // namespace helm::upgrades
