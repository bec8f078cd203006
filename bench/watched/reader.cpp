#include "bench/watched/reader.hpp"

#include "bench/measure.hpp"
#include "bench/quiet_server.hpp"
#include "bench/watched/corpus.hpp"
#include "bootc/kinds/bootc_node.hpp"
#include "helm/tenants/kinds/tenant.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/client/wire.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/views/node.hpp"
#include "k8s/views/pod.hpp"
#include "k8s/views/secret.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace bench {
namespace {

using namespace std::chrono_literals;

struct reading_order {
  bool fleet = false;
  std::string collection, server, authority;
  std::size_t clusters = 0, events = 0;
};

/// What the handlers see, from the tenth part of the events on.
struct handled {
  std::size_t events = 0, warm = 0, want = 0, objects = 0;
  reactor::nanoseconds cpu{}, cpu_end{}, wall{}, wall_end{};
  std::vector<std::int64_t> late_us;

  void changed(const k8s::object_meta& meta) {
    const std::uint64_t version = std::strtoull(meta.resource_version.text().c_str(), nullptr, 10);
    if (++events == warm) {
      cpu = process_cpu();
      wall = monotonic();
    }
    if (events > warm && events <= want)
      late_us.push_back(monotonic() / 1us - static_cast<std::int64_t>(version - corpus_version));
    if (events == want) {
      cpu_end = process_cpu();
      wall_end = monotonic();
    }
  }
};

/// One cluster: a client and an informer.
class followed {
public:
  virtual ~followed() = default;
  virtual k8s::informer_base& informer() = 0;
  virtual reactor::awaitable<void> stop() = 0;
};

template <class View>
class followed_views final : public followed {
public:
  followed_views(reactor::loop& l, k8s::connection to, const k8s::resource& of, handled& tally)
      : api_(l, std::move(to)), informer_(l, api_, options(of)) {
    informer_.on_change([&tally](const View* before, const View* now) {
      if (!before) ++tally.objects;
      if (before && now) tally.changed(now->meta);
    });
    informer_.start();
  }
  k8s::informer_base& informer() override { return informer_; }
  reactor::awaitable<void> stop() override {
    co_await informer_.stop();
    co_await api_.stop();
  }

private:
  static k8s::informer_options options(const k8s::resource& of) {
    k8s::informer_options o;
    o.collection = of;
    o.stream_initial = false;
    return o;
  }
  k8s::client api_;
  k8s::informer<View> informer_;
};

std::unique_ptr<followed> follow_one(reactor::loop& l, k8s::connection to, const std::string& what,
                                     handled& tally) {
  const k8s::resource& of = collection_called(what).kind();
  const auto with = [&]<class View>(View*) -> std::unique_ptr<followed> {
    return std::make_unique<followed_views<View>>(l, std::move(to), of, tally);
  };
  if (what == "nodes") return with(static_cast<k8s::node*>(nullptr));
  if (what == "secrets") return with(static_cast<k8s::secret*>(nullptr));
  if (what == "bootcnodes") return with(static_cast<bootc::bootc_node*>(nullptr));
  if (what == "tenants") return with(static_cast<helm::tenants::tenant*>(nullptr));
  return with(static_cast<k8s::pod*>(nullptr));
}

void print(const boost::json::object& o) {
  std::printf("%s\n", boost::json::serialize(o).c_str());
  std::fflush(stdout);
}

boost::json::object head_of_a_peer() {
  const boost::json::object e = environment();
  boost::json::object o{{"client", "windlass"}, {"encoding", "json"}};
  o["version"] = "this build";
  o["runtime"] = e.at("compiler");
  return o;
}

void tell_events(boost::json::object& out, handled& tally) {
  const double n = static_cast<double>(tally.want - tally.warm);
  out["cpu_us_per_event"] = static_cast<double>((tally.cpu_end - tally.cpu).count()) / 1e3 / n;
  out["wall_us_per_event"] = static_cast<double>((tally.wall_end - tally.wall).count()) / 1e3 / n;
  std::ranges::sort(tally.late_us);
  const auto at = [&](double share) {
    return tally
        .late_us[static_cast<std::size_t>(share * static_cast<double>(tally.late_us.size() - 1))];
  };
  out["p50_us"] = at(0.5);
  out["p99_us"] = at(0.99);
  out["p999_us"] = at(0.999);
}

/// What no reader of JSON can do without: each event decrypted, parsed, and its version read.
reactor::awaitable<void> read_floor(reactor::loop& l, reading_order order) {
  handled tally;
  tally.want = order.events;
  tally.warm = tally.want / 10;
  reactor::http::client_options o;
  o.origin = *reactor::http::parse_origin(order.server);
  o.tls.ca_pem = order.authority;
  reactor::http::client to(l, std::move(o));
  reactor::http::request r;
  r.method = "GET";
  r.target =
      "/c0" + collection_called(order.collection).kind().collection_path().value() + "?watch=true";
  auto stream = co_await to.send(std::move(r));
  std::string rest;
  while (stream && tally.events < tally.want) {
    auto piece = co_await (*stream)->read(1min);
    if (!piece || piece->empty()) break;
    rest += *piece;
    std::size_t begin = 0;
    for (std::size_t end; (end = rest.find('\n', begin)) != rest.npos; begin = end + 1) {
      auto event = k8s::shared_parser().parse(std::string_view(rest).substr(begin, end - begin));
      if (!event || (*event)["type"].text() != "MODIFIED") continue;
      k8s::object_meta meta;
      meta.resource_version =
          k8s::resource_version((*event)["object"]["metadata"]["resourceVersion"].text());
      tally.changed(meta);
    }
    rest.erase(0, begin);
  }
  if (stream) stream->reset();
  co_await to.stop();
  boost::json::object out = head_of_a_peer();
  if (tally.events < tally.want)
    out = {{"error", "the stream ended early"}};
  else
    tell_events(out, tally);
  print(out);
  l.stop();
}

reactor::awaitable<void> read_all(reactor::loop& l, reading_order order) {
  const reactor::nanoseconds began = monotonic();
  handled tally;
  tally.want = order.fleet ? 0 : order.events;
  tally.warm = tally.want / 10;
  tally.late_us.reserve(tally.want);
  k8s::connection to;
  to.source = "bench";
  to.ca.bytes = reactor::secret(order.authority);
  std::vector<std::unique_ptr<followed>> all;
  for (std::size_t i = 0; i < order.clusters; ++i) {
    k8s::connection one = to;
    one.server = order.server + "/c" + std::to_string(i);
    all.push_back(follow_one(l, std::move(one), order.collection, tally));
  }
  boost::json::object out = head_of_a_peer();
  if (order.fleet) {
    for (const auto& f : all)
      while (f->informer().state() != k8s::informer_state::live) co_await l.sleep_for(2ms);
    out["synced_s"] = seconds_of(monotonic() - began);
    out["sync_cpu_s"] = seconds_of(process_cpu());
    co_await l.sleep_for(1s);  // what listing left behind ends
    out["objects"] = tally.objects;
    trim_heap();
    print(out);
    co_await l.sleep_for(24h);  // until it is killed
  }
  while (tally.events < tally.want) co_await l.sleep_for(2ms);
  tell_events(out, tally);
  print(out);
  for (const auto& f : all) co_await f->stop();
  l.stop();
}

}  // namespace

int run_corpus_reader(const std::vector<std::string>& words) {
  try {
    const bool floor = words.size() == 7 && words[1] == "floor-json";
    if (words.size() != 7 || (!floor && words[1] != "typed-json"))
      throw std::runtime_error("seven words are wanted, the second typed-json or floor-json");
    reading_order order;
    order.fleet = words[0] == "fleet";
    order.collection = collection_called(words[2]).name;
    order.clusters = std::stoul(words[3]);
    order.events = std::stoul(words[4]);
    order.server = words[5];
    std::ifstream in(words[6]);
    order.authority.assign(std::istreambuf_iterator<char>(in), {});
    allow_many_descriptors();
    reactor::loop l;
    reactor::task_group tasks(l);
    tasks.start("reader", floor ? read_floor(l, std::move(order)) : read_all(l, std::move(order)));
    l.run();
    return 0;
  } catch (const std::exception& e) {
    print({{"error", e.what()}});
    return 1;
  }
}

}  // namespace bench
