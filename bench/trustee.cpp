#include "bench/trustee.hpp"

#include "bench/fleet/api_keeper.hpp"
#include "bench/fleet/served_fleet.hpp"
#include "bench/measure.hpp"
#include "bench/quiet_server.hpp"
#include "bench/trustee/instances.hpp"
#include "compose/api.hpp"
#include "compose/rules/answer.hpp"
#include "compose/rules/declaration.hpp"
#include "reactor/loop.hpp"
#include "simulation/mounted_catalogue.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

namespace bench {
namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
namespace composing = policies::compose;

constexpr std::size_t clusters = 10, instances_of_each = 50, asked_each = 20;
constexpr reactor::nanoseconds last_events = 10s, idle_window = 30s;

struct trustee_figures : course {
  double settle_s = 0, idle_writes = 0, idle_share = 0, catalogue_s = 0, sync_ms = 0, rss_mb = 0;
};

units::api api_with(const std::string& folder) {
  return compose::api([folder](const std::string& name) {
    return name == "TRUSTEE_TEMPLATES_DIR" ? folder
           : name == "OPERATOR_IMAGE_NAME" ? std::string("registry.example.com/windlass:1")
                                           : std::string();
  });
}

/// The questions with the most children, one for each kind of parent, are asked again and again;
/// the dearest tells.
class questions {
public:
  void take(const policies::question_note& n) {
    if (n.hook != "compose.sync") return;
    const policies::value parent = policies::plain_of(n.arguments.front()),
                          children = policies::plain_of(n.arguments.at(2));
    const policies::value::object* all = children.if_object();
    asked& known = by_kind_[parent.text_of("kind")];
    if (!all || (known.children > 0 && all->size() <= known.children)) return;
    known.children = all->size();
    known.note = n;
    known.parent.api_version = parent.text_of("apiVersion");
    known.parent.kind = parent.text_of("kind");
    known.parent.name = parent.text_of("name");
    known.parent.ns = parent.text_of("namespace");
    known.parent.uid = parent.text_of("uid");
  }

  reactor::awaitable<double> slowest_ms(policies::host& packs) const {  // borrowed
    policies::subject by_name;
    by_name.pack = "trustee";
    auto pack = packs.select("compose.sync", by_name);
    if (!pack) throw std::runtime_error(pack.error().message());
    const auto about = composing::read_declaration((*pack)->about());
    double out = 0;
    for (const auto& [kind, one] : by_kind_) {
      const reactor::nanoseconds began = process_cpu();
      for (std::size_t i = 0; i < asked_each; ++i) {
        std::vector<policies::argument> arguments = one.note.arguments;
        policies::judge accept = [&](const policies::value& v) -> reactor::result<void> {
          auto read = composing::read_answer(v, *about, one.parent);
          if (!read) return read.error();
          return {};
        };
        auto said = co_await packs.ask(*pack, one.note.hook, std::move(arguments),
                                       one.note.instructions, std::move(accept));
        if (!said) throw std::runtime_error(said.error().message());
      }
      out = std::max(out, seconds_of(process_cpu() - began) * 1e3 / asked_each);
    }
    co_return out;
  }

private:
  struct asked {
    std::size_t children = 0;
    policies::question_note note;
    composing::object parent;
  };
  std::map<std::string, asked> by_kind_;
};

reactor::awaitable<void> measure(reactor::loop& l, trustee_figures& out) {  // borrowed
  const served_fleet fleet("trustee", {clusters, instances_of_each});
  const double all = clusters * instances_of_each;
  simulation::mounted_catalogue mounted;
  api_keeper k(l, api_with(mounted.path()));
  auto loaded = co_await k.packs().load();
  if (!loaded) throw std::runtime_error(loaded.error().message());
  std::size_t empty = 0;
  std::function<void()> weigh = [&empty] {
    trim_heap();
    empty = resident_bytes();
  };
  co_await apart(l, out, std::move(weigh));
  out.held_up = {};  // packs are loaded before there is anybody who waits
  const auto wait_for = [&](std::string figure, const char* what) -> reactor::awaitable<void> {
    std::function<reactor::awaitable<bool>()> reached = [&]() -> reactor::awaitable<bool> {
      const json::object so_far = co_await fleet.ask(l, "/counts");
      out.rss_mb = std::max(out.rss_mb, megabytes(resident_bytes()) - megabytes(empty));
      co_return number_in(so_far, figure) == all;
    };
    co_await until(l, out, std::move(reached), what);
  };

  // Of Events a cluster is told some in a second.
  const auto all_told = [&]() -> reactor::awaitable<void> {
    for (double before = -1, now = 0; now != before;) {
      co_await l.sleep_for(last_events);
      const json::object so_far = co_await fleet.ask(l, "/counts");
      before = std::exchange(now, number_in(so_far, "events"));
    }
  };

  reactor::nanoseconds began = monotonic();
  co_await k.add_all(fleet);
  co_await wait_for("ready", "500 instances");
  out.settle_s = seconds_of(monotonic() - began);

  co_await all_told();
  const json::object before = co_await fleet.ask(l, "/disturb");
  began = monotonic();
  const reactor::nanoseconds cpu = process_cpu();
  co_await l.sleep_for(idle_window);
  out.idle_share = seconds_of(process_cpu() - cpu) / seconds_of(monotonic() - began);
  const json::object after = co_await fleet.ask(l, "/calm");
  out.idle_writes = number_in(after, "writes") - number_in(before, "writes");
  if (number_in(after, "changed") == 0) out.problem = "no Secret changed";

  began = monotonic();
  std::function<void()> move = [&mounted] { mounted.move_to(mounted.other_registry); };
  co_await apart(l, out, std::move(move));
  co_await wait_for("other", "a new catalogue for 500 instances");
  out.catalogue_s = seconds_of(monotonic() - began);
  out.held_up.add(l.take_health());

  co_await all_told();
  questions asked;
  k.packs().on_question = [&](const policies::question_note& n) { asked.take(n); };
  k.reconsider();
  co_await l.sleep_for(last_events);
  k.packs().on_question = nullptr;
  out.sync_ms = co_await asked.slowest_ms(k.packs());
  (void)l.take_health();  // what is asked in a row is no stall of the service
  co_await k.stop();
}

}  // namespace

json::object measure_trustee() {
  allow_many_descriptors();
  pin_to_core(0);
  trustee_figures f;
  run(f, [&](reactor::loop& l) { return measure(l, f); });
  json::object o = environment();
  o["settle_500_s"] = rounded(f.settle_s);
  o["idle_writes"] = f.idle_writes;
  o["idle_cpu_percent"] = rounded(f.idle_share * 100);
  o["catalogue_s"] = rounded(f.catalogue_s);
  o["sync_ms"] = rounded(f.sync_ms, 3);
  tell_stalls(o, f.held_up);
  o["rss_mb"] = rounded(f.rss_mb, 1);
  return o;
}

int run_trustee_sender(const std::string& text) {
  const fleet_size s = fleet_size_of(text);
  instances all;
  return serve_fleet(
      s, [&](reactor::loop& l, k8s::sim::api_server& api) { all.furnish(l, api, s.each); });
}

}  // namespace bench
