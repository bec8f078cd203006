#pragma once

#include "helm/placed/ledger.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/informer/meta.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::tenants {

/// Where we put the release of one object: Secrets that lead to regions. The object's author
/// cannot write here, so what is cleaned up later is what we did and nothing else.
struct object_places {
  std::string uid;  // of the object: another one of that name has none of them
  std::vector<k8s::object_key> targets;
  friend bool operator==(const object_places&, const object_places&) = default;
};
/// What is no such text counts as no places.
object_places read_places(std::string_view text);
std::string write_places(const object_places& places);
/// What is to be written where `now` is, by a process that knows `known` and has left a place: no
/// place of another writer's is lost.
object_places places_after(object_places now, const object_places& known,
                           const std::optional<k8s::object_key>& left);

/// The places of all KryptonDeployments, kept in the ledger of home and in memory.
/// Shape    load() once, then the rest. Only one process writes, that with the Lease.
/// Errors   the request's; what could not be written is remembered by this process.
/// Lifetime the client outlives it.
class remembered_places {
public:
  remembered_places(k8s::client& home, std::string notes_ns) : in_(home, std::move(notes_ns)) {}

  reactor::awaitable<k8s::result<void>> load();
  const std::vector<k8s::object_key>& of(const k8s::object_key& object, const k8s::uid& uid) const;
  /// Writes nothing where the place is known.
  reactor::awaitable<k8s::result<void>> add(k8s::object_key object, k8s::uid uid,
                                            k8s::object_key target);
  reactor::awaitable<k8s::result<void>> remove(k8s::object_key object, k8s::object_key target);
  reactor::awaitable<k8s::result<void>> forget(k8s::object_key object);

private:
  reactor::awaitable<k8s::result<void>> save(k8s::object_key object,
                                             std::optional<k8s::object_key> left);

  placed::ledger in_;
  std::map<std::string, object_places> all_;  // by key in the ledger
};

}  // namespace helm::tenants
