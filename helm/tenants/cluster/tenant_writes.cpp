#include "helm/tenants/cluster/tenant_writes.hpp"

#include "helm/tenants/kinds/names.hpp"
#include "k8s/client/client.hpp"
#include "k8s/informer/view.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

namespace helm::tenants {
namespace {

namespace json = boost::json;
using reactor::awaitable;
using end = written_tenant::end;

constexpr double pause_jitter = 0.2;

written_tenant wrote(const json::object& answer) {
  written_tenant out;
  out.is = end::written;
  auto read = k8s::parse_view<tenant>(json::serialize(answer));
  if (read) out.now = std::move(*read);
  return out;
}

written_tenant ended(end is, std::string why = {}) {
  written_tenant out;
  out.is = is;
  out.why = std::move(why);
  return out;
}

}  // namespace

awaitable<written_tenant> tenant_writes::set_finalizer(tenant t, finalizer_is how) {
  json::array all;
  for (const k8s::interned& f : t.meta.finalizers)
    if (f.view() != names::cleanup) all.emplace_back(f.view());
  if (how == finalizer_is::wanted) all.emplace_back(names::cleanup);
  json::object metadata;
  metadata["resourceVersion"] = t.meta.resource_version.text();
  metadata["finalizers"] = std::move(all);
  json::object patch;
  patch["metadata"] = std::move(metadata);
  k8s::resource r = tenant_resource();
  auto got = co_await api_.merge_patch(std::move(r), t.meta.key(), std::move(patch), std::string(),
                                       std::string(names::field_manager));
  if (got) co_return wrote(*got);
  if (got.error().code == k8s::errc::not_found) co_return ended(end::gone);
  const bool raced = got.error().code == k8s::errc::conflict;
  co_return ended(raced ? end::conflict : end::failed, got.error().message());
}

awaitable<written_tenant> tenant_writes::annotate(k8s::object_key key, std::string name,
                                                  std::string value) {
  for (int attempts = 1;; ++attempts) {
    json::object annotations;
    annotations[name] = value;
    json::object metadata;
    metadata["annotations"] = std::move(annotations);
    json::object patch;
    patch["metadata"] = std::move(metadata);
    k8s::resource r = tenant_resource();
    auto got = co_await api_.merge_patch(std::move(r), key, std::move(patch), std::string(),
                                         std::string(names::field_manager));
    if (got) co_return wrote(*got);
    const write_next next = after_write(answer_of(got.error()), attempts);
    if (next.what == write_next::is::gone) co_return ended(end::gone);
    if (next.what != write_next::is::again) co_return ended(end::failed, got.error().message());
    co_await loop_.sleep_for(loop_.random().jitter(next.pause, pause_jitter));
  }
}

awaitable<written_tenant> tenant_writes::tell(tenant t, turn_of_events turn) {
  tenant_status wanted = status_after(t, turn, loop_.wall());
  for (int attempts = 1;; ++attempts) {
    json::object patch = status_patch(t.status, wanted, t.meta.resource_version.text());
    if (patch.empty()) co_return ended(end::unchanged);
    k8s::resource r = tenant_resource();
    auto got = co_await api_.merge_patch(std::move(r), t.meta.key(), std::move(patch), "status",
                                         std::string(names::field_manager));
    if (got) co_return wrote(*got);
    const k8s::fault why = got.error();
    const write_next next = after_write(answer_of(why), attempts);
    if (next.what == write_next::is::gone) co_return ended(end::gone);
    if (next.what != write_next::is::again) co_return ended(end::failed, why.message());
    co_await loop_.sleep_for(loop_.random().jitter(next.pause, pause_jitter));
    if (why.code != k8s::errc::conflict) continue;
    k8s::resource again = tenant_resource();
    auto fresh = co_await api_.get(std::move(again), t.meta.key());
    if (!fresh && fresh.error().code == k8s::errc::not_found) co_return ended(end::gone);
    if (!fresh) continue;
    auto read = k8s::parse_view<tenant>(json::serialize(*fresh));
    if (!read) co_return ended(end::failed, read.error().message());
    if (!(read->meta.uid == t.meta.uid)) co_return ended(end::gone);
    wanted = remerged(read->status, wanted, turn.cluster, turn.skip);
    t = std::move(*read);
  }
}

awaitable<k8s::result<bool>> tenant_writes::create_workspace(std::string name,
                                                             names::owner_reference owner) {
  json::object labels, annotations, metadata, body;
  labels[names::managed_by] = names::manager;
  annotations[names::owner] = owner.text();
  metadata["name"] = name;
  metadata["labels"] = std::move(labels);
  metadata["annotations"] = std::move(annotations);
  body["apiVersion"] = "v1";
  body["kind"] = "Namespace";
  body["metadata"] = std::move(metadata);
  auto made = co_await api_.create(k8s::resources::namespaces(), std::string(), std::move(body));
  if (made) co_return true;
  if (made.error().code == k8s::errc::exists) co_return false;
  co_return made.error();
}

awaitable<k8s::result<void>> tenant_writes::delete_workspace(std::string name) {
  k8s::object_key key;
  key.name = std::move(name);
  auto gone = co_await api_.remove(k8s::resources::namespaces(), std::move(key));
  if (!gone && gone.error().code != k8s::errc::not_found) co_return gone.error();
  co_return k8s::result<void>();
}

}  // namespace helm::tenants
