#pragma once

#include "k8s/client/resource.hpp"
#include "policies/rollout.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"

#include <boost/json/fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace k8s {
class client;
}

/// What a pool has its policies look at beside its nodes: the objects that its annotation
/// windlass.dev/guard-objects names.
namespace bootc {

struct guarded {
  std::string path;  // as it was written
  k8s::resource kind;
  k8s::object_key key;
};

/// "apps/v1/deployments/shop/web, example.com/v1/alerts/ceph":
/// [GROUP/]VERSION/PLURAL/[NAMESPACE/]NAME of each.
/// Limits   eight objects.
/// Errors   errc::malformed names the entry; also for a kind of which no list is read.
reactor::result<std::vector<guarded>> guarded_in(std::string_view text);

/// What an object says of itself.
policies::guarded_object facts_of(std::string path, const boost::json::object& object);

/// Asks the server for each. What cannot be read says why; it is not left out.
/// Lifetime the client outlives the call.
reactor::awaitable<std::vector<policies::guarded_object>> look_at_guarded(
    k8s::client& api, std::string text);  // borrowed

}  // namespace bootc
