#pragma once

#include "helm/release/workbench.hpp"

#include <optional>
#include <string>
#include <utility>

namespace helm::release {

/// What an action does while the record of its new revision is pending, so that a cancelled one can
/// be ended. Empty when it has ended.
template <class Request>
struct interrupted {
  record r;
  Request request;
  bool is_stored = false;  // else it is asked whether the record is there
};

/// The records of releases while actions change them: written with whose they are, ended where
/// their process died, pruned. Lifetime the bench outlives it.
class record_keeper {
public:
  explicit record_keeper(workbench& bench) : bench_(bench) {}

  /// Every revision, oldest first. Errors "release: not found" (problem_code::not_found).
  awaitable<outcome<history>> revisions(std::string name);
  /// One revision; 0 is the last.
  awaitable<outcome<record>> find(std::string name, int revision);
  /// Every revision, after a pending one that we left behind was ended.
  awaitable<outcome<history>> recovered(std::string name);
  /// A process of ours left it pending, and its deadline is over.
  bool abandoned(const record& r) const;
  /// Marks it as failed, here and on the cluster.
  awaitable<outcome<done>> end_abandoned(record& last);  // borrowed
  awaitable<outcome<done>> prune(std::string name, int history_max);
  /// The record of a new revision, which is noted before anything of it is done. `base`: of an
  /// upgrade.
  awaitable<outcome<done>> store_new(record r, reactor::nanoseconds timeout,
                                     std::optional<record> base = {});
  /// Whether the record of a store_new() that was cancelled is there: the server may have stored it
  /// before its answer was heard.
  awaitable<bool> has_stored(record r);
  /// Takes what a cancelled action left; nothing where it left no record.
  template <class Request>
  awaitable<std::optional<interrupted<Request>>> left_by(
      std::optional<interrupted<Request>>& under_way) {  // borrowed
    auto left = std::exchange(under_way, std::nullopt);
    if (left && !left->is_stored) {
      const bool is_there = co_await has_stored(left->r);
      if (!is_there) left.reset();
    }
    co_return left;
  }
  /// Writes the record; a failure is only a line, as in Helm.
  awaitable<void> store(record r, reactor::nanoseconds timeout);
  awaitable<outcome<done>> store_or_fail(record r, reactor::nanoseconds timeout);
  /// What an action comes to: a failure is only a line, unless the work is to be recorded.
  awaitable<outcome<done>> store_end(record r, work_options work);
  /// Forgets all of these.
  awaitable<outcome<done>> purge(history all);

private:
  /// Labels of a record that is about to be stored: whose it is and until when, while its action is
  /// under way.
  record marked(record r, reactor::nanoseconds timeout) const;
  workbench& bench_;
};

}  // namespace helm::release
