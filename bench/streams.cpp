#include "bench/streams.hpp"

#include "bench/child.hpp"
#include "bench/measure.hpp"
#include "bench/quiet_server.hpp"
#include "bench/sender.hpp"
#include "k8s/client/client.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/views/lease.hpp"
#include "k8s/views/node.hpp"
#include "k8s/views/pod.hpp"
#include "k8s/views/secret.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/certificates.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/net/tls.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>

#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <vector>

namespace bench {
namespace {

constexpr std::size_t objects_of_a_kind = 50, kinds = 4;

/// What follows one cluster.
class follower {
public:
  follower(reactor::loop& l, const k8s::connection& to)
      : api_(l, to),
        nodes_(l, api_, options(k8s::resources::nodes())),
        pods_(l, api_, options(k8s::resources::pods())),
        secrets_(l, api_, options(k8s::resources::secrets())),
        leases_(l, api_, options(k8s::resources::leases())) {
    pods_.add_index("node", [](const k8s::pod& p, std::vector<k8s::interned>& values) {
      if (!p.node.empty()) values.push_back(p.node);
    });
  }
  void start() {
    for (k8s::informer_base* i : all()) {
      i->set_freshness(
          k8s::freshness::none);  // as the service leaves a cluster where nothing moves
      i->start();
    }
  }
  bool live() {
    for (k8s::informer_base* i : all())
      if (i->state() != k8s::informer_state::live) return false;
    return true;
  }
  std::size_t objects() const {
    return nodes_.objects().size() + pods_.objects().size() + secrets_.objects().size() +
           leases_.objects().size();
  }
  reactor::awaitable<void> stop() {
    for (k8s::informer_base* i : all()) co_await i->stop();
    co_await api_.stop();
  }

private:
  static k8s::informer_options options(const k8s::resource& r) {
    k8s::informer_options o;
    o.collection = r;
    o.stream_initial = false;
    return o;
  }
  std::array<k8s::informer_base*, kinds> all() { return {&nodes_, &pods_, &secrets_, &leases_}; }

  k8s::client api_;
  k8s::informer<k8s::node> nodes_;
  k8s::informer<k8s::pod> pods_;
  k8s::informer<k8s::secret> secrets_;
  k8s::informer<k8s::lease> leases_;
};

struct reading {
  std::size_t resident = 0, heap = 0, objects = 0;
  double seconds = 0;
  bool complete = false;
};

reactor::awaitable<void> follow_fleet(reactor::loop& l, k8s::connection to, std::size_t clusters,
                                      reading& out) {
  const std::string base = to.server;
  std::vector<std::unique_ptr<follower>> fleet;
  const auto began = monotonic();
  // clusters that dial at the same time, as a start-up limits it
  constexpr std::size_t at_once = 50;
  const reactor::steady_time give_up = l.now() + std::chrono::minutes(5);
  for (std::size_t i = 0; i < clusters; ++i) {
    to.server = base + "/c" + std::to_string(i);
    fleet.push_back(std::make_unique<follower>(l, to));
    fleet.back()->start();
    if (i >= at_once)
      while (!fleet[i - at_once]->live() && l.now() < give_up)
        co_await l.sleep_for(std::chrono::milliseconds(2));
  }
  for (const auto& f : fleet)
    while (!f->live() && l.now() < give_up) co_await l.sleep_for(std::chrono::milliseconds(2));
  out.seconds = static_cast<double>((monotonic() - began).count()) / 1e9;
  trim_heap();
  out.resident = resident_bytes();
  out.heap = heap_bytes();
  out.complete = true;
  for (const auto& f : fleet) {
    out.objects += f->objects();
    out.complete = out.complete && f->live();
  }
  for (const auto& f : fleet) co_await f->stop();
  l.stop();
}

/// A process of its own for each point, so that one does not inherit what another left behind.
reading follow(std::size_t clusters, std::size_t objects) {
  auto process = child::start({"streams", "--sender", std::to_string(objects)});
  if (!process) throw std::runtime_error(process.error().message());
  k8s::connection to = sender_connection(*process);
  trim_heap();
  const std::size_t before = resident_bytes(), heap_before = heap_bytes();
  reading r;
  reactor::loop l;
  {
    reactor::task_group tasks(l);
    tasks.start("fleet", follow_fleet(l, std::move(to), clusters, r));
    l.run();
  }
  r.resident -= std::min(before, r.resident);
  r.heap -= std::min(heap_before, r.heap);
  return r;
}

/// What one more cluster's trust costs: every cluster has an authority of its own.
double bytes_per_authority() {
  constexpr std::size_t authorities = 100;
  reactor::loop l(reactor::loop::mode::simulated);
  std::vector<reactor::tls_settings> settings;
  for (std::size_t i = 0; i <= authorities; ++i) {
    auto made = reactor::make_authority("authority " + std::to_string(i), l.wall(),
                                        l.wall() + std::chrono::hours(1));
    if (!made) throw std::runtime_error(made.error().message());
    settings.emplace_back().ca_pem = std::move(made->certificate_pem);
  }
  std::vector<std::shared_ptr<reactor::tls_context>> contexts;
  contexts.reserve(settings.size());
  const auto make = [&](const reactor::tls_settings& s) {
    auto made = reactor::tls_client_context(s);
    if (!made) throw std::runtime_error(made.error().message());
    contexts.push_back(std::move(*made));
  };
  make(settings.front());  // what the first one needs, the others share
  const std::size_t before = heap_bytes();
  for (std::size_t i = 1; i < settings.size(); ++i) make(settings[i]);
  return static_cast<double>(heap_bytes() - before) / authorities;
}

/// Both ends of TLS handshakes in memory, one after the other.
class handshakes {
public:
  handshakes() {
    const auto from = loop_.wall() - std::chrono::hours(1), until = from + std::chrono::hours(24);
    reactor::certificate_request wanted;
    wanted.common_name = "api";
    wanted.dns_names = {"api"};
    wanted.not_before = from;
    wanted.not_after = until;
    auto authority = reactor::make_authority("bench", from, until);
    auto issued = authority ? reactor::issue_certificate(*authority, wanted) : authority;
    if (!issued) throw std::runtime_error(issued.error().message());
    reactor::tls_settings ours;
    ours.ca_pem = authority->certificate_pem;
    reactor::tls_server_settings theirs;
    theirs.certificate_pem = issued->certificate_pem;
    theirs.key_pem = issued->key_pem;
    client_ = tls_client_context(ours).value();
    server_ = tls_server_context(theirs).value();
    listener_ = loop_.net().listen({"api", 443}).value();
  }

