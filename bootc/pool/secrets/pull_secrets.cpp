#include "bootc/pool/secrets/pull_secrets.hpp"

#include "formats/digest.hpp"
#include "k8s/client/client.hpp"

namespace bootc {
namespace {

std::shared_ptr<const registry::pull_secret> usable_content(const k8s::secret& s) {
  const reactor::secret* config = s.find(docker_config_key);
  if (!config || config->reveal().empty()) return nullptr;
  return std::make_shared<registry::pull_secret>(
      registry::pull_secret{formats::digest_of(config->reveal()), *config});
}

/// What a Secret without usable content has instead, as `kubectl describe secret` shows it.
std::string keys_of(const k8s::secret& s) {
  if (s.find(docker_config_key)) return "the key is empty";
  std::string out;
  for (const auto& [key, content] : s.data)
    out += (out.empty() ? "its keys are " : ", ") + std::string(key.view());
  return out.empty() ? "it has no keys" : out;
}

}  // namespace

pull_secrets::pull_secrets(reactor::loop& l, k8s::client& api, std::string ns,
                           k8s::watch_limits limits, std::function<void()> changed,
                           reactor::logger log)
    : loop_(l),
      api_(api),
      ns_(std::move(ns)),
      limits_(std::move(limits)),
      changed_(std::move(changed)),
      log_(std::move(log)) {}

void pull_secrets::want(const secret_ref& ref) {
  if (ref.ns != ns_ || watched_.contains(ref.name) || watched_.size() >= most_watched) return;
  auto o = k8s::only(k8s::resources::secrets(), {ns_, ref.name}, limits_, log_);
  o.on_state = [this](k8s::informer_state) { changed_(); };
  watched& w = watched_[ref.name];
  w.of = std::make_unique<k8s::informer<k8s::secret>>(loop_, api_, std::move(o));
  w.of->on_change([this, &w](const k8s::secret*, const k8s::secret* now) {
    w.content = now ? usable_content(*now) : nullptr;
    changed_();
  });
  w.of->start();
}

const pull_secrets::watched* pull_secrets::find(const secret_ref& ref) const {
  const auto found = watched_.find(ref.name);
  return found == watched_.end() || ref.ns != ns_ ? nullptr : &found->second;
}

secret_state pull_secrets::state_of(const secret_ref& ref) const {
  using kind = secret_state::kind;
  const watched* w = find(ref);
  if (!w) return {};
  if (w->content) return {kind::usable, w->content->id, {}};
  if (const k8s::secret* there = w->of->find({ns_, ref.name}))
    return {kind::without_key, {}, keys_of(*there)};
  if (w->of->is_synced()) return {kind::missing, {}, {}};
  const auto& why = w->of->last_error();
  return why ? secret_state{kind::unreadable, {}, why->message()} : secret_state{};
}

std::shared_ptr<const registry::pull_secret> pull_secrets::content_of(const secret_ref& ref) const {
  const watched* w = find(ref);
  if (w && w->content) return w->content;
  // The registry is asked without a login, and a refusal says why.
  std::string problem = problem_of(state_of(ref), ref.ns + "/" + ref.name);
  if (problem.empty()) return nullptr;
  registry::pull_secret none;
  none.id = none.problem = std::move(problem);
  return std::make_shared<registry::pull_secret>(std::move(none));
}

awaitable<void> pull_secrets::stop() {
  auto ending = std::exchange(watched_, {});
  for (auto& [name, one] : ending) co_await one.of->stop();
  for (auto& [name, one] : ending) co_await one.of->forget();
}

}  // namespace bootc
