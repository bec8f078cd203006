#include "helm/tenants/cluster/workspace_writes.hpp"

#include "k8s/client/client.hpp"

#include <boost/json.hpp>

namespace helm::tenants {

namespace json = boost::json;
using reactor::awaitable;

awaitable<k8s::result<bool>> create_workspace(k8s::client& api,  // borrowed
                                              std::string name, names::owner_reference owner) {
  json::object labels, annotations, metadata, body;
  labels[names::managed_by] = names::manager;
  annotations[names::owner] = owner.text();
  metadata["name"] = name;
  metadata["labels"] = std::move(labels);
  metadata["annotations"] = std::move(annotations);
  body["apiVersion"] = "v1";
  body["kind"] = "Namespace";
  body["metadata"] = std::move(metadata);
  auto made = co_await api.create(k8s::resources::namespaces(), std::string(), std::move(body));
  if (made) co_return true;
  if (made.error().code == k8s::errc::exists) co_return false;
  co_return made.error();
}

awaitable<k8s::result<void>> delete_workspace(k8s::client& api, std::string name) {  // borrowed
  k8s::object_key key;
  key.name = std::move(name);
  auto gone = co_await api.remove(k8s::resources::namespaces(), std::move(key));
  if (!gone && gone.error().code != k8s::errc::not_found) co_return gone.error();
  co_return k8s::result<void>();
}

}  // namespace helm::tenants
