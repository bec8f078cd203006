#pragma once

#include "reactor/plain/time.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bench::hostile {

/// What an attacker who publishes charts holds.
enum class held_by_author {
  archive,
  metadata,
  values,
  schema,
  templates,
  functions,
  dependencies,
  index
};
/// Where that is read.
enum class read_by { loader, renderer, schema_check, manifests, index_reader };

/// A chart, or an index, by an author who means harm.
struct chart {
  std::string name;  // "a template that includes itself"
  held_by_author holds = held_by_author::archive;
  read_by at = read_by::loader;
  std::function<std::string()> bytes;  // an archive; of index_reader: an index that lists "demo"
  std::string says;                    // part of the reason; "": it is rendered
};
const std::vector<chart>& charts();

struct chart_outcome {
  std::string said;  // why it was refused; "": rendered
  /// Processor time of the longest turn of the loop meanwhile.
  reactor::nanoseconds worst_stall{0};
  std::size_t ours = 0;                     // jobs of our own that workers did before it had ended
  bool neighbour = false;                   // a harmless chart was rendered after it
  std::vector<std::string> children_ended;  // and why
};
/// Loads and renders it as the service does: in child processes, a real loop and work of ours
/// beside. The program's main() asks chart_child_main() first.
chart_outcome try_chart(const chart& c);

}  // namespace bench::hostile
