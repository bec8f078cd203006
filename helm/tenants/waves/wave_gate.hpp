#pragma once

#include "helm/tenants/waves/turn.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace reactor {
class loop;
}

namespace helm::tenants {

/// Which objects of one cluster may move to a changed state: the policy of waves is asked once for
/// all that want to, then again while an object waits.
/// Lifetime loop and what the options name outlive it; co_await stop() before destruction.
class wave_gate {
public:
  struct options {
    /// Empty: every object may move at once.
    std::function<reactor::awaitable<turn_answer>(turn_question)> ask;
    /// The objects as they are now, for the policy.
    std::function<turn_question(const wave_gate&)> question;
    /// The answer about that object changed.
    std::function<void(const k8s::object_key&)> wake;
    std::function<bool()> is_live;
    enum class repeats : std::uint8_t { while_one_waits, never } asks = repeats::while_one_waits;
  };
  wave_gate(reactor::loop& l, options o);

  bool is_open() const noexcept { return !options_.ask; }
  /// Why the object must not move to that state yet; none: it may.
  reactor::awaitable<std::optional<units::hold>> hold_for(k8s::object_key key,
                                                          std::string fingerprint);
  void forget(const k8s::object_key& key);
  /// The next question is asked again, maybe of another policy.
  void ask_again() { is_.held.clear(); }
  void reset() { is_ = {}; }
  reactor::awaitable<void> stop() { return tasks_.cancel_and_join(); }

  /// Of the state that is asked about; empty before the first question.
  const std::string& fingerprint() const noexcept { return is_.fingerprint; }
  bool wants(const k8s::object_key& key) const { return is_.wanted.contains(key); }
  bool lets_in(const k8s::object_key& key) const { return is_.let_in.contains(key); }

private:
  reactor::awaitable<void> ask();
  reactor::awaitable<void> keep_asking();

  reactor::loop& loop_;
  options options_;
  struct {
    std::string fingerprint;
    std::set<k8s::object_key> wanted, let_in;
    std::map<k8s::object_key, units::hold> held;
    reactor::nanoseconds look_again{};
  } is_;
  bool asks_ = false, keeps_asking_ = false;
  reactor::waiters answered_;
  reactor::task_group tasks_;
};

}  // namespace helm::tenants
