#pragma once

#include "formats/plain/deep_stack.hpp"
#include "helm/charts/chart.hpp"
#include "reactor/plain/memory.hpp"

#include <cstdint>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace helm {

/// Counts a copy of a chart, which shares its files: a chart may have many names, and each chart in
/// it as many again.
inline void count_chart(const chart& c) {
  constexpr std::uint64_t steps = 64, bytes = 2'048, bytes_per_dependency = 256;
  formats::count_steps(steps + c.meta.dependencies.size());
  formats::hold_bytes(bytes + bytes_per_dependency * c.meta.dependencies.size());
}

/// Runs `work`, which gives an outcome, on what strangers wrote, within limits of steps and memory.
/// Errors   "<doing>: it takes more memory than it may", "…: out of memory", besides its own.
template <class Work>
auto bounded(const char* doing, const chart_limits& limits, Work&& work) -> decltype(work()) {
  const auto failed = [&](const char* why) { return problem{std::string(doing) + ": " + why}; };
  try {
    const reactor::memory_may_be_refused here;
    const formats::work_limit within(limits.steps, limits.memory_bytes);
    return std::forward<Work>(work)();
  } catch (const std::length_error& e) {
    return failed(e.what());
  } catch (const std::bad_alloc&) {
    return failed("out of memory");
  }
}

/// Runs `work` on what strangers wrote; none where it would go over the limits.
template <class Work>
auto done_within(const chart_limits& limits, Work&& work) -> std::optional<decltype(work())> {
  try {
    const reactor::memory_may_be_refused here;
    const formats::work_limit within(limits.steps, limits.memory_bytes);
    return std::forward<Work>(work)();
  } catch (const std::length_error&) {
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    return std::nullopt;
  }
}

}  // namespace helm
