#pragma once

#include "helm/release/record_keeper.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace helm::release {

/// Runs the hooks of a release and notes in its record how each went.
/// Lifetime bench and keeper outlive it; records are borrowed: awaited on the spot.
class hook_runner {
public:
  hook_runner(workbench& bench, record_keeper& keep) : bench_(bench), keep_(keep) {}

  /// All hooks of an event in their order. Returns the first failure.
  // borrowed
  awaitable<std::optional<problem>> run(record& r, std::string event, reactor::nanoseconds timeout);
  /// Whether there are any.
  static bool waits_for(const record& r, std::string_view event, const work_options& work);

private:
  struct hook_end {
    std::optional<problem> failure;
    bool ran = false;  // its objects were created: there is something to clean up
  };
  awaitable<hook_end> run_one_hook(record& r, std::size_t at, std::string event,
                                   reactor::nanoseconds timeout);  // borrowed
  awaitable<std::optional<problem>> delete_hook(hook h, std::string policy,
                                                reactor::nanoseconds timeout);
  /// Gives action_settings::hook_log what a Job's or a Pod's containers printed, when the hook asks
  /// for it; a failure is a line.
  awaitable<void> show_log(hook h, std::string policy, std::string ns);

  workbench& bench_;
  record_keeper& keep_;
};

}  // namespace helm::release
