#include "bench/watch.hpp"

#include "bench/child.hpp"
#include "bench/measure.hpp"
#include "bench/pods.hpp"
#include "bench/sender.hpp"
#include "bench/watched/peers.hpp"
#include "k8s/client/client.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/views/pod.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>

namespace bench {
namespace {

constexpr std::size_t pods = 500;  // objects the events are about
// ten digits, so that versions are overwritten in place
constexpr std::uint64_t first_version = 1'000'000'000;
constexpr std::size_t chunk_bytes = 256 * 1024;

/// Events that were written out beforehand; each round only their versions are overwritten.
class prepared_events {
public:
  explicit prepared_events(std::size_t bytes) {
    const std::string marker = "\"resourceVersion\":\"";
    for (std::size_t i = 0; i < std::max<std::size_t>(pods, 8 * chunk_bytes / bytes); ++i) {
      const std::string event = pod_event(i % pods, first_version, bytes);
      versions_.push_back(text_.size() + event.find(marker) + marker.size());
      text_ += event;
      ends_.push_back(text_.size());
    }
  }
  std::size_t count() const { return ends_.size(); }
  /// Event `i` with version `v`, in place.
  void stamp(std::size_t i, std::uint64_t v) {
    for (std::size_t digit = 10; digit-- > 0; v /= 10)
      text_[versions_[i] + digit] = static_cast<char>('0' + v % 10);
  }
  std::string_view range(std::size_t from, std::size_t to) const {
    const std::size_t begin = from == 0 ? 0 : ends_[from - 1];
    return std::string_view(text_).substr(begin, ends_[to - 1] - begin);
  }
  std::size_t mean_bytes() const { return text_.size() / ends_.size(); }

private:
  std::string text_;
  std::vector<std::size_t> versions_, ends_;
};

struct specification {
  bool tls = false;
  std::size_t bytes = 0, events = 0;
};
specification parse(const std::string& text) {
  specification s;
  s.tls = text.starts_with("tls:");
  const auto first = text.find(':'), second = text.find(':', first + 1);
  s.bytes = std::strtoul(text.c_str() + first + 1, nullptr, 10);
  s.events = std::strtoul(text.c_str() + second + 1, nullptr, 10);
  return s;
}

class sender {
public:
  explicit sender(specification s) : specification_(s), events_(s.bytes) {}

  reactor::awaitable<void> answer(reactor::http::request r, reactor::http::responder& to) {
    const reactor::http::target_parts target = reactor::http::split_target(r.target);
    const bool watching = target.get("watch").has_value();
    if (!watching) {
      reactor::http::response list;
      list.fields.add("Content-Type", "application/json");
      list.body = R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                  std::to_string(first_version) + R"("},"items":[)";
      for (std::size_t i = 0; i < pods; ++i)
        list.body += (i ? "," : "") + pod_json(i, first_version, specification_.bytes);
      list.body += "]}";
      (void)co_await to.send(std::move(list));
      co_return;
    }
    reactor::http::response_head head;
    head.status = 200;
    head.fields.add("Content-Type", "application/json");
    auto started = co_await to.start(std::move(head));
    if (!started) co_return;
    std::uint64_t version = first_version;
    const auto cpu_before = process_cpu();
    const auto began = monotonic();
    for (std::size_t sent = 0; sent < specification_.events;) {
      const std::size_t from = sent % events_.count();
      std::size_t to_event = from;
      while (to_event < events_.count() && sent + (to_event - from) < specification_.events &&
             (to_event == from || events_.range(from, to_event).size() < chunk_bytes))
        events_.stamp(to_event++, ++version);
      std::string chunk(events_.range(from, to_event));
      sent += to_event - from;
      auto written = co_await to.write(std::move(chunk));
      if (!written) co_return;
    }
    const double n = static_cast<double>(specification_.events);
    std::printf("%.3f %.3f\n", static_cast<double>((process_cpu() - cpu_before).count()) / 1e3 / n,
                static_cast<double>((monotonic() - began).count()) / 1e3 / n);
    std::fflush(stdout);
    // Until the reader has seen enough and closes.
    for (;;) {
      auto idle = co_await to.write(
          R"({"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":")" +
          std::to_string(version) + "\"}}}\n");
      if (!idle) co_return;
      co_await wait_(std::chrono::seconds(5));
    }
  }
  std::function<reactor::awaitable<void>(reactor::nanoseconds)> wait_;

private:
  specification specification_;
  prepared_events events_;
};

