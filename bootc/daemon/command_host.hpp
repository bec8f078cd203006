#pragma once

#include "bootc/daemon/host.hpp"
#include "reactor/system/process.hpp"
#include "reactor/system/rooted_files.hpp"
#include "reactor/task_group.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bootc {

enum class command_form { nsenter, direct };

struct command_host_options {
  command_form form = command_form::nsenter;
  /// The host's file system as this process sees it: with its /proc, and with the folders of
  /// deployments, which are watched. Links in it are the host's and lead nowhere else.
  std::string root = "/proc/1/root";
  /// Deployments are looked at as often, whether the kernel reports a change or not; so is a stage
  /// that was begun before.
  reactor::nanoseconds watch_interval = std::chrono::seconds(2);
  /// So long after its end a command that reboots counts as failed, if this process is still there.
  reactor::nanoseconds going_down_time = std::chrono::seconds(30);
  reactor::nanoseconds status_time = std::chrono::seconds(30);    // of one `bootc status`
  std::map<std::string, std::optional<std::string>> environment;  // further variables of commands
};

/// The real machine, by its commands.
/// nsenter  from a privileged pod with the host's PID namespace: each command enters PID 1's
///          namespaces with PID 1's environment, less `container`.
/// direct   on the host itself; only the variable `container` is taken away, which would make bootc
///          report nothing.
/// Staging  runs as a unit of the host, so that it outlives this process and its memory limit; a
///          former one is stopped first, a cancelled one too; but after leave() it goes on, and
///          inspect() of the next process finds it. The image is noted in a file of /run.
/// Progress a stage's unit keeps bootc's last line in a file of /run, so that a process can read it
///          and bootc waits for no reader.
/// Logins   /run/ostree/auth.json, 0600, replaced in one step; what we put there is told from what
///          others did by its digest, kept beside it. A full reboot empties /run, a soft one does
///          not.
/// Errors   errc::refused with what the command said on its error stream (a unit's: in the
///          journal).
/// Lifetime co_await stop() before destruction.
class command_host final : public host {
public:
  command_host(reactor::loop& l, command_host_options o);
  ~command_host() override;

  awaitable<reactor::result<host_traits>> inspect() override;
  awaitable<reactor::result<std::string>> status() override;
  awaitable<reactor::result<void>> run(host_command command) override;
  awaitable<reactor::result<void>> show_registries(
      std::optional<reactor::secret> docker_config) override;
  awaitable<std::string> progress() override;
  void leave() override { leaving_ = true; }
  awaitable<void> changed() override;
  awaitable<void> stop();

private:
  struct unit_guard;
  reactor::result<reactor::command> prepare(std::vector<std::string> argv) const;
  awaitable<reactor::result<reactor::process_exit>> execute(std::vector<std::string> argv,
                                                            reactor::nanoseconds within);
  awaitable<reactor::result<void>> succeed(std::vector<std::string> argv,
                                           reactor::nanoseconds within);
  awaitable<reactor::result<std::string>> ask(std::vector<std::string> argv,
                                              reactor::nanoseconds within);
  awaitable<reactor::result<void>> enter();
  awaitable<reactor::result<void>> stage(host_command command);
  awaitable<reactor::result<void>> await_stage(host_command command);
  awaitable<void> lock_staged(host_command command);
  awaitable<reactor::result<std::string>> image_being_staged();
  awaitable<reactor::result<void>> lock();
  awaitable<reactor::result<void>> stay();
  awaitable<reactor::result<void>> reboot(host_command command);
  awaitable<void> stop_unit();
  awaitable<std::string> journal_cursor();
  awaitable<std::string> journal_since(std::string cursor);
  std::string fingerprint() const;

  reactor::loop& loop_;
  command_host_options options_;
  reactor::rooted_files files_;
  host_traits traits_;
  std::string seen_;
  bool stopping_unit_ = false, leaving_ = false;
  reactor::waiters unit_stopped_;
  reactor::task_group tasks_;
};

/// The image that a running unit fetches, by what `systemctl show` says of its ActiveState and
/// ExecStart; empty when it does not run, or runs something else.
std::string staged_by_unit(std::string_view shown);

/// The environment of a command on the host, by that of its first process as /proc shows it:
/// without `container`, which would make bootc report nothing, and with a PATH.
std::map<std::string, std::optional<std::string>> host_environment(std::string_view block);

/// The command line that runs `argv` on the host.
std::vector<std::string> host_command_line(command_form how, std::vector<std::string> argv);

}  // namespace bootc
