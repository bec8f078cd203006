#include "endpoint.hpp"

#include "k8s/client/credentials.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/sim/server.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <stdexcept>

namespace conformance {

using reactor::awaitable;
using namespace std::chrono_literals;

namespace {

std::string string_at(const json::value& v, std::string_view pointer) {
  boost::system::error_code none;
  const json::value* found = v.find_pointer(pointer, none);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace

std::string reply::at(std::string_view pointer) const {
  return string_at(body, pointer);
}
std::string event::at(std::string_view pointer) const {
  return string_at(object, pointer);
}

const json::value* reply::find(std::string_view pointer) const {
  boost::system::error_code none;
  return body.find_pointer(pointer, none);
}

std::int64_t reply::number(std::string_view pointer) const {
  const json::value* v = find(pointer);
  return v && v->is_int64() ? v->get_int64() : -1;
}

struct endpoint::impl {
  std::unique_ptr<reactor::loop> loop;
  std::unique_ptr<k8s::sim::api_server> api;
  std::unique_ptr<k8s::sim::server> front;
  std::unique_ptr<reactor::http::client> client;
  std::string prefix;
  reactor::secret authorization;

  /// Runs the loop until `body` has ended.
  void run(std::function<awaitable<void>()> body) {
    reactor::task_group tasks(*loop);
    bool finished = false;
    auto all = [&]() -> awaitable<void> {
      co_await body();
      finished = true;
      loop->stop();
    };
    tasks.start("conversation", std::function<awaitable<void>()>(all));
    loop->run();
    if (!finished) throw std::runtime_error("the conversation did not end");
    // The task is gone one turn later.
    for (int turns = 0; !tasks.empty() && turns < 100; ++turns) {
      loop->post([this] { loop->stop(); });
      loop->run();
    }
  }
};

namespace {

std::unique_ptr<endpoint>& the_one() {
  static std::unique_ptr<endpoint> one;
  return one;
}

/// Closes the connections while everything they rest on is still there.
struct closing : testing::Environment {
  void TearDown() override { the_one().reset(); }
};
[[maybe_unused]] const testing::Environment* const kClosing =
    testing::AddGlobalTestEnvironment(new closing);

}  // namespace

endpoint& endpoint::get() {
  if (!the_one()) the_one().reset(new endpoint);
  return *the_one();
}

endpoint::endpoint() : impl_(std::make_unique<impl>()) {
  reactor::http::client_options o;
  if (const char* file = std::getenv("WINDLASS_LIVE_KUBECONFIG")) {
    impl_->loop = std::make_unique<reactor::loop>();
    auto to = k8s::load_kubeconfig_file(file);
    if (!to) throw std::runtime_error(to.error().message());
    auto origin = reactor::http::parse_origin(to->server, &impl_->prefix);
    if (!origin) throw std::runtime_error(origin.error().message());
    k8s::credentials who(*impl_->loop, *to);
    o.origin = *origin;
    o.tls = who.tls();
    impl_->authorization = who.authorization();
  } else {
    impl_->loop = std::make_unique<reactor::loop>(reactor::loop::mode::simulated, 42);
    k8s::sim::api_options judged = k8s::sim::options_on(*impl_->loop);
    judged.access.judge = k8s::sim::authorization::rbac;
    judged.access.tokens["administrator"] = "admin";
    judged.access.groups["admin"] = {"system:masters"};
    impl_->authorization = reactor::secret("Bearer administrator");
    impl_->api = std::make_unique<k8s::sim::api_server>(std::move(judged));
    k8s::sim::server::settings s;
    s.at = {"api", 6443};
    impl_->front = std::make_unique<k8s::sim::server>(*impl_->loop, std::move(s));
    impl_->front->add(*impl_->api);
    auto started = impl_->front->start();
    if (!started) throw std::runtime_error(started.error().message());
    o.origin = {false, "api", 6443};
  }
  impl_->client = std::make_unique<reactor::http::client>(*impl_->loop, std::move(o));
}

endpoint::~endpoint() {
  impl_->run([this]() -> awaitable<void> {
    co_await impl_->client->stop();
    if (impl_->front) co_await impl_->front->stop();
  });
}

bool endpoint::embedded() const noexcept {
  return impl_->api != nullptr;
}

reply endpoint::send(std::string method, std::string target, std::string body, std::string type,
                     std::string accept, std::string agent) {
  reactor::http::headers fields;
  fields.set("Accept", accept);
  fields.set("User-Agent", agent);
  return send_as({}, std::move(method), std::move(target), std::move(body), std::move(type),
                 std::move(fields));
}

reply endpoint::send_as(std::string token, std::string method, std::string target, std::string body,
                        std::string type, reactor::http::headers more) {
  reactor::http::request r;
  r.method = std::move(method);
  r.target = impl_->prefix + target;
  r.fields = std::move(more);
  r.authorization = token.empty() ? impl_->authorization : reactor::secret("Bearer " + token);
  if (!body.empty()) r.fields.set("Content-Type", type);
  r.body = std::move(body);
  reply out;
  std::string trouble;
  impl_->run([&]() -> awaitable<void> {
    auto answered = co_await impl_->client->fetch(std::move(r));
    if (!answered) {
      trouble = answered.error().message();
      co_return;
    }
    out.status = answered->status;
    out.fields = answered->fields;
    out.text = answered->body;
  });
  if (!trouble.empty()) throw std::runtime_error(target + ": " + trouble);
  boost::system::error_code code;
  out.body = json::parse(out.text, code);
  return out;
}

std::vector<event> endpoint::watch(std::string target,
                                   std::function<bool(const std::vector<event>&)> enough,
                                   reactor::nanoseconds within,
                                   std::function<void(endpoint&)> meanwhile, int* status) {
  reactor::http::request r;
  r.target = impl_->prefix + target;
  r.fields.set("Accept", "application/json");
  r.authorization = impl_->authorization;
  std::vector<event> seen;
  std::unique_ptr<reactor::http::exchange> stream;
  std::string rest;
  impl_->run([&]() -> awaitable<void> {
    auto opened = co_await impl_->client->send(std::move(r));
    if (opened) stream = std::move(*opened);
  });
  if (!stream) return seen;
  if (status) *status = stream->head().status;
  if (meanwhile) meanwhile(*this);
  const bool streamed = stream->head().status == 200;
  const reactor::steady_time until = impl_->loop->now() + within;
  impl_->run([&]() -> awaitable<void> {
    while (!streamed || !enough(seen)) {
      const reactor::nanoseconds left = until - impl_->loop->now();
      if (left <= 0s) break;
      auto piece = co_await stream->read(left);
      if (!piece || piece->empty()) break;
      rest += *piece;
      if (!streamed) continue;
      for (std::size_t end = rest.find('\n'); end != std::string::npos; end = rest.find('\n')) {
        boost::system::error_code code;
        json::value v = json::parse(std::string_view(rest).substr(0, end), code);
        rest.erase(0, end + 1);
        if (code || !v.is_object()) continue;
        event e;
        e.type = string_at(v, "/type");
        if (const json::value* o = v.get_object().if_contains("object")) e.object = *o;
        seen.push_back(std::move(e));
      }
    }
  });
  if (stream && seen.empty() && !rest.empty()) {
    boost::system::error_code code;
    json::value v = json::parse(rest, code);
    if (!code) seen.push_back({"RESPONSE", std::move(v)});
  }
  stream.reset();
  impl_->run([]() -> awaitable<void> { co_return; });
  return seen;
}

space::space() {
  endpoint& e = endpoint::get();
  reply made =
      e.send("POST", "/api/v1/namespaces",
             R"({"apiVersion":"v1","kind":"Namespace","metadata":{"generateName":"conf-"}})");
  name_ = made.at("/metadata/name");
  if (name_.empty()) throw std::runtime_error("no namespace: " + made.text);
}

space::~space() {
  endpoint& e = endpoint::get();
  // The real server has no controller here that would empty a namespace: pods at least must not
  // stay.
  e.send("DELETE", core("pods"), R"({"gracePeriodSeconds":0})");
  e.send("DELETE", "/api/v1/namespaces/" + name_);
}

std::string space::core(std::string_view rest) const {
  return "/api/v1/namespaces/" + name_ + "/" + std::string(rest);
}
std::string space::group(std::string_view group_version, std::string_view rest) const {
  return "/apis/" + std::string(group_version) + "/namespaces/" + name_ + "/" + std::string(rest);
}

reply get(std::string target) {
  return endpoint::get().send("GET", std::move(target));
}
reply post(std::string target, std::string body) {
  return endpoint::get().send("POST", std::move(target), std::move(body));
}
reply put(std::string target, std::string body) {
  return endpoint::get().send("PUT", std::move(target), std::move(body));
}
reply remove(std::string target, std::string body) {
  return endpoint::get().send("DELETE", std::move(target), std::move(body));
}
reply merge(std::string target, std::string patch) {
  return endpoint::get().send("PATCH", std::move(target), std::move(patch),
                              "application/merge-patch+json");
}
reply strategic(std::string target, std::string patch) {
  return endpoint::get().send("PATCH", std::move(target), std::move(patch),
                              "application/strategic-merge-patch+json");
}
reply json_patch(std::string target, std::string patch) {
  return endpoint::get().send("PATCH", std::move(target), std::move(patch),
                              "application/json-patch+json");
}
reply server_apply(std::string target, std::string body) {
  return endpoint::get().send("PATCH", std::move(target), std::move(body),
                              "application/apply-patch+yaml");
}
reply table(std::string target) {
  return endpoint::get().send("GET", std::move(target), {}, "",
                              "application/json;as=Table;g=meta.k8s.io;v=v1");
}

std::string config_map(std::string_view name, std::string_view data, std::string_view metadata) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + std::string(name) +
         "\"" + (metadata.empty() ? "" : "," + std::string(metadata)) + R"(},"data":)" +
         std::string(data) + "}";
}

std::string pod(std::string_view name, std::string_view node, std::string_view labels) {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + std::string(name) +
         R"(","labels":)" + std::string(labels) + R"(},"spec":{)" +
         (node.empty() ? std::string() : R"("nodeName":")" + std::string(node) + "\",") +
         R"("containers":[{"name":"c","image":"nginx:1"}]}})";
}

std::string to_text(const json::value& v) {
  return json::serialize(v);
}

}  // namespace conformance