  /// Processor time of both ends together, in microseconds for each.
  double measure(std::size_t times, bool resume) {
    const auto session = resume ? std::make_shared<reactor::tls_resumption>() : nullptr;
    run(1, session);
    const auto before = process_cpu();
    run(times, session);
    return static_cast<double>((process_cpu() - before).count()) / 1e3 / static_cast<double>(times);
  }

private:
  void run(std::size_t times, std::shared_ptr<reactor::tls_resumption> session) {
    reactor::task_group tasks(loop_);
    tasks.start("server", serve(times));
    tasks.start("client", connect(times, std::move(session)));
    loop_.run();
  }
  reactor::awaitable<void> serve(std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      auto raw = co_await listener_->accept();
      if (!raw) co_return;
      auto secured = co_await reactor::tls_accept(loop_, std::move(*raw), server_);
      if (secured) (void)co_await (*secured)->write_all(std::string_view("x"));
    }
  }
  reactor::awaitable<void> connect(std::size_t times,
                                   std::shared_ptr<reactor::tls_resumption> session) {
    for (std::size_t i = 0; i < times; ++i) {
      reactor::endpoint at{"api", 443};
      auto raw = co_await loop_.net().connect(std::move(at), reactor::never);
      if (!raw) co_return;
      auto secured = co_await reactor::tls_connect(loop_, std::move(*raw), client_, "api", session);
      char byte;
      if (secured) (void)co_await (*secured)->read_some({&byte, 1});
    }
  }

  reactor::loop loop_{reactor::loop::mode::simulated};
  std::shared_ptr<reactor::tls_context> client_, server_;
  std::unique_ptr<reactor::acceptor> listener_;
};

boost::json::object point(std::size_t clusters) {
  const reading r = follow(clusters, objects_of_a_kind);
  boost::json::object o;
  o["clusters"] = clusters;
  o["streams"] = clusters * kinds;
  o["objects"] = r.objects;
  o["complete"] = r.complete;
  o["rss_mb"] = rounded(static_cast<double>(r.resident) / 1e6, 1);
  o["heap_mb"] = rounded(static_cast<double>(r.heap) / 1e6, 1);
  o["bytes_per_cluster"] =
      rounded(static_cast<double>(r.resident) / static_cast<double>(clusters), 0);
  o["seconds_to_live"] = rounded(r.seconds);
  return o;
}

}  // namespace

boost::json::object measure_streams(std::size_t clusters) {
  allow_many_descriptors();
  pin_to_core(0);
  boost::json::object o = environment();
  const double authority_bytes = bytes_per_authority();
  const std::size_t idle_clusters = clusters ? clusters : 1'000;
  const double idle_streams = static_cast<double>(idle_clusters * kinds);
  const reading idle = follow(idle_clusters, 0);
  boost::json::array points;
  for (const std::size_t n :
       clusters ? std::vector<std::size_t>{clusters} : std::vector<std::size_t>{100, 1'000, 2'000})
    points.push_back(point(n));
  const boost::json::object& largest = points.back().as_object();
  o["clusters"] = largest.at("clusters");
  o["rss_mb"] = largest.at("rss_mb");
  o["bytes_per_cluster"] = largest.at("bytes_per_cluster");
  o["idle_streams"] = idle_clusters * kinds;
  o["bytes_per_stream"] = rounded(static_cast<double>(idle.resident) / idle_streams, 0);
  o["heap_bytes_per_stream"] = rounded(static_cast<double>(idle.heap) / idle_streams, 0);
  o["bytes_per_authority"] = rounded(authority_bytes, 0);
  {
    constexpr std::size_t times = 300;
    handshakes between;
    o["handshake_us"] = rounded(between.measure(times, false), 0);
    o["resumed_handshake_us"] = rounded(between.measure(times, true), 0);
  }
  o["complete"] = largest.at("complete");
  o["points"] = std::move(points);
  return o;
}

}  // namespace bench