struct reading {
  double cpu_us = 0, wall_us = 0, mb_per_s = 0;
};

reactor::awaitable<void> read_events(reactor::loop& l, k8s::connection to, std::size_t events,
                                     std::size_t event_bytes, reading& out) {
  k8s::client api(l, std::move(to));
  k8s::informer_options options;
  options.collection = k8s::resources::pods();
  options.stream_initial = false;
  k8s::informer<k8s::pod> informer(l, api, std::move(options));
  informer.start();
  const auto seen = [&] { return informer.counters().events; };
  const std::size_t warm = events / 10;
  const reactor::steady_time give_up = l.now() + std::chrono::minutes(2);
  while (seen() < warm && l.now() < give_up) co_await l.sleep_for(std::chrono::microseconds(200));
  const std::uint64_t first = seen();
  const auto cpu = process_cpu(), wall = monotonic();
  while (seen() < events && l.now() < give_up) co_await l.sleep_for(std::chrono::milliseconds(1));
  const double n = static_cast<double>(seen() - first);
  out.cpu_us = static_cast<double>((process_cpu() - cpu).count()) / 1e3 / n;
  out.wall_us = static_cast<double>((monotonic() - wall).count()) / 1e3 / n;
  out.mb_per_s = static_cast<double>(event_bytes) / out.wall_us;
  co_await informer.stop();
  co_await api.stop();
  l.stop();
}

boost::json::object point(bool tls, std::size_t bytes, std::size_t events) {
  if (events == 0) events = std::max<std::size_t>(20'000, 400'000'000 / bytes);
  const std::string specification = std::string(tls ? "tls" : "plain") + ":" +
                                    std::to_string(bytes) + ":" + std::to_string(events);
  auto process = child::start({"watch", "--sender", specification});
  if (!process) throw std::runtime_error(process.error().message());
  k8s::connection to = sender_connection(*process);
  const std::size_t event_bytes = prepared_events(bytes).mean_bytes();
  reading r;
  {
    reactor::loop l;
    reactor::task_group tasks(l);
    tasks.start("reader", read_events(l, std::move(to), events, event_bytes, r));
    l.run();
  }
  const std::string sent = process->read_line();
  double sender_cpu_us = 0, sender_wall_us = 0;
  std::sscanf(sent.c_str(), "%lf %lf", &sender_cpu_us, &sender_wall_us);
  boost::json::object o;
  o["tls"] = tls;
  o["event_bytes"] = event_bytes;
  o["events"] = events;
  o["cpu_us_per_event"] = rounded(r.cpu_us);
  o["wall_us_per_event"] = rounded(r.wall_us);
  o["mb_per_s"] = rounded(r.mb_per_s, 1);
  o["sender_cpu_us_per_event"] = rounded(sender_cpu_us);
  o["sender_is_three_times_faster"] = sender_cpu_us * 3 <= r.cpu_us;
  return o;
}

}  // namespace

boost::json::object measure_watch(std::size_t events) {
  pin_to_core(0);
  boost::json::object o = environment();
  boost::json::array points;
  for (const bool tls : {false, true})
    for (const std::size_t bytes : {std::size_t{2'048}, std::size_t{8'192}, std::size_t{32'768}})
      points.push_back(point(tls, bytes, events));
  const boost::json::object& head = points[4].as_object();
  for (const char* key : {"event_bytes", "cpu_us_per_event", "wall_us_per_event", "mb_per_s",
                          "sender_is_three_times_faster"})
    o[key] = head.at(key);
  o["points"] = std::move(points);
  boost::json::array watched;
  for (const char* collection : {"pods", "nodes", "bootcnodes", "secrets", "tenants"}) {
    watched.push_back(measure_collection(collection, events ? events : 50'000));
    const boost::json::object& p = watched.back().as_object();
    o[std::string("cpu_us_per_event_of_") + collection] = p.at("cpu_us_per_event");
  }
  o["watched"] = std::move(watched);
  return o;
}

int run_watch_sender(const std::string& text) {
  const specification s = parse(text);
  auto source = std::make_shared<sender>(s);
  return run_sender(s.tls, [source](reactor::loop& l) -> reactor::http::handler {
    source->wait_ = [&l](reactor::nanoseconds d) { return l.sleep_for(d); };
    return [source](reactor::http::request r, reactor::http::responder& to) {
      return source->answer(std::move(r), to);
    };
  });
}

}  // namespace bench
