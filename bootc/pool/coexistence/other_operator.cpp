#include "bootc/pool/coexistence/other_operator.hpp"

#include "bootc/kinds/names.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/lease/kept_lease.hpp"
#include "reactor/loop.hpp"

#include <boost/json/object.hpp>

#include <utility>

namespace bootc {

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
    note(k8s::lease_record_of(*lease));
  } else if (lease.error().code == k8s::errc::not_found ||
             lease.error().code == k8s::errc::forbidden) {
    holder_.clear();
  }
}

void other_operator::note(const k8s::lease_record& lease) {
  const std::string seen = lease.holder + " " + lease.renewed;
  if (renewed_ != seen) {
    renewed_ = seen;
    changed_at_ = loop_.now();
  }
  const bool kept = !lease.holder.empty() && lease.holder != identity_ &&
                    loop_.now() - changed_at_ < k8s::kept_for(lease);
  holder_ = kept ? lease.holder : std::string();
}

}  // namespace bootc
