#include "tests/fail_points/memory_run.hpp"

#include "bootc/api.hpp"
#include "cli/apis.hpp"
#include "formats/yaml/yaml.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/sim/fleet_server.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "service/service.hpp"
#include "simulation/manifests.hpp"
#include "simulation/node_world.hpp"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>

#include <memory>
#include <optional>

namespace fail_points {
namespace {

using namespace std::chrono_literals;

/// Writes lines as the real one does, and keeps them.
class formatting_sink final : public reactor::log_sink {
public:
  void write(const reactor::log_record& r) override {
    if (text.size() < 1 << 20)
      text += reactor::format_json(r) + "\n" + reactor::format_console(r, true) + "\n";
  }
  std::string text;
};

class memory_run {
public:
  explicit memory_run(const memory_run_hooks& hooks)
      : hooks_(hooks),
        loop_(reactor::loop::mode::simulated, 11),
        sink_(std::make_shared<formatting_sink>()),
        log_([this] { return loop_.wall(); }, sink_, reactor::log_level::info),
        tasks_(loop_) {}

  std::string go() {
    simulation::world_options o;
    o.clusters = 2;
    o.nodes = 2;
    o.mishaps = false;
    world_ = std::make_unique<simulation::node_world>(loop_, o);
    tasks_.start("run", run());
    loop_.run_until(loop_.now() + 3h);
    if (!ended_) return "the run did not come to its end in three hours\n" + sink_->text;
    const auto alive = loop_.live().tasks + loop_.live().streams + loop_.live().waits;
    if (alive > 0) note(std::to_string(alive) + " tasks, streams and waits are left alive");
    if (!wrong_.empty()) wrong_ += sink_->text;
    return std::move(wrong_);
  }

  const std::string& refused() const { return refused_; }

private:
  void note(const std::string& what) { wrong_ += what + "\n"; }

  reactor::awaitable<void> run() {
    (void)world_->start();
    world_->roll_out(simulation::new_image);
    (void)secure_.start();
    for (const std::string& crd : simulation::crd_manifests())
      secure_.api(0).put(formats::parse_kubernetes_yaml(crd, "CRD").value().as_object());
    hooks_.begin();
    co_await serve();
    hooks_.end();
    co_await world_->stop();
    co_await secure_.stop();
    ended_ = true;
  }

  reactor::awaitable<void> serve() {
    cli::service_options o = cli::with_all_apis();
    o.home = world_->home();
    o.policies.emplace_back(WINDLASS_SOURCE_DIR "/policies/examples");
    o.metrics_at = reactor::endpoint{"windlass", 8080};
    o.health_at = reactor::endpoint{"windlass", 8081};
    auto to = k8s::load_kubeconfig(secure_.kubeconfig(0), {});
    if (!to) {
      refused_ = to.error().message();
      co_return;
    }
    o.clusters.push_back({secure_.name(0), std::move(*to)});
    windlass_ = std::make_unique<cli::service>(loop_, std::move(o), log_);
    auto started = co_await windlass_->start();
    if (!started) {
      refused_ = started.error().message();
    } else {
      co_await ask();
      const reactor::steady_time give_up = loop_.now() + 1h;
      while (world_->hosts_on(simulation::new_image) < world_->node_count() &&
             loop_.now() < give_up)
        co_await loop_.sleep_for(1s);
      co_await loop_.sleep_for(30s);
      co_await check();
      co_await ask();
    }
    co_await windlass_->stop();
    windlass_.reset();
  }

  reactor::awaitable<void> ask() {
    for (const char* what : {"8081/healthz", "8080/metrics", "8081/clusters"}) {
      const std::string_view text(what);
      reactor::http::client_options o;
      o.origin = {false, "windlass", static_cast<std::uint16_t>(text[3] == '0' ? 8080 : 8081)};
      reactor::http::client caller(loop_, std::move(o));
      bool answered = false;
      for (int tries = 0; tries < 3 && !answered; ++tries) {
        reactor::http::request r;
        r.target = std::string(text.substr(4));
        auto got = co_await caller.fetch(std::move(r), 1 << 20);
        answered = got && got->status == 200 && !got->body.empty();
      }
      if (!answered) note(std::string(what) + " was not answered");
      co_await caller.stop();
    }
  }

  reactor::awaitable<void> check() {
    if (world_->hosts_on(simulation::new_image) < world_->node_count())
      note("only " + std::to_string(world_->hosts_on(simulation::new_image)) +
           " hosts were updated");
    world_->check_at_rest();
    for (const std::string& v : world_->violations()) note(v);
    std::vector<std::string> names = {secure_.name(0)};
    for (const auto& c : world_->clusters()) names.push_back(c->name());
    for (const std::string& name : names) {
      k8s::cluster* seen = windlass_->fleet().find(name);
      bootc::bootc_cluster* part = seen ? bootc::bootc_part(*seen) : nullptr;
      if (!part) {
        note(name + " is not engaged");
        continue;
      }
      auto differences = co_await part->differences();
      if (!differences) differences = co_await part->differences();
      if (!differences) {
        note(name + ": " + differences.error().message());
        continue;
      }
      for (const std::string& d : *differences) note(name + ": " + d);
    }
  }

  memory_run_hooks hooks_;
  reactor::loop loop_;
  std::shared_ptr<formatting_sink> sink_;
  reactor::logger log_;
  std::unique_ptr<simulation::node_world> world_;
  /// One more cluster, behind TLS with a client certificate.
  k8s::sim::fleet_server secure_{loop_,
                                 {.clusters = 1,
                                  .host = "secure",
                                  .port = 6443,
                                  .security = k8s::sim::transport_security::tls,
                                  .name_prefix = "secure-"}};
  std::unique_ptr<cli::service> windlass_;
  std::string wrong_, refused_;
  bool ended_ = false;
  reactor::task_group tasks_;
};

}  // namespace

std::string run_in_memory(const memory_run_hooks& hooks, std::string& refused) {
  memory_run one(hooks);
  std::string wrong = one.go();
  refused = one.refused();
  return wrong;
}

}  // namespace fail_points
