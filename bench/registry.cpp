#include "bench/registry.hpp"

#include "bench/child.hpp"
#include "bench/measure.hpp"
#include "bench/quiet_server.hpp"
#include "bench/sender.hpp"
#include "bootc/tags/tag_watcher.hpp"
#include "formats/digest.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "registry/tag_reader.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr reactor::nanoseconds interval = 5min;
constexpr const char* manifest =
    R"({"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]})";

/// Every tag of every repository is the same index.
struct quiet_registry {
  std::uint64_t requests = 0, body_bytes = 0;

  reactor::awaitable<void> answer(reactor::http::request r, reactor::http::responder& to) {
    reactor::http::response out;
    out.status = 200;
    if (r.target == "/counts") {
      out.body = std::to_string(requests) + " " + std::to_string(body_bytes);
    } else {
      ++requests;
      out.fields.set("Content-Type", "application/vnd.oci.image.index.v1+json");
      out.fields.set("Docker-Content-Digest", formats::digest_of(manifest));
      out.body = manifest;
      if (r.method != "HEAD") body_bytes += out.body.size();
    }
    (void)co_await to.send(std::move(out));
  }
};

struct registry_figures {
  std::uint64_t questions = 0;
  double requests = 0, bytes = 0, cpu_percent = 0, resident_mb = 0;
  stalls held_up;
  std::string problem;
};

class asking {
public:
  asking(reactor::loop& l, k8s::connection to, std::string ca_file, std::size_t tags,
         reactor::nanoseconds window)
      : loop_(l),
        to_(std::move(to)),
        size_(tags),
        window_(window),
        web_(l, [](std::string_view) { return std::string(); }),
        reader_(l, web_,
                [&] {
                  registry::tag_reader_options o;
                  o.ca_file = std::move(ca_file);
                  return o;
                }()),
        watcher_(l, reader_, {.interval = interval}) {}

  reactor::awaitable<void> measure(registry_figures& out) {
    const std::string host = to_.server.substr(to_.server.find("//") + 2);
    const std::string digest = formats::digest_of(manifest);
    for (std::size_t i = 0; i < size_; ++i) {
      const std::string name = "org/os-" + std::to_string(i / 10);
      bootc::tag_watcher::tag_request w;
      w.ref = host + "/" + name + ":t" + std::to_string(i);
      w.image = *registry::parse_image_ref(w.ref);
      w.known = digest;
      // As they are once they have been asked for a while: all over the interval.
      w.not_before = loop_.wall() + interval * static_cast<long>(i) / static_cast<long>(size_);
      watcher_.follow("c/" + std::to_string(i), std::move(w));
      if (i % 500 == 499) co_await loop_.yield();
    }
    co_await loop_.sleep_for(5s);
    const auto [requests, bytes] = co_await counts();
    const std::uint64_t asked = watcher_.questions();
    (void)loop_.take_health();
    const reactor::nanoseconds cpu = process_cpu();
    co_await loop_.sleep_for(window_);
    out.cpu_percent = 100.0 * static_cast<double>((process_cpu() - cpu).count()) /
                      static_cast<double>(window_.count());
    out.held_up.add(loop_.take_health());
    out.questions = watcher_.questions() - asked;
    const auto [more, further] = co_await counts();
    if (out.questions > 0) {
      out.requests = (more - requests) / static_cast<double>(out.questions);
      out.bytes = (further - bytes) / static_cast<double>(out.questions);
    }
    trim_heap();
    out.resident_mb = static_cast<double>(resident_bytes()) / 1e6;
    for (std::size_t i = 0; i < size_; ++i)
      if (const auto known = watcher_.of("c/" + std::to_string(i)); known && !known->error.empty())
        out.problem = known->error;
    co_await watcher_.stop();
    loop_.stop();
  }

private:
  reactor::awaitable<std::pair<double, double>> counts() {
    reactor::http::client_options o;
    o.origin = *reactor::http::parse_origin(to_.server);
    o.tls.ca_pem = to_.ca.bytes.reveal();
    reactor::http::client c(loop_, std::move(o));
    reactor::http::request r;
    r.target = "/counts";
    auto got = co_await c.fetch(std::move(r));
    co_await c.stop();
    std::istringstream in(got ? got->body : std::string());
    std::pair<double, double> out{};
    in >> out.first >> out.second;
    co_return out;
  }

  reactor::loop& loop_;
  k8s::connection to_;
  std::size_t size_;
  reactor::nanoseconds window_;
  registry::web web_;
  registry::tag_reader reader_;
  bootc::tag_watcher watcher_;
};

}  // namespace

boost::json::object measure_registry(std::size_t tags, std::chrono::seconds window) {
  pin_to_core(0);
  auto process = child::start({"registry", "--sender", "1"});
  if (!process) throw std::runtime_error(process.error().message());
  k8s::connection to = sender_connection(*process);
  const std::string ca_file = "/tmp/windlass-bench-ca-" + std::to_string(getpid()) + ".pem";
  std::ofstream(ca_file) << to.ca.bytes.reveal();
  registry_figures f;
  reactor::loop l;
  asking all(l, std::move(to), ca_file, tags, window);
  {
    reactor::task_group tasks(l);
    tasks.start("tags", all.measure(f));
    l.run();
  }
  unlink(ca_file.c_str());
  if (!f.problem.empty()) throw std::runtime_error(f.problem);
  boost::json::object o = environment();
  o["tags"] = tags;
  o["interval_s"] = std::chrono::duration_cast<std::chrono::seconds>(interval).count();
  o["seconds"] = window.count();
  o["questions"] = f.questions;
  o["requests_per_tag"] = rounded(f.requests);
  o["body_bytes_per_tag"] = rounded(f.bytes);
  o["cpu_percent"] = rounded(f.cpu_percent);
  o["rss_mb"] = rounded(f.resident_mb, 1);
  o["longest_stall_ms"] = rounded(seconds_of(f.held_up.longest) * 1e3);
  tell_stalls(o, f.held_up);
  return o;
}

int run_registry_sender() {
  allow_many_descriptors();
  return run_sender(true, [](reactor::loop&) -> reactor::http::handler {
    auto side = std::make_shared<quiet_registry>();
    return [side](reactor::http::request r, reactor::http::responder& to) {
      return side->answer(std::move(r), to);
    };
  });
}

}  // namespace bench
