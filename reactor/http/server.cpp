#include "reactor/http/server.hpp"

#include "reactor/allowance.hpp"
#include "reactor/http/server_connection.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <algorithm>
#include <list>
#include <utility>

namespace reactor::http {

struct server::impl {
  impl(loop& l, server_options o, handler h)
      : loop_(l), options(std::move(o)), handle(std::move(h)), changed(l), tasks(l) {}

  awaitable<void> accept_all() {
    for (;;) {
      auto accepted = co_await listener->accept();
      if (!accepted) co_return;  // only stop() closes it; lesser troubles are the acceptor's own
      while (open >= options.max_connections) {
        const steady_time look_again = make_room();
        (void)co_await changed.wait(look_again);
      }
      ++open;
      tasks.start("connection", serve(std::move(*accepted)));
    }
  }

  /// Ends the connection that has waited longest for its client, unless one is ending already. When
  /// to look again.
  steady_time make_room() {
    const auto leaving = static_cast<std::size_t>(
        std::ranges::count_if(places, [](const auto* p) { return p->leaving(); }));
    if (open - leaving < options.max_connections) return never;
    connection_place* first = nullptr;
    for (connection_place* p : places)
      if (p->can_leave() && (!first || p->rank() < first->rank())) first = p;
    if (!first) return never;
    if (first->can_leave_at() > loop_.now()) return first->can_leave_at();
    first->leave();
    return never;
  }

  awaitable<void> serve(std::unique_ptr<stream> s) {
    const auto place =
        std::make_shared<connection_place>(loop_.now(), *s, [this] { changed.wake_one(); });
    struct counted {
      impl& self;
      std::list<connection_place*>::iterator at;
      ~counted() {
        self.places.erase(at);
        --self.open;
        self.changed.wake_one();
      }
    } count{*this, places.insert(places.end(), place.get())};
    s->charge_to(callers);
    if (context) {
      s->expire_at(loop_.now() + options.header_timeout);
      auto secured = co_await tls_accept(loop_, std::move(s), context);
      if (!secured) co_return;  // the client was told by an alert
      std::string name = (*secured)->peer_common_name();
      s = std::move(*secured);
      place->replace(*s);
      co_await serve_connection(loop_, tasks, options, handle, std::move(s), std::move(name),
                                place);
    } else {
      co_await serve_connection(loop_, tasks, options, handle, std::move(s), std::string(), place);
    }
  }

  loop& loop_;
  server_options options;
  handler handle;
  std::shared_ptr<tls_context> context;
  std::unique_ptr<acceptor> listener;
  std::size_t open = 0;
  std::list<connection_place*> places;  // of the open ones
  waiters changed;                      // a connection ended, or waits for its client
  std::shared_ptr<allowance> callers = std::make_shared<allowance>();  // all of them together
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
