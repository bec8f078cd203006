#pragma once

#include "policies/host/host.hpp"
#include "reactor/system/file_watch.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"
#include "releases/commands/release_view.hpp"
#include "releases/rules/repository.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cli {

/// What a look at a folder of Releases starts from.
struct check_settings {
  std::string dir;
  std::string provider, version;  // only these; empty: all
  bool archived = false;          // those that are no longer offered, too
  std::optional<std::vector<std::string>> catalogue;
  std::string rendered = {};  // a folder of what charts render; empty: none is known
  std::function<void(std::size_t done, std::size_t of)> looked_at = {};  // before each Release
};

/// What the charts of both Releases of a step render, from files NAME-VERSION.yaml of a folder. A
/// chart is each component that has one.
/// Errors   a file that cannot be read. One that is not there is no error.
reactor::awaitable<reactor::result<void>> add_rendered(
    reactor::loop& l, std::string folder,
    policies::releases::diff_question& question);  // borrowed

struct check_outcome {
  std::vector<judged_release> releases;
  policies::releases::decision worst = policies::releases::decision::allow;
};

/// Whether a Release is of a provider, by the provider's name or its folder's; of any where that is
/// empty.
bool is_of(const policies::releases::document& d, const std::string& provider);

/// Judges a step; waivers beside the Releases count. `base` may be null.
reactor::awaitable<reactor::result<judged_release>> judge_step(
    reactor::loop& l, policies::host& packs, const policies::releases::repository& all,
    std::shared_ptr<const policies::releases::diff_question> question);

/// Judges each Release of a folder against the one before it, and each provider's folder as a
/// whole.
/// Errors   the folder cannot be read, nothing in it is asked for, or a policy fails. A Release
///          that cannot be read is a row.
reactor::awaitable<reactor::result<check_outcome>> check_releases(reactor::loop& l,
                                                                  policies::host& packs,
                                                                  check_settings settings);

/// The same again whenever the folder or `policies` (a folder of packs; may be empty) changes. A
/// pack that cannot be loaded leaves the last good one in force; host::on_event says file and line.
/// What cannot be read is shown, and the next change waited for.
/// Lifetime  stop() before destruction when start() was called.
class release_follower {
public:
  using shower = std::function<void(const reactor::result<check_outcome>&)>;
  release_follower(reactor::loop& l, policies::host& packs, check_settings settings,
                   const std::string& policies, shower show);
  void start();
  reactor::awaitable<void> stop() { return tasks_.cancel_and_join(); }

private:
  reactor::awaitable<void> judge();
  reactor::awaitable<void> watch(reactor::file_watch& what);
  reactor::loop& loop_;
  policies::host& packs_;
  check_settings settings_;
  shower show_;
  reactor::file_watch releases_;
  std::optional<reactor::file_watch> tables_;
  reactor::event changed_;
  reactor::task_group tasks_;
};

/// For those who read reports of tests: one suite a folder, one case a Release; an error fails it,
/// what waits for approval too.
std::string check_junit(const check_outcome& outcome);
/// Lines that a GitHub workflow shows beside the file: `::error file=…,title=…::why`.
std::string check_github(const check_outcome& outcome, const std::string& dir);

}  // namespace cli
