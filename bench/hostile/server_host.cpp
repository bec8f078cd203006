#include "bench/hostile/server_host.hpp"

#include "reactor/loop.hpp"

#include <stdexcept>

namespace bench::hostile {
namespace {

using reactor::result;

// The whole time that tests and machines live in.
constexpr reactor::wall_time first_day{std::chrono::seconds(1'577'836'800)};  // 2020
constexpr reactor::wall_time last_day{std::chrono::seconds(3'786'912'000)};   // 2090

std::string_view path_of(std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  for (const std::string_view root : {"/api", "/version"})
    if (const auto at = path.find(root); at != path.npos) return path.substr(at);
  return path;
}

bool wants_initial_events(std::string_view target) {
  return target.find("sendInitialEvents=true") != target.npos;
}

/// Of every list; four digits, as each later version has.
constexpr std::string_view first_version = R"("metadata":{"resourceVersion":"1000")";

std::string list_of(std::string_view kind, std::string_view api_version, std::string_view items) {
  return R"({"kind":")" + std::string(kind) + R"(List","apiVersion":")" + std::string(api_version) +
         R"(","metadata":{"resourceVersion":"1000"},"items":[)" + std::string(items) + "]}";
}

constexpr std::string_view a_node =
    R"({"metadata":{"name":"node-1","uid":"00000000-0000-4000-a000-000000000001","resourceVersion":"900","creationTimestamp":"2026-01-01T00:00:00Z"},"spec":{},"status":{"conditions":[{"type":"Ready","status":"True"}]}})";

/// A list of what a cluster with bootc keeps.
constexpr std::size_t collections = 3;
bool is_list(std::string_view target) {
  const std::string_view path = path_of(target);
  return !is_watch(target) && (path.ends_with("/nodes") || path.ends_with("/bootcnodes") ||
                               path.ends_with("/bootcnodepools"));
}

}  // namespace

bool is_watch(std::string_view target) {
  return target.find("watch=true") != target.npos;
}

std::string bookmark(std::string_view kind, std::string_view version) {
  return R"({"type":"BOOKMARK","object":{"kind":")" + std::string(kind) +
         R"(","apiVersion":"v1","metadata":{"resourceVersion":")" + std::string(version) +
         "\"}}}\n";
}

place place_of(std::string_view method, std::string_view target) {
  const std::string_view path = path_of(target);
  if (method != "GET") return place::after_list;
  if (path == "/version") return place::version;
  if (path == "/api/v1/namespaces/kube-system") return place::identity;
  if (path == "/apis") return place::groups;
  if (path == "/apis/node.bootc.dev/v1alpha1") return place::resources;
  if (wants_initial_events(target))
    return path == "/api/v1/nodes" ? place::stream : place::after_list;
  if (path == "/api/v1/nodes") return is_watch(target) ? place::watch : place::list;
  return place::after_list;
}

std::string good_answer(std::string_view method, std::string_view target, std::string_view uid) {
  if (wants_initial_events(target))
    return answer(
        R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","message":"sendInitialEvents is forbidden for watch","code":422})",
        "422 Unprocessable Entity");
  if (is_watch(target)) return {};
  const std::string_view path = path_of(target);
  if (method != "GET")
    return answer(R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"})",
                  "201 Created");
  if (path == "/version")
    return answer(R"({"major":"1","minor":"30","gitVersion":"v1.30.0","platform":"linux/amd64"})");
  if (path == "/api/v1/namespaces/kube-system")
    return answer(
        R"({"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","resourceVersion":"1","uid":")" +
        std::string(uid) + R"("},"status":{"phase":"Active"}})");
  if (path == "/api") return answer(R"({"kind":"APIVersions","versions":["v1"]})");
  if (path == "/apis")
    return answer(
        R"({"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"node.bootc.dev","versions":[{"groupVersion":"node.bootc.dev/v1alpha1","version":"v1alpha1"}],"preferredVersion":{"groupVersion":"node.bootc.dev/v1alpha1","version":"v1alpha1"}},{"name":"coordination.k8s.io","versions":[{"groupVersion":"coordination.k8s.io/v1","version":"v1"}],"preferredVersion":{"groupVersion":"coordination.k8s.io/v1","version":"v1"}}]})");
  if (path == "/apis/node.bootc.dev/v1alpha1")
    return answer(
        R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"node.bootc.dev/v1alpha1","resources":[{"name":"bootcnodepools","singularName":"bootcnodepool","namespaced":false,"kind":"BootcNodePool","verbs":["get","list","watch","patch"]},{"name":"bootcnodes","singularName":"bootcnode","namespaced":false,"kind":"BootcNode","verbs":["get","list","watch","patch"]}]})");
  if (path == "/api/v1/nodes") return answer(list_of("Node", "v1", a_node));
  if (path == "/apis/node.bootc.dev/v1alpha1/bootcnodepools")
    return answer(list_of("BootcNodePool", "node.bootc.dev/v1alpha1", ""));
  if (path == "/apis/node.bootc.dev/v1alpha1/bootcnodes")
    return answer(list_of("BootcNode", "node.bootc.dev/v1alpha1", ""));
  if (path.ends_with("/leases"))
    return answer(list_of(
        "Lease", "coordination.k8s.io/v1",
        R"({"metadata":{"name":"node-1","namespace":"kube-node-lease","uid":"00000000-0000-4000-a000-000000000002","resourceVersion":"900"},"spec":{"holderIdentity":"0"}})"));
  return answer(
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404})",
      "404 Not Found");
}

