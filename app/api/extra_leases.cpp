#include "app/api/extra_leases.hpp"

#include "reactor/loop.hpp"

#include <utility>

namespace units {

extra_leases::extra_leases(reactor::loop& l, std::function<k8s::client&()> home, options o,
                           reactor::logger log)
    : loop_(l),
      home_(std::move(home)),
      options_(std::move(o)),
      log_(std::move(log)),
      changed_(l),
      tasks_(l) {}

extra_leases::~extra_leases() = default;

extra_leases::member::member(extra_leases& in, std::string lease, std::function<void()> moved)
    : in_(in), lease_(std::move(lease)), moved_(std::move(moved)) {
  const auto [there, is_new] = in_.leases_.try_emplace(lease_);
  there->second.members.push_back(this);
  if (is_new) in_.tasks_.start("lease " + lease_, in_.follow(lease_));
  in_.changed_.wake_all();
}

extra_leases::member::~member() {
  in_.leases_.at(lease_).members.remove(this);
  in_.changed_.wake_all();
}

bool extra_leases::member::ours() const {
  const auto& election = in_.leases_.at(lease_).election;
  return election && election->leading();
}

std::unique_ptr<extra_leases::member> extra_leases::claim(std::string lease,
                                                          std::function<void()> moved) {
  return std::make_unique<member>(*this, std::move(lease), std::move(moved));
}

void extra_leases::tell(const std::string& lease) {
  // A listener only takes note: none is added or removed meanwhile.
  for (const member* one : leases_.at(lease).members) one->moved_();
}

/// From the first who takes part to the last: one step after the other, so that a Lease is tried
/// for again only when it was released.
awaitable<void> extra_leases::follow(std::string lease) {
  shared& it = leases_.at(lease);
  for (;;) {
    if (!it.members.empty() && !it.election) {
      k8s::leader_election::options e;
      e.lease = {options_.ns, lease};
      e.identity = options_.identity;
      e.settings = options_.settings;
      e.on_started = [this, lease] { tell(lease); };
      e.on_lost = [this, lease] {
        log_.error("lost a lease; what needs it is stopped, so that the new holder acts alone",
                   {{"lease", lease}});
        tell(lease);
      };
      it.election = std::make_unique<k8s::leader_election>(loop_, home_(), std::move(e), log_);
      it.election->start();
    }
    if (it.members.empty()) {
      if (it.election) co_await it.election->stop();
      it.election.reset();
      if (it.members.empty()) break;
      continue;
    }
    (void)co_await changed_.wait();
  }
  leases_.erase(lease);
  changed_.wake_all();
}

awaitable<void> extra_leases::stop() {
  while (!leases_.empty()) (void)co_await changed_.wait();
  co_await tasks_.cancel_and_join();
}

}  // namespace units
