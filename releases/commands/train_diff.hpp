#pragma once

#include "app/output.hpp"
#include "policies/host/value.hpp"

#include <boost/json/array.hpp>

#include <string>
#include <vector>

namespace cli {

using namespace app;

/// One thing that is another one in a later train.
struct train_change {
  std::string what;      // "project/Trustee candidate", "pin/Kata/Trustee.version"
  std::string from, to;  // empty: it was, or is, not there
  std::string how;       // "same commit", "ahead 5", "behind 2", "diverged"; empty: nothing says
};

/// What changed from one train document to a later one, projects first, each by name. Tags and
/// ancestry of either document say how far two commits are apart.
std::vector<train_change> changes_of(const policies::value& former, const policies::value& later);

page changes_text(const std::vector<train_change>& changes);
boost::json::array changes_json(const std::vector<train_change>& changes);

}  // namespace cli
