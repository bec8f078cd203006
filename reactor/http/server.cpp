#include "reactor/http/server.hpp"

#include "reactor/http/server_connection.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <utility>

namespace reactor::http {

struct server::impl {
  impl(loop& l, server_options o, handler h)
      : loop_(l), options(std::move(o)), handle(std::move(h)), one_ended(l), tasks(l) {}

  awaitable<void> accept_all() {
    for (;;) {
      while (open >= options.max_connections) co_await one_ended.wait();
      auto accepted = co_await listener->accept();
      if (!accepted) co_return;  // only stop() closes it; lesser troubles are the acceptor's own
      ++open;
      tasks.start("connection", serve(std::move(*accepted)));
    }
  }

  awaitable<void> serve(std::unique_ptr<stream> s) {
    struct counted {
      impl& self;
      ~counted() {
        --self.open;
        self.one_ended.wake_one();
      }
    } count{*this};
    if (context) {
      s->expire_at(loop_.now() + options.header_timeout);
      auto secured = co_await tls_accept(loop_, std::move(s), context);
      if (!secured) co_return;  // the client was told by an alert
      std::string name = (*secured)->peer_common_name();
      s = std::move(*secured);
      co_await serve_connection(loop_, tasks, options, handle, std::move(s), std::move(name));
    } else {
      co_await serve_connection(loop_, tasks, options, handle, std::move(s), std::string());
    }
  }

  loop& loop_;
  server_options options;
  handler handle;
  std::shared_ptr<tls_context> context;
  std::unique_ptr<acceptor> listener;
  std::size_t open = 0;
  waiters one_ended;
  task_group tasks;
};

server::server(loop& l, server_options options, handler h)
    : impl_(std::make_shared<impl>(l, std::move(options), std::move(h))) {}

server::~server() = default;

result<void> server::start() {
  impl& me = *impl_;
  if (me.options.tls) {
    auto made = tls_server_context(*me.options.tls);
    if (!made) return while_doing("listen on " + me.options.at.text(), made.error());
    me.context = std::move(*made);
  }
  auto listening = me.loop_.net().listen(me.options.at);
  if (!listening) return listening.error();
  me.listener = std::move(*listening);
  me.tasks.start("accept", me.accept_all());
  return {};
}

endpoint server::local() const {
  return impl_->listener ? impl_->listener->local() : impl_->options.at;
}

std::size_t server::connections() const noexcept {
  return impl_->open;
}

awaitable<void> server::stop() {
  const std::shared_ptr<impl> self = impl_;
  if (self->listener) self->listener->close();
  co_await self->tasks.cancel_and_join();
  self->listener.reset();
}

}  // namespace reactor::http
