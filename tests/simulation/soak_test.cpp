// A month of a fleet in virtual time: what comes and goes must leave nothing behind.
#include "cli/apis.hpp"
#include "formats/base64.hpp"
#include "k8s/informer/intern.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/certificates.hpp"
#include "reactor/net/memory_network.hpp"
#include "reactor/net/tls.hpp"
#include "service/service.hpp"
#include "simulation/manifests.hpp"
#include "simulation/pool_cluster.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>

#if defined(__SANITIZE_ADDRESS__)
extern "C" std::size_t __sanitizer_get_current_allocated_bytes();  // GCC 12 ships no header for it
#endif

namespace {

using namespace std::chrono_literals;
namespace json = boost::json;
using reactor::awaitable;

#if defined(__SANITIZE_ADDRESS__)
constexpr int days = 4, settled_day = 1;  // what takes seconds of a processor takes minutes there
constexpr double most_bytes_a_rotation = 256;  // of eighty: one buffer that grew counts for thirty
std::size_t allocated_bytes() {
  return __sanitizer_get_current_allocated_bytes();
}
#else
constexpr int days = 30, settled_day = 2;
constexpr double most_bytes_a_rotation = 24;  // the smallest thing that malloc gives takes 32
std::size_t allocated_bytes() {
  const struct mallinfo2 m = ::mallinfo2();
  return m.uordblks + m.hblkhd;
}
#endif
constexpr int rotations_a_day = 34;  // 1,020 in thirty days

std::size_t open_files() {
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& f : std::filesystem::directory_iterator("/proc/self/fd")) ++n;
  return n;
}

std::size_t resident_bytes() {
  std::size_t whole = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> whole >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Everything that must not grow, at a moment when nothing moves.
struct holdings {
  std::size_t bytes = 0, files = 0, tasks = 0, streams = 0, waits = 0, timers = 0, strings = 0,
              series = 0, exposition = 0, objects = 0;

  void keep_least(const holdings& other) {
    for (auto member : {&holdings::bytes, &holdings::files, &holdings::tasks, &holdings::streams,
                        &holdings::waits, &holdings::timers, &holdings::strings, &holdings::series,
                        &holdings::exposition, &holdings::objects})
      this->*member = std::min(this->*member, other.*member);
  }
};

struct credentials {
  std::string ca, certificate, key, token;
};

class soak {
public:
  static constexpr std::size_t cluster_count = 2;

  soak() : loop_(reactor::loop::mode::simulated, 30), tasks_(loop_) {
    std::string name = testing::TempDir() + "/soak-XXXXXX";
    policies_ = ::mkdtemp(name.data());
    std::filesystem::create_directory(policies_ + "/order");
    write_policy();
    authority_ = reactor::make_authority("soak", from, until).value();
    k8s::sim::api_options at_home = k8s::sim::options_on(loop_);
    at_home.bookmark_every = 8s;  // so that nobody has to ask it whether it is there
    home_ = std::make_unique<k8s::sim::api_server>(std::move(at_home));
    home_->put({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "default"}}}});
    serve(*home_, {"home", 80}, nullptr);
    for (std::size_t i = 0; i < cluster_count; ++i) {
      simulation::cluster_options o;
      o.name = name_of(i);
      o.nodes = 3;
      o.crds = simulation::crd_manifests();
      clusters_.push_back(std::make_unique<simulation::pool_cluster>(loop_, std::move(o)));
      if (i != with_tls) {
        serve(clusters_.back()->api(), {name_of(i), 80}, nullptr);
        rotate(i);
        continue;
      }
      auto tls = std::make_shared<reactor::tls_server_settings>();
      const reactor::certified_key own = issue(name_of(i));
      tls->certificate_pem = own.certificate_pem;
      tls->key_pem = own.key_pem;
      tls->client_ca_pem = authority_.certificate_pem;
      serve(clusters_.back()->api(), {name_of(i), 443}, std::move(tls));
      rotate(i);
    }
  }
  ~soak() { std::filesystem::remove_all(policies_); }
  soak(const soak&) = delete;
  soak& operator=(const soak&) = delete;

  void run() {
    tasks_.start("soak", live());
    loop_.run();
    const reactor::live_counts left = loop_.live();
    EXPECT_EQ(left, reactor::live_counts{});
  }

  std::vector<holdings> by_day;
  std::size_t rotations = 0;

