#pragma once

#include "app/listing.hpp"
#include "helm/removals/findings.hpp"
#include "helm/upgrades/cluster_reading.hpp"

#include <boost/json/object.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace helm::upgrades {

/// The answer of `check upgrade`.
struct upgrade_report {
  int to = 0;  // the N of 1.N
  /// A cluster with the labels of its Secret.
  struct cluster {
    cluster_reading read;
    std::vector<std::pair<std::string, std::string>> labels;
  };
  std::vector<cluster> clusters;
  std::vector<removals::finding> rows;
  std::size_t left_out = 0;                 // rows beyond those that are kept
  std::vector<std::string> unused_waivers;  // sentences

  /// Something that is needed was not looked at, or there are more rows than are kept.
  bool is_partial() const noexcept;
};

app::listing rows_of(const upgrade_report& r, app::output_format how);
/// How many of the objects are not waived.
std::size_t counted(const app::listing& chosen);
/// The heads and the sentences around the table; `shown` is what was chosen of the rows.
app::around_list around(const upgrade_report& r, const app::listing& shown);
/// UpgradeCheck, without the rows.
boost::json::object report_document(const upgrade_report& r, const app::listing& shown);
/// Lines for a workflow of GitHub: an error for each row, a notice for one that is waived, a
/// warning for what was not looked at.
std::string report_github(const upgrade_report& r, const app::listing& shown);

}  // namespace helm::upgrades
