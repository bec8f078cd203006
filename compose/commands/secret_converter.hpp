#pragma once

#include "app/command.hpp"
#include "reactor/plain/result.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cli {

using namespace app;

std::vector<app::command> secret_converter_commands();

/// What lies in the folder of a mounted Secret, links followed.
struct mounted_entry {
  enum class kind { file, folder, other } is = kind::file;
  std::string secret, name;
};

/// From "<secret>/<key>" of the one folder to the flat name in the other.
struct secret_copy {
  std::string from, to;
  friend bool operator==(const secret_copy&, const secret_copy&) = default;
};

/// Which files become which, by name. kubelet's own entries (`..data` and all other names with a
/// dot in front) and folders are no keys.
/// Errors: errc::refused for a name that no key can have, that is too long for a file, and for what
/// is neither a file nor a folder; nothing of a plan with a mistake is carried out.
reactor::result<std::vector<secret_copy>> plan_secret_copies(std::span<const mounted_entry> found);

/// Copies each key of each Secret in `secrets` into `repository`, each file in one step, readable
/// for every user: the server may be another one than this. A missing or empty folder is no
/// failure; what else is in the repository stays. The number of files. Blocks.
/// Errors: those of the plan; errc::limit; the system's. The first one ends it.
reactor::result<std::size_t> convert_secrets(const std::string& secrets,
                                             const std::string& repository);

}  // namespace cli