private:
  static constexpr reactor::wall_time from{1'577'836'800s}, until{2'524'608'000s};  // 2020, 2050

  /// A handshake costs more than all the rest; the others have tokens alone.
  static constexpr std::size_t with_tls = 0;

  static std::string name_of(std::size_t i) { return "cluster-" + std::to_string(i); }

  reactor::certified_key issue(const std::string& name) {
    reactor::certificate_request wanted;
    wanted.common_name = name;
    wanted.dns_names = {name};
    wanted.not_before = from;
    wanted.not_after = until;
    return reactor::issue_certificate(authority_, wanted).value();
  }

  void serve(k8s::sim::api_server& api, reactor::endpoint at,
             std::shared_ptr<reactor::tls_server_settings> tls) {
    servers_.push_back(std::make_unique<k8s::sim::server>(
        loop_, k8s::sim::server::settings{std::move(at), std::move(tls)}));
    servers_.back()->add(api);
    const auto started = servers_.back()->start();
    EXPECT_TRUE(started) << started.error().message();
  }

  /// A new authority beside the one that counts, a new client certificate and a new token.
  void rotate(std::size_t i) {
    ++rotations;
    const std::string nth = std::to_string(rotations);
    const std::string name = name_of(i);
    std::string trust, identity;
    if (i == with_tls) {
      const reactor::certified_key client = issue("windlass-" + nth);
      const std::string ca = authority_.certificate_pem +
                             reactor::make_authority("next " + nth, from, until)->certificate_pem;
      trust = ", certificate-authority-data: " + formats::encode_base64(ca);
      identity = ", client-certificate-data: " + formats::encode_base64(client.certificate_pem) +
                 ", client-key-data: " + formats::encode_base64(client.key_pem);
    }
    const std::string kubeconfig =
        "apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: c\n  cluster: "
        "{server: \"" +
        std::string(i == with_tls ? "https" : "http") + "://" + name + "\"" + trust +
        "}\nusers:\n- name: u\n  user: {token: token-" + nth + identity +
        "}\ncontexts:\n- name: c\n  context: {cluster: c, user: u}\n";
    home_->put({{"apiVersion", "v1"},
                {"kind", "Secret"},
                {"metadata",
                 {{"name", name},
                  {"namespace", "default"},
                  {"labels", {{"sigs.k8s.io/multicluster-runtime-kubeconfig", "true"}}}}},
                {"type", "Opaque"},
                {"data", {{"kubeconfig", formats::encode_base64(kubeconfig)}}}});
  }

  void write_policy() {
    std::ofstream(policies_ + "/order/policy.lua")
        << "-- edition " << ++policy_edition_ % 10
        << "\nlocal function plan(units, fleet, now)\n  local start = {}\n  for _, u in "
           "ipairs(units) "
           "do\n    if u.state == \"Staged\" and not u.slotted and #start < fleet.free then "
           "start[#start + 1] = u.name end\n  end\n  return { start = start, holds = {} }\nend\n"
           "return { name = \"order\", version = \"1\", order = 20, applies = { apis = { \"bootc\" "
           "} "
           "}, rollout = { plan = plan } }\n";
  }

  awaitable<void> live() {
    cli::service_options o = cli::with_all_apis();
    o.home.server = "http://home";
    o.home.source = "the soak";
    o.policies.emplace_back(policies_);
    // A month takes a minute because nobody asks a silent server whether it is there every ten
    // seconds: between two rounds of churn the clusters are Stale, which is one more thing that
    // comes and goes.
    o.limits.attended.named_every = o.limits.unattended.named_every = 5min;
    service_ = std::make_unique<cli::service>(loop_, std::move(o), reactor::logger());
    auto started = co_await service_->start();
    EXPECT_TRUE(started) << started.error().message();
    for (int day = 0; started && day < days; ++day) {
      const reactor::steady_time next_day = loop_.now() + 24h;
      for (int r = 0; r < rotations_a_day; ++r) co_await churn(day * rotations_a_day + r);
      co_await loop_.sleep_until(next_day - 30min);
      co_await measure(day, next_day);
    }
    co_await service_->stop();
    service_.reset();
    for (const auto& s : servers_) co_await s->stop();
    servers_.clear();
    clusters_.clear();
  }

  /// 40 minutes, in which every cluster gets new credentials and some trouble.
  awaitable<void> churn(int round) {
    const reactor::steady_time end = loop_.now() + 40min;
    reactor::memory_network& net = reactor::memory_network::of(loop_);
    for (std::size_t i = 0; i < cluster_count; ++i) {
      k8s::sim::api_server& api = clusters_[i]->api();
      const std::string& name = clusters_[i]->name();
      const int what = round + static_cast<int>(i) * 5;
      const std::string node = "extra-" + std::to_string(round % 20),
                        pool = "pool-" + std::to_string(round % 20);
      rotate(i);
      co_await loop_.sleep_for(20s);
      add_node(api, node);
      add_pool(api, pool);
      for (int pods = 0; const json::object& pod : api.list("", "pods")) {
        const json::object& meta = pod.at("metadata").as_object();
        if (meta.at("namespace") == "default" && ++pods <= 2)
          api.erase("", "pods", "default", meta.at("name").as_string());
      }
      clusters_[i]->set_image(round % 2 ? simulation::old_image : simulation::new_image);
      co_await loop_.sleep_for(1min);
      if (what % 3 == 0) net.cut_all(name);
      if (what % 5 == 0) api.compact();
      if (what % 13 == 0) api.restart(k8s::sim::api_server::memory::lost);
      if (what % 11 == 0) {
        net.set_reach(name, reactor::memory_network::reach::blackhole);
        co_await loop_.sleep_for(90s);
        net.set_reach(name, reactor::memory_network::reach::open);
      }
      if (what % 7 == 0) {  // leaves while it is in the middle of something, and comes back
        home_->erase("", "secrets", "default", name);
        co_await loop_.sleep_for(2min);
        rotate(i);
      }
      co_await loop_.sleep_for(1min);
      api.erase("node.bootc.dev", "bootcnodepools", "", pool);
      api.erase("", "nodes", "", node);
      co_await loop_.sleep_for(1min);
      api.erase("node.bootc.dev", "bootcnodes", "", node);
    }
    if (round % 9 == 0) {
      write_policy();
      service_->reload();
    }
    if (round % 17 == 0) net.cut_all("home");
    co_await loop_.sleep_until(end);
  }

  static void add_node(k8s::sim::api_server& api, const std::string& name) {
    api.put({{"apiVersion", "v1"},
             {"kind", "Node"},
             {"metadata",
              {{"name", name},
               {"labels", {{"node-role.kubernetes.io/worker", ""}, {"only-of", name}}}}},
             {"spec", json::object{}},
             {"status",
              {{"conditions", json::array{json::object{{"type", "Ready"}, {"status", "True"}}}}}}});
  }
  static void add_pool(k8s::sim::api_server& api, const std::string& name) {
    api.put({{"apiVersion", "node.bootc.dev/v1alpha1"},
             {"kind", "BootcNodePool"},
             {"metadata", {{"name", name}}},
             {"spec",
              {{"nodeSelector", {{"matchLabels", {{"nobody-has", name}}}}},
               {"image", {{"ref", simulation::old_image}}},
               {"rollout", {{"maxUnavailable", "25%"}}}}}});
  }

  holdings look() {
    holdings h;
    h.files = open_files();
    const reactor::live_counts live = loop_.live();
    h.tasks = live.tasks;
    h.streams = live.streams;
    h.waits = live.waits;
    h.timers = loop_.timers().size();
    h.strings = k8s::interned::used().strings;
    h.series = service_->metrics().series();
    h.exposition = service_->metrics().text().size();
    for (const auto& c : clusters_) h.objects += c->api().object_count();
    h.objects += home_->object_count();
    h.bytes = allocated_bytes();
    return h;
  }

  /// Once a day, in the same state as on every other day: everybody is there and calm, the servers
  /// have forgotten.
  awaitable<void> measure(int day, reactor::steady_time at) {
    for (const auto& c : clusters_) {
      c->set_image(simulation::old_image);
      forget_events(c->api());
    }
    forget_events(*home_);
    co_await loop_.sleep_until(at - 15s);
    for (const auto& c : clusters_) c->api().compact();
    home_->compact();
    for (std::size_t i = 0; i < cluster_count; ++i) rotate(i);
    co_await loop_.sleep_until(at);
    for (const auto& c : clusters_) {
      const k8s::cluster* seen = service_->fleet().find(c->name());
      EXPECT_TRUE(seen && seen->state() == k8s::cluster_state::live)
          << c->name() << " on day " << day << ": "
          << (seen ? std::string(k8s::name_of(seen->state())) : "not there");
    }
    holdings h = look();
    // A request that is under way at one moment is no growth: what stays is what every look sees.
    for (int looks = 1; looks < 9; ++looks) {
      co_await loop_.sleep_for(700ms);
      h.keep_least(look());
    }
    by_day.push_back(h);
    if (std::getenv("SOAK_TALKS"))
      std::printf(
          "day %d: bytes %zu files %zu tasks %zu streams %zu waits %zu timers %zu strings "
          "%zu series %zu exposition %zu objects %zu\n",
          day + 1, h.bytes, h.files, h.tasks, h.streams, h.waits, h.timers, h.strings, h.series,
          h.exposition, h.objects);
  }

  static void forget_events(k8s::sim::api_server& api) {
    for (const char* group : {"", "events.k8s.io"})
      for (const json::object& e : api.list(group, "events")) {
        const json::object& meta = e.at("metadata").as_object();
        api.erase(group, "events", meta.at("namespace").as_string(), meta.at("name").as_string());
      }
  }

  reactor::loop loop_;
  std::string policies_;
  int policy_edition_ = 0;
  reactor::certified_key authority_;
  std::unique_ptr<k8s::sim::api_server> home_;
  std::vector<std::unique_ptr<simulation::pool_cluster>> clusters_;
  std::vector<std::unique_ptr<k8s::sim::server>> servers_;
  std::unique_ptr<cli::service> service_;
  reactor::task_group tasks_;
};

