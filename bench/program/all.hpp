#pragma once

#include <boost/json/fwd.hpp>

#include <string>
#include <vector>

namespace bench {

/// A bench as `all` starts it, in a process of its own.
struct listed_bench {
  std::string name;
  std::vector<std::string> arguments;  // of the form that is asked for
  bool repeats_itself = false;         // it has --runs
  std::string missing;                 // what it needs and is not here, as a sentence; or empty
};

struct all_order {
  std::vector<listed_bench> benches;
  bool quick = false;
  unsigned runs = 3;
};

/// Every bench, the first of each before the second of any.
/// Shape   machine and versions, "form", "runs", "seconds"; "ratios": those that the benches tell,
///         by bench; "benches": by name {"seconds", "result": of the last run, "figures": of each
///         number of the result's head {"min", "median", "max", "runs"}}, or {"skipped"} or
///         {"failed"} with a sentence.
boost::json::object run_all(const all_order& order);
/// Whether a bench could not run.
bool has_failed(const boost::json::object& result);

}  // namespace bench
