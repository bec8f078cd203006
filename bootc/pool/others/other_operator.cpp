#include "bootc/pool/others/other_operator.hpp"

#include "bootc/kinds/names.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/loop.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <utility>

namespace bootc {
namespace {

namespace json = boost::json;

std::string text_in(const json::value* spec, std::string_view key) {
  const json::value* v = spec && spec->is_object() ? spec->get_object().if_contains(key) : nullptr;
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

/// As long as others take it for kept; nobody means more than a day.
reactor::nanoseconds duration_in(const json::value* spec) {
  constexpr std::int64_t usual = 15, most = 24 * 3600;
  const json::value* v =
      spec && spec->is_object() ? spec->get_object().if_contains("leaseDurationSeconds") : nullptr;
  return std::chrono::seconds(
      std::clamp(v && v->is_int64() ? v->get_int64() : usual, std::int64_t{1}, most));
}

}  // namespace

other_operator::other_operator(reactor::loop& l, k8s::client& api, std::string ns,
                               std::string identity)
    : loop_(l), api_(api), ns_(std::move(ns)), identity_(std::move(identity)) {}

reactor::awaitable<void> other_operator::look() {
  if (asked_ && loop_.now() - asked_at_ < asked_every) co_return;
  asked_ = true;
  asked_at_ = loop_.now();
  k8s::object_key key{ns_, std::string(names::lease)};
  auto lease = co_await api_.get(k8s::resources::leases(), std::move(key));
  if (lease) {
    const json::value* spec = lease->if_contains("spec");
    note(text_in(spec, "holderIdentity"), text_in(spec, "renewTime"), duration_in(spec));
  } else if (lease.error().code == k8s::errc::not_found ||
             lease.error().code == k8s::errc::forbidden) {
    holder_.clear();
  }
}

void other_operator::note(const std::string& holder, const std::string& renewed,
                          reactor::nanoseconds kept_for) {
  const std::string seen = holder + " " + renewed;
  if (renewed_ != seen) {
    renewed_ = seen;
    changed_at_ = loop_.now();
  }
  const bool kept = !holder.empty() && holder != identity_ && loop_.now() - changed_at_ < kept_for;
  holder_ = kept ? holder : std::string();
}

}  // namespace bootc
