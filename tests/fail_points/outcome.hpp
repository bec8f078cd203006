#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace fail_points {

/// How a process took its failure.
enum class outcome { went_on, ended_in_order, crashed, hung, wrong };

struct verdict {
  outcome how = outcome::went_on;
  std::string text;  // what it wrote, and why it is wrong
};

/// From the status of wait() and from what was written to standard error. `sentence` begins the one
/// line that an orderly end says; went_on needs exit code 0.
verdict judge(int status, bool timed_out, const std::string& written, std::string_view sentence);

struct finding {
  std::string point;
  verdict was;
  std::vector<void*> stack;
};

struct tally {
  std::size_t points = 0, went_on = 0, ended = 0, crashes = 0, hangs = 0, wrong = 0;
  std::vector<finding> findings;
  void count(const finding& f);
  std::size_t bad() const { return crashes + hangs + wrong; }
};

/// One line a frame: function, file and line, by addr2line.
std::string describe(std::span<void* const> stack);
/// Prints the line that ./dev shows, and every finding with its stack; a finding fails the test.
/// Kept for total().
void report(const std::string& name, const tally& t);

}  // namespace fail_points
