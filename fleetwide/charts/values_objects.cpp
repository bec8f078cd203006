#include "fleetwide/charts/values_objects.hpp"

#include "formats/base64.hpp"
#include "k8s/client/client.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

namespace fleetwide {

values_object values_object::parse(k8s::wire_value object) {
  values_object out;
  out.meta = k8s::parse_meta(object);
  const bool is_secret = object["kind"].text() == "Secret" || object["type"].present();
  object["data"].members([&](std::string_view k, k8s::wire_value text) {
    if (!is_secret) {
      out.texts.emplace(std::string(k), std::string(text.text()));
    } else if (auto decoded = formats::decode_base64(text.text())) {
      out.texts.emplace(std::string(k), std::move(*decoded));
    }
  });
  for (const auto& [k, text] : out.texts) out.bytes += k.size() + text.size();
  if (is_secret && out.bytes > most_bytes) out.texts.clear();
  object["binaryData"].members([&](std::string_view k, k8s::wire_value bytes) {
    if (auto decoded = formats::decode_base64(bytes.text()))
      out.binaries.emplace(std::string(k), std::move(*decoded));
  });
  return out;
}

std::size_t values_object::heap_bytes() const noexcept {
  std::size_t total = meta.heap_bytes();
  for (const auto* all : {&texts, &binaries})
    for (const auto& [k, text] : *all) total += k.size() + text.size() + 64;
  return total;
}

values_objects::values_objects(reactor::loop& l, k8s::client& api, k8s::watch_limits limits,
                               reactor::logger log, std::function<void(const key&)> on_change)
    : loop_(l),
      api_(api),
      limits_(limits),
      log_(std::move(log)),
      on_change_(std::move(on_change)),
      closing_(l) {}

void values_objects::want(const k8s::object_key& object, std::set<key> what) {
  std::set<key> before;
  if (const auto found = wanted_.find(object); found != wanted_.end()) before = found->second;
  if (before == what) return;
  if (what.empty())
    wanted_.erase(object);
  else
    wanted_[object] = what;
  for (const key& k : what) {
    auto& is = watched_[k];
    if (is) continue;
    const k8s::resource& kind = k.first ? k8s::resources::secrets() : k8s::resources::config_maps();
    is = std::make_shared<informer>(loop_, api_, k8s::only(kind, k.second, limits_, log_));
    is->on_change([this, k](const values_object*, const values_object*) { on_change_(k); });
    is->start();
    // That it is not there is news, too.
    closing_.start("values of " + k.second.text(), [this, at = is, k]() -> awaitable<void> {
      (void)co_await at->synced();
      on_change_(k);
    });
  }
  for (const key& k : before)
    if (std::ranges::none_of(wanted_, [&](const auto& w) { return w.second.contains(k); }))
      let_go(k);
}

void values_objects::let_go(const key& k) {
  const auto found = watched_.find(k);
  if (found == watched_.end()) return;
  closing_.start("values no longer named",
                 [was = std::move(found->second)]() -> awaitable<void> { co_await was->stop(); });
  watched_.erase(found);
}

bool values_objects::knows(const k8s::object_key& object) const {
  const auto found = wanted_.find(object);
  if (found == wanted_.end()) return true;
  return std::ranges::all_of(found->second, [&](const key& k) {
    const auto is = watched_.find(k);
    return is != watched_.end() && is->second->is_synced();
  });
}

const values_object* values_objects::find(const key& k) const {
  const auto found = watched_.find(k);
  return found == watched_.end() ? nullptr : found->second->find(k.second);
}

awaitable<void> values_objects::stop() {
  for (auto& [k, is] : watched_) co_await is->stop();
  co_await closing_.cancel_and_join();
}

}  // namespace fleetwide
