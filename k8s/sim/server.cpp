#include "k8s/sim/server.hpp"

#include "k8s/sim/subscription.hpp"
#include "reactor/http/date.hpp"
#include "reactor/http/server.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <vector>

namespace k8s::sim {

namespace {

using reactor::awaitable;
using namespace std::chrono_literals;

// how often a held request looks whether the thaw came
constexpr reactor::nanoseconds kFrozenLook = 100ms;
constexpr reactor::nanoseconds kFrozenLimit = 10min;  // a request held longer is given up

bool is_prefix(std::string_view prefix, std::string_view path) {
  return path.starts_with(prefix) &&
         (prefix.empty() || path.size() == prefix.size() || path[prefix.size()] == '/');
}

}  // namespace

struct server::impl {
  impl(reactor::loop& l, settings s) : on(l), chosen(std::move(s)) {}

  reactor::loop& on;
  settings chosen;
  std::map<std::string, api_server*, std::less<>> apis;
  std::unique_ptr<reactor::http::server> http;
  std::vector<std::pair<api_server*, reactor::timer_id>> alarms;

  api_server* find(std::string_view path, std::string& rest);
  awaitable<void> serve(reactor::http::request r, reactor::http::responder& to);
  awaitable<void> stream(std::shared_ptr<subscription> s, api_server* api,
                         reactor::http::responder& to);  // borrowed
  void arm(api_server* api);
};

api_options options_on(reactor::loop& l) {
  api_options o;
  o.wall = [&l] { return l.wall(); };
  o.now = [&l] { return l.now(); };
  o.entropy = &l.random();
  return o;
}

api_server* server::impl::find(std::string_view path, std::string& rest) {
  // The longest prefix wins: they are in order, so the last that fits is it.
  api_server* found = nullptr;
  std::size_t best = 0;
  for (const auto& [prefix, api] : apis) {
    if (!is_prefix(prefix, path) || (found && prefix.size() < best)) continue;
    found = api;
    best = prefix.size();
  }
  rest = std::string(path.substr(best));
  if (rest.empty()) rest = "/";
  return found;
}

void server::impl::arm(api_server* api) {
  for (auto& [who, timer] : alarms) {
    if (who != api) continue;
    on.timers().disarm(timer);
    timer = on.timers().arm(api->next_due(), [this, api] {
      api->advance();
      arm(api);
    });
  }
}

awaitable<void> server::impl::serve(reactor::http::request r, reactor::http::responder& to) {
  reactor::http::target_parts target = reactor::http::split_target(r.target);
  request in;
  api_server* api = find(target.path, in.path);
  if (!api) {
    reactor::http::response none;
    none.status = 404;
    none.fields.add("Content-Type", "text/plain; charset=utf-8");
    none.body = "404 page not found\n";
    auto sent = co_await to.send(std::move(none));
    (void)sent;
    co_return;
  }
  in.method = std::move(r.method);
  in.query = std::move(target.query);
  in.fields = std::move(r.fields);
  in.body = std::move(r.body);
  in.user = to.client_name();
  const reactor::steady_time give_up = on.now() + kFrozenLimit;
  while (api->frozen()) {
    co_await on.sleep_for(kFrozenLook);
    if (on.now() > give_up) co_return;
  }
  answer a = api->handle(in);
  if (a.delay > 0ns) co_await on.sleep_for(a.delay);
  if (a.drop) {
    to.abandon();
    co_return;
  }
  if (a.watch) {
    co_await stream(std::move(a.watch), api, to);
    co_return;
  }
  reactor::http::response out;
  out.status = a.status;
  out.fields.add("Content-Type", std::move(a.content_type));
  for (auto& [name, value] : a.fields) out.fields.add(std::move(name), std::move(value));
  if (out.fields.get("Date").empty()) out.fields.add("Date", reactor::http::format_date(on.wall()));
  if (in.method != "HEAD") out.body = std::move(a.body);
  auto sent = co_await to.send(std::move(out));
  (void)sent;  // a client that went away has no further wishes
}

awaitable<void> server::impl::stream(std::shared_ptr<subscription> s, api_server* api,
                                     reactor::http::responder& to) {
  reactor::http::response_head head;
  head.status = 200;
  head.fields.add("Content-Type", "application/json");
  auto started = co_await to.start(std::move(head));
  if (!started) co_return;
  reactor::event ready(on);
  bool gone = false;
  struct unhook {
    subscription& of;
    ~unhook() { of.on_ready = nullptr; }
  } unhooked{*s};
  s->on_ready = [&ready] { ready.set(); };
  to.when_gone([&] {
    gone = true;
    ready.set();
  });
  while (!gone) {
    ready.reset();
    std::string lines = s->take();
    if (!lines.empty()) {
      auto written = co_await to.write(std::move(lines));
      if (!written) co_return;
      continue;
    }
    if (s->ended()) break;
    const bool woken = co_await ready.wait(s->next_due());
    if (!woken) s->poll(on.now(), api->revision());
  }
  auto finished = co_await to.finish();
  (void)finished;
}

server::server(reactor::loop& l, settings s) : impl_(std::make_unique<impl>(l, std::move(s))) {}

server::~server() {
  for (auto& [api, timer] : impl_->alarms) {
    impl_->on.timers().disarm(timer);
    api->on_due_changed = nullptr;
  }
}

void server::add(api_server& api, std::string prefix) {
  impl_->apis[std::move(prefix)] = &api;
  impl_->alarms.emplace_back(&api, 0);
  api.on_due_changed = [i = impl_.get(), a = &api] { i->arm(a); };
}

void server::remove(std::string_view prefix) {
  auto at = impl_->apis.find(prefix);
  if (at == impl_->apis.end()) return;
  std::erase_if(impl_->alarms, [&](auto& alarm) {
    if (alarm.first != at->second) return false;
    impl_->on.timers().disarm(alarm.second);
    alarm.first->on_due_changed = nullptr;
    return true;
  });
  impl_->apis.erase(at);
}

reactor::result<void> server::start() {
  reactor::http::server_options o;
  o.at = impl_->chosen.at;
  if (impl_->chosen.tls) o.tls = std::make_unique<reactor::http::server_tls>(*impl_->chosen.tls);
  impl* i = impl_.get();
  impl_->http = std::make_unique<reactor::http::server>(
      impl_->on, std::move(o), [i](reactor::http::request r, reactor::http::responder& to) {
        return i->serve(std::move(r), to);
      });
  return impl_->http->start();
}

reactor::endpoint server::local() const {
  return impl_->http->local();
}

std::string server::url(std::string_view prefix) const {
  return (impl_->chosen.tls ? "https://" : "http://") + local().text() + std::string(prefix);
}

std::size_t server::connections() const noexcept {
  return impl_->http ? impl_->http->connections() : 0;
}

awaitable<void> server::stop() {
  if (impl_->http) co_await impl_->http->stop();
}

}  // namespace k8s::sim
