#pragma once

#include "helm/go.hpp"
#include "helm/render/manifest_text.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace helm {

/// --post-renderer: a program that gets the manifests, hooks left out, and gives those that count.
struct post_renderer {
  std::string program;  // empty: none
  std::vector<std::string> arguments;
  std::chrono::seconds limit = std::chrono::minutes(5);

  explicit operator bool() const { return !program.empty(); }
};

/// The program a flag names, as an absolute path: looked for in `search_path` ("/bin:/usr/bin")
/// unless it has a slash.
/// Errors   "unable to find binary at x: exec: "x": executable file not found in $PATH"
outcome<std::string> find_program(const std::string& name, const std::string& search_path);

/// Runs it on `manifests` and waits until it has ended: not for the loop's thread. The program runs
/// in a process group of its own, which is killed at the limit, by the clock `steady` when there is
/// one, and when `cancelled` becomes true.
/// Errors   "error while running post render on files: error while running command … error output:
///          …"
outcome<std::string> post_render(const post_renderer& how, const std::string& manifests,
                                 const std::function<std::chrono::nanoseconds()>& steady,
                                 const std::atomic<bool>* cancelled = nullptr);

/// The same as a step of rendering; empty where no program was named.
manifest_step step_of(post_renderer how);

}  // namespace helm
