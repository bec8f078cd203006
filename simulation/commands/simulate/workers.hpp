#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace cli::simulate {

/// One function called many times, each call in one of `jobs` processes beside this one.
/// Shape    work(worker, i) for every i below `count`; two calls at once never have the same
///          `worker`. done(i, text) is called here, in the order of i, with what work returned;
///          with nothing when its process did not come to an end, and `why` says how it ended
///          instead.
/// Lifetime the processes are forked from this one: they see what it had and change nothing of it.
/// It has one thread then.
struct workers {
  std::size_t jobs = 1, count = 0;
  std::function<std::string(std::size_t worker, std::size_t i)> work;
  std::function<void(std::size_t i, std::optional<std::string> text, const std::string& why)> done;
  void run();
};

/// Processors that this process may use.
std::size_t processors() noexcept;

}  // namespace cli::simulate
