#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace reactor {

class loop;

struct file_watch_settings {
  nanoseconds debounce = 100ms;       // a change is reported when nothing changed for this long …
  nanoseconds longest_debounce = 2s;  // … or has kept changing for this long
  nanoseconds poll = 2s;              // where the kernel reports nothing (no inotify, simulation)
  nanoseconds recheck = 30s;  // where it does: network file systems report only our own writes
};

/// Notices changes of a file, or of a folder with all below it: edits, editors that rename over the
/// file, the swap of `..data` in a mounted ConfigMap or Secret, deletion and re-creation, of its
/// folder too.
/// Truth    names, sizes, times and identities of the files, compared with those seen last; inotify
///          only says when to look, so nothing is missed between two calls. Hidden files and
///          editors' backups (`~`) do not count.
/// Limits   8 levels and 10,000 files; beyond, changes go unnoticed.
class file_watch {
public:
  /// What counts as seen is the state at construction, so: construct, load, wait.
  file_watch(loop& l, std::string path, file_watch_settings settings = {});

  /// Waits until the state differs from what was seen last. A path that does not exist is a state
  /// too.
  awaitable<void> changed();
  const std::string& path() const noexcept { return path_; }

private:
  loop& loop_;
  std::string path_;
  file_watch_settings settings_;
  std::uint64_t seen_;
};

/// Waits until `differs` says so, which is asked at first, whenever something happens in one of
/// these folders themselves (not below), and at least every `poll`: what the kernel does not report
/// is found then. It must be quick.
awaitable<void> changed_in(loop& l, std::vector<std::string> folders, nanoseconds poll,
                           std::function<bool()> differs);

}  // namespace reactor
