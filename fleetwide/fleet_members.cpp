#include "fleetwide/fleet_members.hpp"

#include "fleetwide/events.hpp"
#include "fleetwide/kinds/names.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/events.hpp"
#include "k8s/fleet/cluster.hpp"

#include <array>
#include <utility>

namespace fleetwide {
namespace {

namespace json = boost::json;

constexpr std::size_t most_pools = 1'000;  // as the API that moves their nodes
constexpr std::array marks_of_ours{names::object, names::uid, names::revision, names::digest,
                                   names::since};

}  // namespace

fleet_members::fleet_members(k8s::engagement& on, options o)
    : on_(on),
      options_(std::move(o)),
      pools_(on.loop(), on.api(),
             k8s::all_of(bootc::node_pools(), options_.limits, on.log(), most_pools)) {
  on.follow(pools_);
  pools_.on_change([this](const bootc::node_pool* before, const bootc::node_pool* now) {
    if (options_.on_change) options_.on_change((now ? now : before)->meta.name.str());
  });
  pools_.start();
}

awaitable<void> fleet_members::stop() {
  if (options_.on_stop) options_.on_stop(this);
  co_await pools_.stop();
  co_await pools_.forget();
}

awaitable<bool> fleet_members::synced(reactor::steady_time deadline) {
  return pools_.synced(deadline);
}

void fleet_members::reconsider() {
  if (options_.on_recovered) options_.on_recovered();
}

awaitable<k8s::result<void>> fleet_members::apply(std::string pool, json::object body,
                                                  k8s::apply_conflicts conflicts) {
  const json::object& notes = body.at("metadata").at("annotations").as_object();
  const std::string note = std::string(notes.at(names::object).as_string()) + ", revision " +
                           std::string(notes.at(names::revision).as_string());
  k8s::object_key key{"", pool};
  auto written = co_await on_.api().apply(
      bootc::node_pools(), std::move(key), std::move(body),
      k8s::request_options().by(std::string(names::field_manager)).on_conflict(conflicts));
  if (!written) co_return written.error();
  on_.log().info("a pool was written as it was said at home", {{"pool", pool}, {"from", note}});
  std::string uid;
  if (const json::value* metadata = written->if_contains("metadata"))
    if (const json::value* found = metadata->as_object().if_contains("uid"))
      uid = std::string(found->as_string());
  const k8s::object_reference about{"node.bootc.dev/v1alpha1", "BootcNodePool", "", pool, uid};
  on_.on().events().record(k8s::tell_of(fleet_event::applied, about, note));
  co_return k8s::result<void>();
}

awaitable<k8s::result<void>> fleet_members::remove(std::string pool, std::string uid) {
  k8s::delete_options how;
  how.uid = std::move(uid);
  k8s::object_key key{"", std::move(pool)};
  auto removed = co_await on_.api().remove(bootc::node_pools(), std::move(key), std::move(how));
  if (!removed && removed.error().code == k8s::errc::not_found) co_return k8s::result<void>();
  co_return removed;
}

awaitable<k8s::result<void>> fleet_members::let_go(std::string pool, std::string version) {
  json::object annotations, metadata, patch;
  for (const std::string_view mark : marks_of_ours) annotations[mark] = nullptr;
  metadata["resourceVersion"] = std::move(version);
  metadata["annotations"] = std::move(annotations);
  patch["metadata"] = std::move(metadata);
  k8s::object_key key{"", std::move(pool)};
  auto written =
      co_await on_.api().merge_patch(bootc::node_pools(), std::move(key), std::move(patch),
                                     k8s::request_options().by(std::string(names::field_manager)));
  if (!written && written.error().code == k8s::errc::not_found) co_return k8s::result<void>();
  if (!written) co_return written.error();
  co_return k8s::result<void>();
}

}  // namespace fleetwide
