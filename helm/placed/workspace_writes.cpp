#include "helm/placed/workspace_writes.hpp"

#include "k8s/client/client.hpp"

#include <boost/json.hpp>

namespace helm::placed {

namespace json = boost::json;
using reactor::awaitable;

namespace {

/// A key as a JSON pointer has it.
std::string json_pointer_part(std::string_view key) {
  std::string out;
  for (const char c : key) out += c == '/' ? std::string("~1") : std::string(1, c);
  return out;
}

}  // namespace

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

awaitable<k8s::result<void>> delete_workspace(k8s::client& api,  // borrowed
                                              std::string name, names::owner_reference owner) {
  k8s::object_key key;
  key.name = std::move(name);
  auto is = co_await api.get(k8s::resources::namespaces(), key);
  if (is) {
    const std::string path = "/metadata/annotations/" + json_pointer_part(names::owner);
    boost::system::error_code none;
    const json::value whole(std::move(*is));
    const json::value* said = whole.find_pointer(path, none);
    if (!said || !said->is_string() || said->get_string() != owner.text())
      co_return k8s::result<void>();
    k8s::delete_options how;
    const json::value* uid = whole.find_pointer("/metadata/uid", none);
    if (uid && uid->is_string()) how.uid = uid->get_string();
    auto gone = co_await api.remove(k8s::resources::namespaces(), std::move(key), std::move(how));
    if (gone || gone.error().code == k8s::errc::not_found) co_return k8s::result<void>();
    co_return gone.error();
  }
  if (is.error().code == k8s::errc::not_found) co_return k8s::result<void>();
  co_return is.error();
}

}  // namespace helm::placed
