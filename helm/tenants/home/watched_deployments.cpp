#include "helm/tenants/home/watched_deployments.hpp"

#include "k8s/client/client.hpp"
#include "reactor/loop.hpp"

#include <algorithm>
#include <utility>

namespace helm::tenants {
namespace {

constexpr std::size_t most_deployments = 10'000;

}  // namespace

watched_deployments::watched_deployments(reactor::loop& l, k8s::client& api,
                                         const std::vector<std::string>& in,
                                         const k8s::watch_limits& limits,
                                         const reactor::logger& log) {
  const std::size_t streams = std::max<std::size_t>(1, in.size());
  for (std::size_t i = 0; i < streams; ++i) {
    auto o = k8s::all_of(krypton_deployment_resource(), limits, log, most_deployments);
    if (!in.empty()) o.ns = in[i];
    streams_.push_back(std::make_unique<informer>(l, api, std::move(o)));
  }
}

void watched_deployments::each_stream(const std::function<void(informer&)>& f) {
  for (const auto& one : streams_) f(*one);
}

void watched_deployments::start() {
  for (const auto& one : streams_) one->start();
}

reactor::awaitable<bool> watched_deployments::synced(reactor::steady_time deadline) {
  for (const auto& one : streams_)
    if (!co_await one->synced(deadline)) co_return false;
  co_return true;
}

reactor::awaitable<void> watched_deployments::stop() {
  for (const auto& one : streams_) {
    co_await one->stop();
    co_await one->forget();
  }
}

std::string watched_deployments::sync_problem() const {
  for (const auto& one : streams_)
    if (std::string why = one->sync_problem(); !why.empty()) return why;
  return {};
}

const krypton_deployment* watched_deployments::find(const k8s::object_key& key) const {
  for (const auto& one : streams_)
    if (const krypton_deployment* found = one->find(key)) return found;
  return nullptr;
}

void watched_deployments::each(const std::function<void(const krypton_deployment&)>& f) const {
  for (const auto& one : streams_) one->objects().each(f);
}

void watched_deployments::each_by(std::string_view index, std::string_view value,
                                  const std::function<void(const krypton_deployment&)>& f) const {
  for (const auto& one : streams_) one->objects().each_by(index, value, f);
}

}  // namespace helm::tenants
