#include "reactor/http/connect.hpp"

#include "reactor/http/socks.hpp"
#include "reactor/loop.hpp"

namespace reactor::http {
namespace {

std::string authority(const origin& o) {
  return endpoint{o.host, o.port}.text();
}

fault refused_by_proxy(const connect_plan& plan, int status) {
  const std::string doing = "connect to " + authority(plan.to) + " through " + plan.via.text();
  const std::string answer =
      "the proxy answered " + std::to_string(status) + " " + std::string(reason_phrase(status));
  if (status == 407) {
    return make_fault(errc::refused, doing,
                      plan.via.authorization.empty()
                          ? answer + "; its URL needs a user name and a password"
                          : answer + "; it does not accept the user name and password of its URL");
  }
  // The proxy's own trouble passes, its verdict does not.
  return make_fault(status >= 500 ? errc::closed : errc::refused, doing, answer);
}

/// Asks the proxy for a tunnel (RFC 9110, CONNECT). The head is read byte by byte as far as the
/// stream's buffers go: what follows it belongs to the tunnel.
awaitable<result<std::unique_ptr<stream>>> open_tunnel(std::unique_ptr<stream> s,
                                                       connect_plan plan) {
  const std::string doing = "connect to " + authority(plan.to) + " through " + plan.via.text();
  request ask;
  ask.method = "CONNECT";
  const std::string target = authority(plan.to);
  auto head = write_request_head(ask, target, target, plan.via.authorization.reveal());
  if (!head) co_return head.error();
  wire w(std::move(s));
  auto sent = co_await w.write_secret(std::move(*head));
  if (!sent) co_return while_doing(doing, sent.error());
  wire_parser parser(wire_parser::kind::response, plan.header_limit_bytes, wire_parser::body::none);
  unsigned interim = 0;
  for (;;) {
    auto step = parser.advance(w.window().data());
    if (!step) co_return while_doing(doing, step.error());
    w.window().consume(step->consumed);
    if (step->what == wire_parser::event::done) {
      const int status = parser.head().status;
      if (status / 100 == 2) break;
      if (status / 100 != 1) co_return refused_by_proxy(plan, status);
      if (++interim > most_interim_answers)
        co_return make_fault(errc::malformed, doing, "the proxy sends interim answers without end");
      parser = wire_parser(wire_parser::kind::response, plan.header_limit_bytes,
                           wire_parser::body::none);
    }
    if (step->what != wire_parser::event::need_more) continue;
    auto n = w.try_fill();
    if (!n) co_return while_doing(doing, n.error());
    if (!*n) {
      auto readable = co_await w.stream().wait_readable();
      if (!readable) co_return while_doing(doing, readable.error());
    } else if (**n == 0) {
      co_return make_fault(errc::closed, doing, "the proxy ended the connection");
    }
  }
  if (!w.window().empty()) {
    co_return make_fault(errc::malformed, doing,
                         "the proxy sent bytes before the tunnel was in use");
  }
  co_return w.take_stream();
}

awaitable<result<std::unique_ptr<stream>>> put_tls_on(loop& l, std::unique_ptr<stream> s,
                                                      std::shared_ptr<tls_context> with,
                                                      std::string name,
                                                      std::shared_ptr<tls_resumption> session) {
  auto secured =
      co_await tls_connect(l, std::move(s), std::move(with), std::move(name), std::move(session));
  if (!secured) co_return secured.error();
  co_return std::unique_ptr<stream>(std::move(*secured));
}

}  // namespace

result<connect_plan> plan_connection(const client_options& options) {
  connect_plan p;
  p.to = options.origin;
  p.how = options.how;
  p.header_limit_bytes = options.header_limit_bytes;
  auto via = parse_proxy(options.proxy);
  if (!via) return via.error();
  p.via = std::move(*via);
  if (p.via.used() && p.via.to.tls) {
    auto made = tls_client_context(tls_settings{});
    if (!made) return made.error();
    p.proxy_tls = std::move(*made);
  }
  if (p.to.tls) {
    auto made = tls_client_context(options.tls);
    if (!made) return made.error();
    p.tls = std::move(*made);
    p.server_name = options.tls.server_name.empty() ? p.to.host : options.tls.server_name;
  }
  return p;
}

awaitable<result<std::unique_ptr<stream>>> connect(loop& l, connect_plan plan,
                                                   steady_time deadline) {
  const origin& first = plan.via.used() ? plan.via.to : plan.to;
  endpoint at{first.host, first.port};
  auto connected = co_await l.net().connect(std::move(at), deadline, plan.how);
  if (!connected) co_return connected;
  std::unique_ptr<stream> s = std::move(*connected);
  s->expire_at(deadline);
  s->charge_to(plan.peer);
  if (plan.via.used() && plan.via.to.tls) {
    auto secured = co_await put_tls_on(l, std::move(s), plan.proxy_tls, plan.via.to.host, nullptr);
    if (!secured) co_return secured;
    s = std::move(*secured);
  }
  if (plan.via.used() && plan.via.language == proxy::speaks::socks) {
    auto reached = co_await open_socks(std::move(s), plan);
    if (!reached) co_return reached;
    s = std::move(*reached);
  } else if (plan.via.used() && plan.to.tls) {
    auto tunnel = co_await open_tunnel(std::move(s), plan);
    if (!tunnel) co_return tunnel;
    s = std::move(*tunnel);
  }
  if (plan.to.tls) {
    auto secured = co_await put_tls_on(l, std::move(s), plan.tls, plan.server_name, plan.session);
    if (!secured) co_return secured;
    s = std::move(*secured);
  }
  s->expire_at(never);
  co_return s;
}

}  // namespace reactor::http
