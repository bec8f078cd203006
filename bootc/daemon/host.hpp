#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/secret.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bootc {

using reactor::awaitable;

/// Tells one boot from the next: a full reboot changes the id, a soft reboot only the count.
struct boot_mark {
  std::string id;
  std::uint64_t soft_reboots = 0;

  /// "<id>/<count>"; empty when the id is unknown.
  std::string text() const {
    return id.empty() ? std::string() : id + "/" + std::to_string(soft_reboots);
  }
  friend bool operator==(const boot_mark&, const boot_mark&) = default;
};

/// What is found out about a host once, when the daemon starts.
struct host_traits {
  bool switch_download_only = false;    // bootc switch --download-only: stages locked in one step
  bool switch_from_downloaded = false;  // bootc switch --from-downloaded --apply
  // bootc upgrade --download-only: locks what is staged (not with composefs)
  bool upgrade_download_only = false;
  bool progress = false;  // bootc switch --progress-fd: a stage says how far it is
  boot_mark boot;
  // the image that a stage is fetching which began before this process did; or empty
  std::string staging;
  // the image of the last stage that was begun for a pool since the host's full boot; or empty
  std::string staged;
  // what else reboots this host on its own: unit or process names
  std::vector<std::string> uncoordinated;
  // each part above that may be missing without an error, with why it is; empty = it was read
  std::vector<std::pair<std::string, std::string>> unread;
};

enum class host_action {
  stage,   // fetch `image` and make it the next deployment, locked where the host can
  lock,    // keep what is staged from being applied by any other reboot
  reboot,  // apply what is staged by rebooting
  // make the rollback entry the next deployment, unless it is, and reboot (composefs cannot stage
  // what is deployed)
  roll_back,
  // the booted image stays the next one: takes back the rollback that is queued to `image`
  stay,
};

/// As the log has it.
std::string_view name_of(host_action action);

struct host_command {
  host_action action{};
  std::string image;    // stage: what; reboot: what is expected to be staged
  bool locked = false;  // reboot: the staged image must be unlocked first
  bool soft = false;    // reboot: without the firmware, where the image allows it
  bool composefs = false;
  bool adopted = false;   // stage: it runs already, only its end is waited for
  bool unlocked = false;  // stage: any reboot of the host boots it
  bool queued =
      false;  // roll_back: bootc has it queued already, and asked again would take it back
  friend bool operator==(const host_command&, const host_command&) = default;
};

/// The machine below a node. One command at a time; status() may be asked beside a stage, but
/// blocks until it ended on hosts with a sysroot lock.
/// Cancellation: cancelling run() of a stage ends the stage on the host as well, unless leave() was
/// called before.
class host {
public:
  virtual ~host() = default;
  virtual awaitable<reactor::result<host_traits>> inspect() = 0;
  /// The JSON of `bootc status`. Errors: errc::closed: another program updates the host, and lets
  /// no other read it meanwhile.
  virtual awaitable<reactor::result<std::string>> status() = 0;
  /// Ends when the command ended. A reboot that works may end, or not before the process is killed.
  virtual awaitable<reactor::result<void>> run(host_command command) = 0;
  /// Makes this (a `.dockerconfigjson`) what the host shows to registries, instead of whatever it
  /// had. Nothing: what was made so is taken away, and what others put there stays.
  virtual awaitable<reactor::result<void>> show_registries(
      std::optional<reactor::secret> docker_config);
  /// The last line that a running stage said of its progress; empty when there is none.
  virtual awaitable<std::string> progress();
  /// This process ends and the host goes on: what it is doing is left to it, for the next one to
  /// find.
  virtual void leave() {}
  /// Ends when something may have changed on the host. May miss a change, so a caller polls as
  /// well.
  virtual awaitable<void> changed() = 0;
};

}  // namespace bootc
