#include "k8s/lease/kept_lease.hpp"
#include "k8s/lease/lease.hpp"

#include <algorithm>

namespace k8s {

leader_state::leader_state(std::string identity, leader_settings settings)
    : identity_(std::move(identity)), settings_(settings) {}

leader_state::decision leader_state::decide(const std::optional<lease_record>& current,
                                            reactor::steady_time now, reactor::wall_time wall) {
  const std::string time = reactor::format_rfc3339_micro(wall);
  decision d;
  d.write.holder = identity_;
  d.write.duration_seconds =
      std::chrono::duration_cast<std::chrono::seconds>(settings_.duration).count();
  d.write.acquired = time;
  d.write.renewed = time;
  if (!current) {
    leading_ = false;
    d.what = act::create;
    return d;
  }
  if (!(*current == seen_)) {
    seen_ = *current;
    seen_at_ = now;
  }
  const bool ours = current->holder == identity_;
  if (!ours) leading_ = false;
  // The holder's own promise counts, as in client-go: replicas may be configured differently.
  const reactor::nanoseconds promised = current->duration_seconds > 0
                                            ? std::chrono::seconds(current->duration_seconds)
                                            : settings_.duration;
  if (!ours && !current->holder.empty() && now < seen_at_ + promised) return d;
  d.what = act::update;
  d.write.resource_version = current->resource_version;
  d.write.transitions = current->transitions + (ours ? 0 : 1);
  if (ours) d.write.acquired = current->acquired;
  return d;
}

void leader_state::wrote(lease_record accepted, reactor::steady_time started) {
  seen_ = std::move(accepted);
  seen_at_ = started;
  renewed_at_ = started;
  leading_ = true;
}

bool leader_state::leading(reactor::steady_time now) const noexcept {
  return leading_ && now < ends_at();
}

reactor::steady_time leader_state::ends_at() const noexcept {
  return renewed_at_ + settings_.renew_deadline;
}

std::optional<lease_record> leader_state::release(reactor::wall_time wall) const {
  if (!leading_ || seen_.holder != identity_) return std::nullopt;
  lease_record out = seen_;
  out.holder.clear();
  out.duration_seconds = 1;  // validation refuses 0
  out.renewed = reactor::format_rfc3339_micro(wall);
  out.acquired = out.renewed;
  return out;
}

reactor::nanoseconds kept_for(const lease_record& lease) {
  constexpr std::int64_t usual = 15, most = 24 * 3600;
  return std::chrono::seconds(lease.duration_seconds == 0
                                  ? usual
                                  : std::clamp(lease.duration_seconds, std::int64_t{1}, most));
}

const std::string& kept_lease::note(const lease_record& lease, reactor::steady_time now) {
  const std::string seen = lease.holder + " " + lease.renewed;
  if (seen_ != seen) {
    seen_ = seen;
    changed_at_ = now;
  }
  holder_ = now - changed_at_ < kept_for(lease) ? lease.holder : std::string();
  return holder_;
}

}  // namespace k8s
