#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench::hostile {

/// Everything that is tried, in one numbering: servers, callers, packs, kubeconfigs, charts.
struct attack {
  enum class kind { server, caller, pack, kubeconfig, chart } what;
  std::size_t index;  // in its own table
  std::string name() const;
};
const std::vector<attack>& attacks();

/// One attack as the victim saw it. As text: one line.
struct reading {
  std::size_t attack = 0;  // in attacks()
  double stall_ms = 0;     // processor time of the longest turn of the loop
  double rss_mb = 0;       // more memory resident than before, at its most
  // neighbours' latency during it and before it, 0 = not looked at
  double p99_ms = 0, quiet_p99_ms = 0;
  double ratio = 0;  // of the two
  std::size_t log_lines = 0, series = 0, connections = 0;
  bool escaped = false;
  std::size_t canary_hits = 0;
  std::string children_ended;  // why, with commas between
};
std::string to_text(const reading& r);
bool parse_reading(const std::string& line, reading& into);

/// Undergoes these attacks, one after the other, and prints a reading of each; the process that is
/// allowed to crash. `rounds` 1: a look at each. More: each is alternated with quiet so often, and
/// of either the reading has what a quarter of the looks stayed below: the machine's other work
/// makes a look longer, never shorter.
int run_victim(const std::string& attackers, const std::vector<std::size_t>& wanted,
               std::size_t rounds);

}  // namespace bench::hostile
