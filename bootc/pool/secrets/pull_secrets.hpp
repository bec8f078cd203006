#pragma once

#include "bootc/kinds/bootc_node.hpp"
#include "bootc/pool/secrets/secret_state.hpp"
#include "k8s/informer/informer.hpp"
#include "k8s/views/secret.hpp"
#include "registry/tag_reader.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace bootc {

using reactor::awaitable;

/// The pull secrets that pools of one cluster name, each watched by its name in the operator's
/// namespace and nowhere else.
/// Errors   one that may not be read is reported by its pools; nothing else of the cluster waits
///          for it.
/// Lifetime loop and client outlive it; co_await stop() before destruction.
class pull_secrets {
public:
  pull_secrets(reactor::loop& l, k8s::client& api, std::string ns, k8s::watch_limits limits,
               std::function<void()> changed, reactor::logger log = {});

  const std::string& ns() const noexcept { return ns_; }
  /// Begins to watch it. Beyond most_watched no further one is.
  void want(const secret_ref& ref);
  secret_state state_of(const secret_ref& ref) const;
  /// One without a usable content has a `problem` instead. Null while it is asked for.
  std::shared_ptr<const registry::pull_secret> content_of(const secret_ref& ref) const;
  awaitable<void> stop();

  static constexpr std::size_t most_watched = 100;

private:
  struct watched {
    std::unique_ptr<k8s::informer<k8s::secret>> of;
    std::shared_ptr<const registry::pull_secret> content;  // as state_of and content_of say it
  };
  const watched* find(const secret_ref& ref) const;

  reactor::loop& loop_;
  k8s::client& api_;
  std::string ns_;
  k8s::watch_limits limits_;
  std::function<void()> changed_;
  reactor::logger log_;
  std::map<std::string, watched> watched_;  // by name
};

}  // namespace bootc
