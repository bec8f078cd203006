#pragma once

#include "bootc/daemon/host.hpp"
#include "reactor/waiters.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>

namespace reactor {
class loop;
}

namespace bootc {

/// How a simulated machine behaves. Durations are the loop's; a demo gives short ones.
struct simulated_host_settings {
  reactor::nanoseconds stage_time = std::chrono::seconds(60);
  reactor::nanoseconds reboot_time = std::chrono::seconds(90);
  bool can_lock = true;
  bool download_only = false;  // bootc switch --download-only
  bool composefs = false;
  bool soft_reboot_capable = false;
  // Failures, by a part of the image's text (a digest, say).
  std::set<std::string> unpullable;  // cannot be fetched
  std::set<std::string> too_large;   // the disk has no room for them
  std::set<std::string> closed;      // can be fetched with `login` alone, a `.dockerconfigjson`
  std::string login;
  std::set<std::string> unbootable;  // does not come up: the machine falls back to the image before
  std::set<std::string> never_returns;  // the machine stays away after booting it
};

/// A machine that runs bootc, in memory: what contracts of the bootc command say, without a
/// command. Survives the daemons that run on it; a reboot is asked for by the daemon and carried
/// out by the owner of the machine.
class simulated_host final : public host {
public:
  simulated_host(reactor::loop& l, std::string image, simulated_host_settings settings = {});

  awaitable<reactor::result<host_traits>> inspect() override;
  awaitable<reactor::result<std::string>> status() override;
  awaitable<reactor::result<void>> run(host_command command) override;
  awaitable<reactor::result<void>> show_registries(
      std::optional<reactor::secret> docker_config) override;
  awaitable<void> changed() override;

  /// Set while a reboot is wanted: the owner ends the daemon, waits reboot_time and calls
  /// come_up().
  reactor::event& going_down() noexcept { return going_down_; }
  enum class boot { reached, fell_back, lost };
  /// Boots whatever is armed: an unlocked staged image also at a reboot that was not asked for, a
  /// locked one not. With boot::lost the machine is away until it is called again. An image
  /// that did not come up stays the first of the boot order, as a queued rollback.
  boot come_up();

  const std::string& booted() const noexcept { return booted_; }
  const std::optional<std::string>& staged() const noexcept { return staged_; }
  bool rollback_queued() const noexcept { return queued_; }
  const std::string& boot_id() const noexcept { return boot_id_; }
  std::size_t reboots() const noexcept { return reboots_; }
  simulated_host_settings& settings() noexcept { return settings_; }

private:
  std::string entry(const std::string& image, bool locked) const;
  bool has(const std::set<std::string>& marks, const std::string& image) const;
  void new_boot();

  reactor::loop& loop_;
  simulated_host_settings settings_;
  std::string booted_;
  std::optional<std::string> staged_, rollback_;
  bool locked_ = false, queued_ = false, soft_ = false, lost_ = false;
  std::string boot_id_, shown_;
  std::uint64_t soft_reboots_ = 0;
  std::size_t reboots_ = 0;
  reactor::event going_down_;
  reactor::waiters changed_, off_;
};

}  // namespace bootc
