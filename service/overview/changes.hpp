#pragma once

#include "app/output.hpp"
#include "service/overview/overview.hpp"
#include "service/service.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace cli {

using namespace app;

/// A unit that other policies would let start, or hold for another reason.
struct verdict_change {
  std::string cluster, row, unit;
  struct verdict {
    std::string what;          // "starts", "waits", "is done", "is on its way"
    std::string code, reason;  // of one that waits
  } was, is;
};

/// What was not compared, and why: a cluster that does not answer (no row), or a row that never
/// rested while it was looked at.
struct uncompared_row {
  std::string cluster, row, why;
  friend bool operator==(const uncompared_row&, const uncompared_row&) = default;
};

struct comparison {
  std::vector<verdict_change> changes;
  std::vector<uncompared_row> uncompared;
};

/// What differs in a row under two sets of policies: who starts, who waits, and the codes of holds.
/// Units that only one of them saw are left out.
std::vector<verdict_change> changes_between(const std::string& cluster, const units::plan_row& was,
                                            const units::plan_row& is);
/// Both looks at a row saw the same: the same units in the same states, and the same is said of
/// each.
bool is_at_rest(const units::plan_row& earlier, const units::plan_row& later);

/// Compares what two services of other policies say of each row of `f`, which `after` was looked
/// at for. A fleet moves while one looks at it, and what has moved is no answer of a policy; so
/// each row is looked at twice under both, and counts when it was the same both times. What never
/// is by `deadline` is named. `f` (by name, as look_at() gives it) becomes what was compared.
reactor::awaitable<comparison> compare(service& before, service& after, reactor::loop& l,
                                       fleet_overview& f, reactor::steady_time deadline);

boost::json::array changes_json(const std::vector<verdict_change>& all);
boost::json::array uncompared_json(const std::vector<uncompared_row>& all);
page changes_text(const comparison& all, const std::vector<std::string>& in_force,
                  std::size_t columns = any_width);

}  // namespace cli
