#pragma once

#include "k8s/client/resource.hpp"
#include "k8s/informer/view.hpp"
#include "policies/host/pack_feed.hpp"
#include "reactor/log.hpp"
#include "reactor/waiters.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace k8s {
class client;
template <stored_view View>
class informer;
}  // namespace k8s

namespace cli {

/// A ConfigMap with its texts.
struct config_map_view {
  k8s::object_meta meta;
  std::map<std::string, std::string> data;
  std::vector<std::string> binary;  // keys of what is no text

  static config_map_view parse(k8s::wire_value object);
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const config_map_view&, const config_map_view&) = default;
};

/// The packs in a ConfigMap. With a key `policy.lua` it is one pack, named `name`, and each key is
/// a file of it. Else keys are PACK.FILE, and PACK is what stands before `.policy.lua` in one of
/// them: "mine.policy.lua", "mine.policy_test.lua".
/// Limits   those of a folder of packs.
/// Errors   errc::not_found: no pack in it. errc::malformed: a key that is of no pack, or no text.
reactor::result<std::vector<policies::pack_source>> packs_in(const config_map_view& m,
                                                             const std::string& name);

/// "configmap:NAME" or "configmap:NAMESPACE/NAME"; nothing when `text` is a folder.
struct config_map_name {
  std::string ns, name;
};
std::optional<config_map_name> config_map_named(std::string_view text, const std::string& ns);

/// Packs of a ConfigMap of one cluster, followed by a watch of it alone.
/// Errors   read(): it is not there, may not be read, or is no pack; a server that does not answer
///          is errc::closed.
/// Lifetime follow() before the first read(); the client outlives stop(), which is awaited before
///          the end.
class config_map_packs final : public policies::pack_feed {
public:
  config_map_packs(reactor::loop& l, config_map_name which, reactor::logger log);
  ~config_map_packs() override;

  void follow(k8s::client& api);
  /// The ConfigMap as it was seen last; null where there is none. Lives until the next await.
  const config_map_view* seen() const;
  const config_map_name& which() const noexcept { return which_; }
  reactor::awaitable<void> stop();

  reactor::awaitable<reactor::result<std::vector<policies::pack_source>>> read() override;
  reactor::awaitable<void> changed() override;

private:
  std::string doing() const;
  reactor::loop& loop_;
  config_map_name which_;
  reactor::logger log_;
  reactor::event changed_;
  std::unique_ptr<k8s::informer<config_map_view>> seen_;
};

}  // namespace cli
