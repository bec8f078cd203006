#pragma once

#include "app/output.hpp"
#include "policies/host/value.hpp"
#include "releases/rules/finding.hpp"

#include <boost/json/array.hpp>

#include <vector>

namespace cli {

using namespace app;

/// Commits are long, and their first digits tell them apart.
std::string with_short_commits(const std::string& text);

/// Which project names which in a train: a row a holder, a column a project. What does not fit is
/// marked with what was found of it ("ahead 5"). Nothing where the document pins nothing.
page pin_matrix(const policies::value& train,
                const std::vector<policies::releases::finding>& findings, colours tint);
/// The same as a list: {holder, project, field, value, is}; `is` is empty where nothing was found
/// of it.
boost::json::array pins_json(const policies::value& train,
                             const std::vector<policies::releases::finding>& findings);

}  // namespace cli
