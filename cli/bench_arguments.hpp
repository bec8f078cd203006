#pragma once

#include "app/command.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

using namespace app;

struct bench_arguments {
  std::string what;  // watch, store, streams, idle, registry, rollout, policy, …
  std::string dir = "tests/data/releases";  // releases
  output_format output = output_format::text;
  std::size_t clusters = 0;  // streams: 0 = 100, 1000, 2000; idle: 0 = 2000; rollout
  std::size_t nodes = 0;     // rollout: of each; both 0 = 100 × 100 and 1 × 10,000
  unsigned seconds = 600;    // idle
  unsigned tags = 10'000, registry_seconds = 60;
  std::size_t events = 0;           // watch: 0 = a size that takes about a second per point
  std::vector<std::string> charts;  // helm: none = the usual ones
  std::string sender;               // internal: this process is the sender
};

int bench_command(const bench_arguments& a);
std::vector<app::command> bench_commands();

}  // namespace cli
