#include "bench/fleet/served_fleet.hpp"

#include "bench/measure.hpp"
#include "bench/quiet_server.hpp"
#include "bench/sender.hpp"
#include "k8s/client/client.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr reactor::nanoseconds longest_wait = 15min, between_looks = 50ms;

child started(const std::string& bench, const fleet_size& s) {
  auto process = child::start({bench, "--sender", s.text()});
  if (!process) throw std::runtime_error(process.error().message());
  return std::move(*process);
}

}  // namespace

fleet_size fleet_size_of(const std::string& text) {
  fleet_size out;
  const auto x = text.find('x');
  const char* const end = text.data() + text.size();
  std::from_chars(text.data(), end, out.clusters);
  if (x != text.npos) std::from_chars(text.data() + x + 1, end, out.each);
  return out;
}

served_fleet::served_fleet(const std::string& bench, fleet_size s)
    : size_(s), process_(started(bench, s)), to_(sender_connection(process_)) {}

k8s::connection served_fleet::to(std::size_t cluster) const {
  k8s::connection out = to_;
  out.server += "/" + name_of(cluster);
  return out;
}

reactor::awaitable<boost::json::object> served_fleet::ask(reactor::loop& l,
                                                          std::string path) const {
  k8s::client asking(l, to(0));
  auto said = co_await asking.get_path(std::move(path));
  co_await asking.stop();
  co_return said && said->is_object() ? said->get_object() : boost::json::object();
}

double number_in(const boost::json::object& o, std::string_view key) {
  const boost::json::value* v = o.if_contains(key);
  return v ? v->to_number<double>() : 0;
}

int serve_to_end(reactor::loop& l, k8s::sim::server& front) {
  if (auto started = front.start(); !started) {
    std::fprintf(stderr, "bench: %s\n", started.error().message().c_str());
    return 1;
  }
  std::printf("%s \n", front.url().c_str());
  std::fflush(stdout);
  l.run();
  return 0;
}

int serve_fleet(const fleet_size& s,
                const std::function<void(reactor::loop& l, k8s::sim::api_server& api)>& furnish) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlives the benchmark
  allow_many_descriptors();
  pin_to_core(1);
  reactor::loop l;
  k8s::sim::server front(l, k8s::sim::server::settings{{"127.0.0.1", 0}, nullptr});
  std::vector<std::unique_ptr<k8s::sim::api_server>> clusters;
  for (std::size_t i = 0; i < s.clusters; ++i) {
    clusters.push_back(std::make_unique<k8s::sim::api_server>(k8s::sim::options_on(l)));
    furnish(l, *clusters.back());
    front.add(*clusters.back(), "/" + served_fleet::name_of(i));
  }
  return serve_to_end(l, front);
}

void run_on(reactor::loop& l, const std::function<reactor::awaitable<void>()>& body) {
  reactor::task_group tasks(l);
  const auto whole = [&]() -> reactor::awaitable<void> {
    co_await body();
    l.stop();
  };
  tasks.start("measurement", whole());
  l.run();
}

void run(course& c, const std::function<reactor::awaitable<void>(reactor::loop&)>& body) {
  reactor::loop l;
  run_on(l, [&]() -> reactor::awaitable<void> {
    co_await body(l);
    c.held_up.add(l.take_health());
  });
  if (!c.problem.empty()) throw std::runtime_error(c.problem);
}

reactor::awaitable<void> apart(reactor::loop& l, course& c, std::function<void()> f) {  // borrowed
  // A turn counts when it is over.
  co_await l.yield();
  c.held_up.add(l.take_health());
  f();
  co_await l.yield();
  (void)l.take_health();
}

reactor::awaitable<void> until(reactor::loop& l, course& c,
                               std::function<reactor::awaitable<bool>()> is, const char* what) {
  const reactor::steady_time end = l.now() + longest_wait;
  while (c.problem.empty()) {
    const bool so = co_await is();
    if (so) co_return;
    if (l.now() > end) c.problem = std::string(what) + ": not in time";
    co_await l.sleep_for(between_looks);
  }
}

reactor::awaitable<void> until(reactor::loop& l, course& c, std::function<bool()> is,
                               const char* what) {
  std::function<reactor::awaitable<bool>()> asked = [&is]() -> reactor::awaitable<bool> {
    co_return is();
  };
  co_await until(l, c, std::move(asked), what);
}

}  // namespace bench
