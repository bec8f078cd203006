#pragma once

#include "bootc/daemon/host.hpp"
#include "bootc/daemon/host_status.hpp"
#include "bootc/daemon/stage_progress.hpp"
#include "bootc/kinds/bootc_node.hpp"
#include "bootc/kinds/node_pool.hpp"
#include "reactor/plain/time.hpp"

#include <optional>
#include <string>

namespace bootc {

/// What the daemon does next.
struct agent_step {
  bool publish = false;  // `status` differs from what the object shows
  bootc_node_status status;
  std::optional<host_command> command;  // after the status was published
  bool cancel_stage = false;            // its image is no longer wanted
  reactor::steady_time look_again = reactor::never;
};

/// The node daemon's mind: it is told what was asked, what the host reports and how its commands
/// ended, and answers what to publish and what to run. No I/O, no clock.
/// Shape  each input, then decide(). At most one command is out; its end is reported with ended().
/// Members more than twenty: what failed, since when and with which image is kept for each of its
///        five commands, and decide() weighs them against each other.
/// Safety reboots only into the image that was asked for and approved; after a reboot was issued it
/// does nothing more.
class node_agent {
public:
  /// Of a host that was not looked at yet.
  node_agent() = default;
  explicit node_agent(host_traits traits) { on_traits(std::move(traits)); }

  /// What the host can. A stage that it is doing already is waited for.
  void on_traits(host_traits traits);
  bool knows_host() const noexcept { return knows_host_; }
  /// Why the host could not be inspected or its status not be read at the last attempt; or empty.
  const std::string& host_problem() const noexcept { return host_problem_; }
  /// It could not be found out what the host can.
  void on_uninspected(std::string why, reactor::steady_time now);

  /// Our object as last seen; nothing when there is none. The first one also tells what was
  /// published before a restart.
  void on_object(std::optional<bootc_node> object);
  void on_host(host_status status);
  /// Reading the status failed: `why` without the words around it.
  void on_host_unreadable(std::string why, reactor::steady_time now);
  /// A program that is not ours updates the host, so that its status cannot be read for a while:
  /// what was read before counts, and nothing is begun.
  void on_host_updated_by_others(std::string why, reactor::steady_time now);
  void on_ended(const host_command& command, const reactor::result<void>& outcome,
                reactor::steady_time now);

  /// The running stage says how far it is, which is to be asked for while follows_progress(). True
  /// when there is something to publish.
  bool on_progress(std::string_view line, reactor::steady_time now);
  bool follows_progress() const noexcept {
    return traits_.progress && running_ && running_->action == host_action::stage;
  }

  /// Whether the host has the login that it is to show to registries; empty = it has.
  void on_auth(std::string problem, reactor::steady_time now);
  bool may_try_auth(reactor::steady_time now) const noexcept { return !auth_backoff_.waits(now); }

  agent_step decide(reactor::steady_time now, reactor::wall_time wall);

  /// The command of the last decision was not run, because its status could not be published.
  void withdrawn();
  /// While a command runs the host's status is not asked for: it would block.
  bool busy() const noexcept { return running_ || adopt_; }
  bool reboot_issued() const noexcept { return reboot_issued_; }

private:
  /// Waits 5 s after the first failure, doubling up to 320 s.
  struct backoff {
    unsigned failures = 0;
    reactor::steady_time until{};
    void failed(reactor::steady_time now);
    bool waits(reactor::steady_time now) const noexcept { return failures > 0 && now < until; }
  };
  struct verdict;

  void recall(const bootc_node& object);
  verdict judge(reactor::steady_time now);
  verdict on_target(reactor::steady_time now);
  verdict stage(reactor::steady_time now);
  verdict staged(reactor::steady_time now);
  verdict staging_since_before() const;
  void keep_booted(verdict& v, reactor::steady_time now);
  staging_mode staging() const;
  bool is_restored_rollback(const std::string& digest) const;
  std::optional<image_info> published_staged(const std::string& digest) const;
  std::string idle_note(std::string_view reason) const;
  std::string next_boot_note() const;

  host_traits traits_;
  std::optional<bootc_node> object_;
  std::optional<host_status> host_;
  std::string host_problem_;   // why the last reading failed
  std::string others_update_;  // what is said while others update the host
  backoff host_backoff_;
  std::optional<host_command> running_;
  stage_progress progress_;            // of running_, when it is a stage
  std::optional<host_command> adopt_;  // runs on the host since before this process
  std::string last_image_;             // desired image of the previous decision
  std::string staged_for_pool_;        // image of the last stage that was begun on this boot
  std::string stage_error_;            // of last_image_; stays until a stage works
  std::string stage_claimed_;          // a stage of it ended well; the host's status has to show it
  backoff stage_backoff_;
  std::string auth_error_;  // nothing is staged without the pull secret that was asked for
  backoff auth_backoff_;
  std::string lock_error_;
  backoff lock_backoff_;
  std::string reboot_error_;
  backoff reboot_backoff_;
  std::string failed_image_;     // rebooted for it and did not arrive
  std::string queued_for_pool_;  // may be the first in the boot order, and only by a pool
  bool knows_host_ = false;
  bool recalled_ = false;
  bool reboot_issued_ = false;
};

}  // namespace bootc
