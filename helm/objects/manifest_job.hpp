#pragma once

#include "helm/apart/ask.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::objects {

/// What the objects of one manifest may take in this process, which has some copies of them while
/// it compares and changes them.
inline constexpr std::uint64_t manifest_objects_bytes = 12u << 20;

/// The objects of a manifest that a stranger wrote: its author chooses what a record or a chart
/// says, and a few anchors in it stand for gigabytes.
struct manifest_job {
  static constexpr apart::job_number number = apart::job_number::manifest;
  std::string text;
  chart_limits limits;

  struct answer {
    std::optional<problem> failure;
    std::vector<std::string> objects;  // JSON
  };
  answer work() const;
  answer run(outcome<std::shared_ptr<prepared_chart>>& none) const;
};

/// More than the memory that an object takes when this JSON text is read.
std::uint64_t bytes_of_object(std::string_view json) noexcept;

/// A manifest's objects, lists flattened.
/// Errors   those of read_manifest.
outcome<std::vector<boost::json::object>> objects_in(std::string_view manifest);

/// The same of a stranger's manifest, read in a child process where there are some.
/// Errors   also "the manifest cannot be read: it takes more memory than it may", and a child's.
reactor::awaitable<outcome<std::vector<boost::json::object>>> objects_apart(
    reactor::loop& l, std::string manifest, chart_limits limits,
    apart::memory_share* within = nullptr);

}  // namespace helm::objects
