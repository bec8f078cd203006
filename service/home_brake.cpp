#include "service/home_brake.hpp"

#include "k8s/client/client.hpp"
#include "k8s/informer/informer.hpp"
#include "reactor/loop.hpp"

#include <algorithm>
#include <utility>

namespace cli {
namespace {

using namespace std::chrono_literals;

constexpr reactor::nanoseconds unread_again_after = 200ms;

k8s::object_key key_in(const std::string& ns) {
  return {ns, std::string(units::brake_object)};
}

/// The same request again would be refused again.
bool is_refusal(const k8s::fault& f) {
  return f.code == k8s::errc::forbidden || f.code == k8s::errc::unauthorized;
}

}  // namespace

brake_view brake_view::parse(k8s::wire_value object) {
  brake_view out;
  out.meta = k8s::parse_meta(object);
  object["data"].members([&](std::string_view key, k8s::wire_value text) {
    if (std::ranges::find(units::brake_key::all, key) == std::end(units::brake_key::all)) return;
    std::string said(text.text());
    if (said.size() > units::most_brake_bytes) said.resize(units::most_brake_bytes);
    out.data.emplace(key, std::move(said));
  });
  return out;
}

std::size_t brake_view::heap_bytes() const noexcept {
  std::size_t total = meta.heap_bytes();
  for (const auto& [key, text] : data) total += key.capacity() + text.capacity();
  return total;
}

home_brake::home_brake(reactor::loop& l, k8s::client& api, units::brake& to, options o)
    : loop_(l), brake_(to), options_(std::move(o)), read_(l), tasks_(l) {
  auto of = k8s::only(k8s::resources::config_maps(), key_in(options_.ns), {}, options_.log);
  seen_ = std::make_unique<k8s::informer<brake_view>>(l, api, std::move(of));
  // Before the first list is complete an object that is not there yet may still come.
  seen_->on_change([this](const brake_view*, const brake_view* now) { take(order_in(now)); });
  if (!options_.acts) return;
  (void)brake_.set(units::unread_brake("it has not been read yet"));
  // A connection that died silently is noticed within seconds.
  seen_->set_freshness(k8s::freshness::close);
}

home_brake::~home_brake() = default;

void home_brake::start() {
  seen_->start();
  tasks_.start("brake", read());
}

reactor::awaitable<void> home_brake::stop() {
  co_await tasks_.cancel_and_join();
  co_await seen_->stop();
}

units::brake_order home_brake::order_in(const brake_view* object) const {
  if (!object) return {};
  units::brake_order is = units::read_brake(object->data, options_.apis);
  is.version = object->meta.resource_version.text();
  return is;
}

reactor::awaitable<void> home_brake::read() {
  for (;;) {
    const bool complete = co_await seen_->synced(loop_.now() + unread_again_after);
    if (complete) break;
    const auto& why = seen_->last_error();
    if (!why) continue;
    if (is_refusal(*why)) read_.set();
    units::brake_order unread = units::unread_brake("it cannot be read: " + why->message());
    unread.is_on = options_.acts;
    take(std::move(unread));
  }
  const brake_view* now = seen_->find(key_in(options_.ns));
  take(order_in(now));
  read_.set();
}

reactor::awaitable<bool> home_brake::known(reactor::steady_time deadline) {
  co_return co_await read_.wait(deadline);
}

void home_brake::take(units::brake_order now) {
  const units::brake_order before = brake_.order();
  if (!brake_.set(std::move(now))) return;
  const units::brake_order& is = brake_.order();
  if (is.is_on && options_.acts)
    options_.log.warning(units::brake_sentence(is), {{"namespace", options_.ns}});
  else if (before.is_on && before.problem.empty() && options_.acts)
    options_.log.info("the brake is off", {{"namespace", options_.ns}, {"by", is.by}});
  if (options_.on_change) options_.on_change();
}

}  // namespace cli