TEST(Soak, AMonthOfChurnAndOfNewCredentialsLeavesNothingBehind) {
  soak fleet;
  fleet.run();
  ASSERT_EQ(fleet.by_day.size(), static_cast<std::size_t>(days));
  const auto most = [&](auto member, int first, int last) {
    std::size_t n = 0;
    for (int d = first; d <= last; ++d)
      n = std::max(n, fleet.by_day[static_cast<std::size_t>(d - 1)].*member);
    return n;
  };
  // The last days may reach what one of the first reached, and no more.
  const auto no_more = [&](auto member, const char* what) {
    EXPECT_LE(most(member, days - settled_day, days), most(member, settled_day, 3 * settled_day))
        << what << " grow";
  };
  no_more(&holdings::files, "descriptors");
  no_more(&holdings::tasks, "tasks");
  no_more(&holdings::streams, "streams");
  no_more(&holdings::waits, "waits");
  no_more(&holdings::timers, "timers");
  no_more(&holdings::series, "metric series");
  no_more(&holdings::strings, "interned strings");
  no_more(&holdings::objects, "objects of the simulated servers");
  const auto before = static_cast<double>(most(&holdings::bytes, settled_day, 3 * settled_day));
  const auto after = static_cast<double>(most(&holdings::bytes, days - settled_day, days));
  const double rotations = static_cast<double>(fleet.rotations) * (days - 3 * settled_day) / days;
  const double slope = (after - before) / rotations;
  std::printf(
      "## soak days %d rotations %zu rss_slope %.2f bytes a rotation (from %.0f to %.0f KiB, "
      "resident %zu KiB), descriptors %zu, series %zu, timers %zu, strings %zu\n",
      days, fleet.rotations, slope, before / 1024, after / 1024, resident_bytes() / 1024,
      fleet.by_day.back().files, fleet.by_day.back().series, fleet.by_day.back().timers,
      fleet.by_day.back().strings);
  EXPECT_LT(slope, most_bytes_a_rotation) << "memory grows";
}

}  // namespace
