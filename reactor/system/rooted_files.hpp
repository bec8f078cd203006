#pragma once

#include "reactor/plain/result.hpp"
#include "reactor/plain/secret.hpp"

#include <sys/types.h>

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace reactor {

/// The files of another root, such as those of the host that a container sees at /proc/1/root.
/// Links    absolute ones, relative ones and ".." stay inside, as they do for that root's own
///          processes: a program that can write there does not choose a file of ours. openat2(2),
///          which Linux has since 5.6.
/// Paths    absolute, as that root's processes name them; faults name them below our view of it.
/// Blocks   for workers.
class rooted_files {
public:
  explicit rooted_files(std::string root) : root_(std::move(root)) {}

  /// As load_file(), load_secret() and store_file(); a link is written through.
  result<std::string> load(const std::string& path, std::size_t limit_bytes) const;
  result<secret> load_secret(const std::string& path, std::size_t limit_bytes) const;
  result<void> store(const std::string& path, std::string_view bytes, mode_t mode = 0644) const;
  /// One that is there already is left as it is.
  result<void> make_folder(const std::string& path, mode_t mode) const;
  /// What is not there stays so. A link itself is removed.
  void remove(const std::string& path) const;
  /// When it changed last; none for what is not there.
  std::optional<std::timespec> changed(const std::string& path) const;
  /// The path as we see it; for messages and for watches.
  std::string shown(const std::string& path) const { return root_ == "/" ? path : root_ + path; }

private:
  std::string root_;
};

}  // namespace reactor