const reactor::certified_key& authority() {
  static const reactor::certified_key made = [] {
    auto a = reactor::make_authority("hostile authority", first_day, last_day);
    if (!a) throw std::runtime_error(a.error().message());
    return *a;
  }();
  return made;
}

const reactor::certified_key& good_certificate() {
  static const reactor::certified_key made = [] {
    reactor::certificate_request wanted;
    wanted.common_name = "hostile";
    wanted.dns_names = {"hostile", "good"};
    wanted.ip_addresses = {"127.0.0.1"};
    wanted.not_before = first_day;
    wanted.not_after = last_day;
    auto issued = reactor::issue_certificate(authority(), wanted);
    if (!issued) throw std::runtime_error(issued.error().message());
    return *issued;
  }();
  return made;
}

server_host::server_host(reactor::loop& l, const server* behaviour, security s,
                         reactor::nanoseconds heartbeat)
    : loop_(l),
      behaviour_(behaviour),
      security_(s),
      heartbeat_(heartbeat),
      uid_(behaviour ? "00000000-0000-4000-a000-0000000000bb"
                     : "00000000-0000-4000-a000-0000000000aa"),
      tasks_(l) {
  if (!behaviour) return;
  if (behaviour->over == server::wire::tls) security_ = security::tls;
  if (behaviour->over == server::wire::raw) security_ = security::plain;
}

result<void> server_host::start(reactor::endpoint at) {
  auto listening = loop_.net().listen(std::move(at));
  if (!listening) return listening.error();
  acceptor_ = std::move(*listening);
  tasks_.start("accept", accept());
  return {};
}

awaitable<void> server_host::stop() {
  if (acceptor_) acceptor_->close();
  co_await tasks_.cancel_and_join();
}

awaitable<void> server_host::accept() {
  for (;;) {
    auto next = co_await acceptor_->accept();
    if (!next) co_return;
    tasks_.start("visit", serve(std::move(*next)));
  }
}

awaitable<void> server_host::serve(std::unique_ptr<reactor::stream> to) {
  ++visits_;
  most_ = std::max(most_, ++open_);
  struct leave {
    std::size_t& open;
    ~leave() { --open; }
  } const at_end{open_};
  if (behaviour_ && behaviour_->where == place::connection) {
    visit v{loop_, *to, {}, {}, nth_++, false, &newest_};
    co_await behaviour_->answer(v);
    co_return;
  }
  if (security_ == security::plain) {
    co_await answer_requests(*to);
    co_return;
  }
  reactor::tls_server_settings mine;
  mine.certificate_pem = good_certificate().certificate_pem;
  mine.key_pem = good_certificate().key_pem;
  auto context = reactor::tls_server_context(mine);
  if (!context) throw std::runtime_error(context.error().message());
  auto secured = co_await reactor::tls_accept(loop_, std::move(to), std::move(*context));
  if (secured) co_await answer_requests(**secured);
}

awaitable<void> server_host::answer_requests(reactor::stream& to) {
  for (;;) {
    visit v{loop_, to, {}, {}, nth_, false, &newest_};
    const std::string head = co_await v.read_head();
    if (head.empty()) co_return;
    const auto space = head.find(' ');
    v.method = head.substr(0, space);
    v.target = head.substr(space + 1, head.find(' ', space + 1) - space - 1);
    if (const auto at = head.find("Content-Length: "); at != head.npos) {
      std::size_t body = std::strtoul(head.c_str() + at + 16, nullptr, 10);
      std::array<char, 4096> ignored;
      while (body > 0) {
        const auto n =
            co_await to.read_some(std::span(ignored).first(std::min(body, ignored.size())));
        if (!n || *n == 0) co_return;
        body -= *n;
      }
    }
    const place where = place_of(v.method, v.target);
    const bool listing = is_list(v.target);
    const bool loaded = lists_ >= collections;
    if (listing) ++lists_;
    const bool attacked =
        behaviour_ &&
        (behaviour_->where == place::after_list ? loaded : behaviour_->where == where);
    if (attacked) {
      ++nth_;
      co_await behaviour_->answer(v);
      if (!v.again) co_return;
      continue;
    }
    std::string good = good_answer(v.method, v.target, uid_);
    if (const std::size_t at = good.find(first_version); at != good.npos && newest_ < 10'000)
      good.replace(at + first_version.size() - 5, 4, std::to_string(newest_));
    if (good.empty()) {
      co_await follow(v);
      co_return;
    }
    const bool there = co_await v.say(good);
    if (!there) co_return;
  }
}

/// A good watch: a word every heartbeat.
awaitable<void> server_host::follow(visit& v) {
  bool there = co_await v.say(chunked());
  const bool nodes = place_of(v.method, v.target) == place::watch;
  while (there) {
    if (nodes) ++newest_;
    std::string word = bookmark("Any", std::to_string(newest_));
    if (nodes) {
      std::string changed(a_node);
      changed.replace(changed.find("\"900\""), 5, "\"" + std::to_string(newest_) + "\"");
      word = R"({"type":"MODIFIED","object":)" + changed + "}\n";
    }
    there = co_await v.say(chunk(word));
    if (there) co_await loop_.sleep_for(heartbeat_);
  }
}

}  // namespace bench::hostile
