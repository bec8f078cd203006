#pragma once

#include "bootc/daemon/host.hpp"
#include "bootc/daemon/node_agent.hpp"
#include "bootc/kinds/bootc_node.hpp"
#include "k8s/informer/informer.hpp"
#include "reactor/backoff.hpp"
#include "reactor/log.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>

namespace k8s {
class client;
}

namespace bootc {

struct node_daemon_options {
  std::string node;  // whose BootcNode is ours; never empty
  // changes of the host may go unnoticed
  reactor::nanoseconds poll_interval = std::chrono::minutes(5);
  reactor::nanoseconds status_timeout = std::chrono::seconds(30);
};

/// The daemon of one node: carries out what its node_agent decides. Watches exactly one BootcNode,
/// runs one host command at a time beside that, publishes before it acts and reboots last.
/// Errors   of the API are retried with backoff, those of the host are published; none ends it.
/// Lifetime loop, client and machine outlive it; co_await stop() before destruction. A stage under
///          way goes on without it, and the next daemon finds it.
class node_daemon {
public:
  node_daemon(reactor::loop& l, k8s::client& api, host& machine, node_daemon_options options,
              reactor::logger log = {});
  ~node_daemon();
  node_daemon(const node_daemon&) = delete;
  node_daemon& operator=(const node_daemon&) = delete;

  void start();
  awaitable<void> stop();
  /// True once a reboot was issued: it waits to be ended with the host.
  bool reboot_issued() const noexcept { return agent_.reboot_issued(); }
  /// Why nothing can be done on the host: it cannot be entered, or has no bootc. Empty when it can.
  std::string host_problem() const;

private:
  struct ended_command;
  awaitable<void> run();
  awaitable<void> watch_host();
  awaitable<void> follow_progress();
  awaitable<void> run_command(host_command command);
  void log_fault(const bootc_node_status& decided);
  void tell_unread(const std::string& what, const std::string& why);
  awaitable<void> inspect();
  awaitable<void> read_host();
  awaitable<void> bring_auth(bootc_node_spec spec);
  awaitable<reactor::result<reactor::secret>> pull_secret(secret_ref of);
  /// Whether it changes anything that others counted on: then only what the server has now is acted
  /// upon, for an approval may have been taken back that this process has not heard of.
  enum class consent { as_seen, of_now };
  awaitable<bool> publish(bootc_node object, bootc_node_status status, consent needed);
  /// Reads our object again, for current(); false where it cannot be read.
  awaitable<bool> read_object();
  /// Whether the server still asks for what was decided on.
  awaitable<bool> is_still_asked(bootc_node object);
  /// What the server answered.
  bool take(std::string_view answer);
  /// Our object as it is known: what our own last write answered, or what the watch brought since.
  std::optional<bootc_node> current();

  reactor::loop& loop_;
  k8s::client& api_;
  host& machine_;
  node_daemon_options options_;
  reactor::logger log_;
  k8s::informer<bootc_node> informer_;
  std::optional<bootc_node> written_;
  node_agent agent_;
  std::string logged_fault_;                   // the last that log_fault told of
  std::map<std::string, std::string> unread_;  // what of the host cannot be read: why
  struct auth {
    std::optional<secret_ref> ref;
    std::string hash;
    friend bool operator==(const auth&, const auth&) = default;
  };
  std::optional<auth> shown_;  // to registries, by the host; nothing = not known yet
  reactor::steady_time inspect_again_{};
  reactor::event wake_;
  reactor::backoff api_backoff_{{std::chrono::seconds(1), std::chrono::seconds(30), 2, 0.2}};
  reactor::task_group::task_id command_ = 0;
  bool started_ = false, following_ = false;
  reactor::task_group tasks_;
};

}  // namespace bootc
