#pragma once

#include "k8s/lease/lease.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>

namespace k8s {
class client;
}

namespace units {

using reactor::awaitable;

/// Leases beside those of the APIs: what is only a part of an API, such as a pack, names one of its
/// own and acts only while this process holds it.
/// Tried    as long as it has members; after the last one it is released, within 2 s.
/// Lifetime loop and client outlive it, and it outlives its members; co_await stop() before
///          destruction, when all members are gone.
class extra_leases {
public:
  struct options {
    std::string ns, identity;
    k8s::leader_settings settings = {};
  };
  /// `home` is asked when the first Lease is tried for.
  extra_leases(reactor::loop& l, std::function<k8s::client&()> home, options o,
               reactor::logger log = {});
  ~extra_leases();
  extra_leases(const extra_leases&) = delete;
  extra_leases& operator=(const extra_leases&) = delete;

  /// As long as it is there the Lease is tried for.
  class member {
  public:
    member(extra_leases& in, std::string lease, std::function<void()> moved);
    ~member();
    member(const member&) = delete;
    member& operator=(const member&) = delete;
    bool ours() const;

  private:
    friend class extra_leases;
    extra_leases& in_;
    std::string lease_;
    std::function<void()> moved_;
  };
  /// `moved`: it became ours, or no longer is.
  std::unique_ptr<member> claim(std::string lease, std::function<void()> moved);
  awaitable<void> stop();

private:
  struct shared {
    std::list<member*> members;
    std::unique_ptr<k8s::leader_election> election;
  };
  void tell(const std::string& lease);
  awaitable<void> follow(std::string lease);

  reactor::loop& loop_;
  std::function<k8s::client&()> home_;
  options options_;
  reactor::logger log_;
  std::map<std::string, shared> leases_;
  reactor::waiters changed_;
  reactor::task_group tasks_;
};

}  // namespace units
