#include "bench/quiet_server.hpp"

#include "bench/pods.hpp"
#include "bench/sender.hpp"
#include "reactor/loop.hpp"
#include "reactor/waiters.hpp"

#include <boost/json.hpp>
#include <sys/resource.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t first_version = 1'000'000'000;
constexpr std::string_view version = "1000000000";     // the same, of what there is
constexpr reactor::nanoseconds bookmark_every = 1min;  // kube-apiserver's bookmarkFrequency

std::string meta(const std::string& name, const std::string& ns, std::size_t seed) {
  boost::json::object o{
      {"name", name}, {"resourceVersion", version}, {"creationTimestamp", "2026-01-01T00:00:00Z"}};
  if (!ns.empty()) o["namespace"] = ns;
  std::string uid = "00000000-0000-4000-a000-000000000000" + std::to_string(seed);
  o["uid"] = uid.substr(uid.size() - 36);
  o["labels"] = boost::json::object{{"app", name.substr(0, 3)}, {"tier", "backend"}};
  return boost::json::serialize(o);
}

std::string list_body(const std::string& kind, std::size_t objects) {
  std::string body = R"({"kind":")" + kind +
                     R"(List","apiVersion":"v1","metadata":{"resourceVersion":")" +
                     std::string(version) + R"("},"items":[)";
  for (std::size_t i = 0; i < objects; ++i) {
    if (i) body += ",";
    const std::string n = std::to_string(i);
    if (kind == "Pod") body += pod_json(i, 1'000'000'000, 4'096);
    if (kind == "Node")
      body +=
          R"({"metadata":)" + meta("node-" + n, "", i) +
          R"(,"spec":{},"status":{"conditions":[{"type":"Ready","status":"True"}],"nodeInfo":{"bootID":")" +
          n + R"("}}})";
    if (kind == "Secret")
      body += R"({"metadata":)" + meta("secret-" + n, "default", i) +
              R"(,"type":"Opaque","data":{"kubeconfig":"YXBpVmVyc2lvbjogdjEK"}})";
    if (kind == "DaemonSet")
      body += R"({"metadata":)" + meta("daemon-" + n, "default", i) + R"(,"spec":{},"status":{}})";
    if (kind == "Lease")
      body += R"({"metadata":)" + meta("lease-" + n, "kube-node-lease", i) +
              R"(,"spec":{"holderIdentity":"node-)" + n +
              R"(","leaseDurationSeconds":40,"renewTime":"2026-01-01T00:00:00.000000Z"}})";
  }
  return body + "]}";
}

/// Lists at once, and watches on which nothing but a bookmark happens. What is written elsewhere
/// (the Leases of nodes) moves the version that the server is at.
class quiet_server {
public:
  quiet_server(reactor::loop& l, std::size_t objects) : loop_(l), never_(l) {
    for (const auto& [plural, kind] :
         std::map<std::string, std::string>{{"nodes", "Node"},
                                            {"pods", "Pod"},
                                            {"secrets", "Secret"},
                                            {"leases", "Lease"},
                                            {"daemonsets", "DaemonSet"}})
      bodies_[plural] = {list_body(kind, objects), list_body(kind, 1)};
  }

  reactor::awaitable<void> answer(reactor::http::request r, reactor::http::responder& to) {
    const reactor::http::target_parts target = reactor::http::split_target(r.target);
    if (target.path == "/requests") {
      reactor::http::response count;
      count.status = 200;
      count.body = std::to_string(requests_);
      (void)co_await to.send(std::move(count));
      co_return;
    }
    ++requests_;
    const std::string_view path = target.path;
    const std::string cluster(path.substr(0, path.find('/', 1)));
    const std::string_view last = path.substr(path.rfind('/') + 1);
    if (last == "deaf") deaf_.insert(cluster);
    if (last != "deaf" && deaf_.contains(cluster)) co_await never_.wait();
    if (target.get("watch")) {
      co_await stay_quiet(cluster, life_of(target), to);
      co_return;
    }
    reactor::http::response out;
    out.status = 200;
    out.fields.add("Content-Type", "application/json");
    out.body = body_of(last, target.get("limit") == "1");
    if (out.body.empty()) out.status = 404;
    (void)co_await to.send(std::move(out));
  }

private:
  std::string newest() const {
    return std::to_string(first_version + static_cast<std::uint64_t>((loop_.now() - began_) / 1s));
  }
  std::string body_of(std::string_view last, bool one) const {
    if (last == "deaf") return "{}";
    if (last == "version") return R"({"major":"1","minor":"36","gitVersion":"v1.36.0"})";
    if (last == "api") return R"({"kind":"APIVersions","versions":["v1"]})";
    if (last == "apis") return R"({"kind":"APIGroupList","groups":[]})";
    if (last == "kube-system")
      return R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"kube-system","uid":"u","resourceVersion":"1"}})";
    const auto found = bodies_.find(last);
    if (found == bodies_.end()) return {};
    std::string body = one ? found->second.of_one : found->second.of_all;
    body.replace(body.find(version), version.size(), newest());  // the list's, which comes first
    return body;
  }

  /// As long as is asked for; of the first of its kind a part, as if it had begun before.
  reactor::nanoseconds life_of(const reactor::http::target_parts& watch) {
    const std::string asked = watch.get("timeoutSeconds").value_or("1800");
    const reactor::nanoseconds whole =
        std::chrono::seconds(std::strtol(asked.c_str(), nullptr, 10));
    const bool first = begun_.insert(std::string(watch.path)).second;
    return first && whole > 10s ? loop_.random().between(10s, whole) : whole;
  }

  reactor::awaitable<void> stay_quiet(std::string cluster, reactor::nanoseconds life,
                                      reactor::http::responder& to) {
    reactor::http::response_head head;
    head.status = 200;
    head.fields.add("Content-Type", "application/json");
    auto started = co_await to.start(std::move(head));
    const reactor::steady_time end = loop_.now() + life;
    while (started) {
      // The last one comes just before the end, as that of kube-apiserver does.
      const reactor::steady_time last = end - 2s,
                                 next = std::min(last, loop_.now() + bookmark_every);
      co_await loop_.sleep_until(loop_.now() < last ? next : end);
      if (deaf_.contains(cluster)) co_await never_.wait();
      if (loop_.now() >= end) break;
      const std::string bookmark =
          R"({"type":"BOOKMARK","object":{"kind":"Any","apiVersion":"v1","metadata":{"resourceVersion":")" +
          newest() + "\"}}}\n";
      started = co_await to.write(bookmark);
    }
    if (started) (void)co_await to.finish();
  }

  reactor::loop& loop_;
  const reactor::steady_time began_ = loop_.now();
  struct list_bodies {
    std::string of_all, of_one;
  };
  std::map<std::string, list_bodies, std::less<>> bodies_;
  std::set<std::string> deaf_;
  std::set<std::string, std::less<>> begun_;  // watches, by path
  reactor::event never_;
  std::uint64_t requests_ = 0;
};

}  // namespace

void allow_many_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

int run_quiet_sender(std::size_t objects) {
  allow_many_descriptors();
  return run_sender(true, [objects](reactor::loop& l) -> reactor::http::handler {
    auto side = std::make_shared<quiet_server>(l, objects);
    return [side](reactor::http::request r, reactor::http::responder& to) {
      return side->answer(std::move(r), to);
    };
  });
}

}  // namespace bench
