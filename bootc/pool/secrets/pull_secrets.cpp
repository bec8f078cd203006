#include "bootc/pool/secrets/pull_secrets.hpp"

#include "formats/digest.hpp"
#include "k8s/client/client.hpp"

namespace bootc {

pull_secrets::pull_secrets(reactor::loop& l, k8s::client& api, std::string ns,
                           k8s::watch_limits limits, std::function<void()> changed)
    : loop_(l),
      api_(api),
      ns_(std::move(ns)),
      limits_(std::move(limits)),
      changed_(std::move(changed)) {}

void pull_secrets::want(const secret_ref& ref) {
  if (ref.ns != ns_ || watched_.contains(ref.name) || watched_.size() >= most_watched) return;
  k8s::informer_options o;
  o.collection = k8s::resources::secrets();
  o.ns = ns_;
  o.field_selector = k8s::field_is("metadata.name", ref.name);
  o.limits = limits_;
  o.on_state = [this](k8s::informer_state) { changed_(); };
  auto one = std::make_unique<k8s::informer<k8s::secret>>(loop_, api_, std::move(o));
  one->on_change([this](const k8s::secret*, const k8s::secret*) { changed_(); });
  one->start();
  watched_.emplace(ref.name, std::move(one));
}

const k8s::secret* pull_secrets::find(const secret_ref& ref) const {
  const auto watched = watched_.find(ref.name);
  return watched == watched_.end() || ref.ns != ns_ ? nullptr
                                                    : watched->second->find({ns_, ref.name});
}

secret_state pull_secrets::state_of(const secret_ref& ref) const {
  using kind = secret_state::kind;
  const auto watched = watched_.find(ref.name);
  if (watched == watched_.end()) return {};
  const k8s::secret* s = find(ref);
  if (!s && !watched->second->is_synced()) {
    const auto& why = watched->second->last_error();
    return why ? secret_state{kind::unreadable, {}, why->message()} : secret_state{};
  }
  if (!s) return {kind::missing, {}, {}};
  const reactor::secret* config = s->find(docker_config_key);
  if (!config || config->reveal().empty()) return {kind::without_key, {}, {}};
  return {kind::usable, formats::digest_of(config->reveal()), {}};
}

std::shared_ptr<const registry::pull_secret> pull_secrets::content_of(const secret_ref& ref) const {
  const k8s::secret* s = find(ref);
  const reactor::secret* config = s ? s->find(docker_config_key) : nullptr;
  if (!config || config->reveal().empty()) return nullptr;
  return std::make_shared<registry::pull_secret>(
      registry::pull_secret{formats::digest_of(config->reveal()), *config});
}

awaitable<void> pull_secrets::stop() {
  auto ending = std::exchange(watched_, {});
  for (auto& [name, one] : ending) co_await one->stop();
  for (auto& [name, one] : ending) co_await one->forget();
}

}  // namespace bootc
