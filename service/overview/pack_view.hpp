#pragma once

#include "app/output.hpp"
#include "policies/host/host.hpp"

#include <boost/json/fwd.hpp>

#include <string>
#include <vector>

namespace cli {

using namespace app;

/// {name, version, digest, folder, from, stock, order, hooks, hidden, loadedAt, refused, fault}:
/// the last four where they say something.
boost::json::object pack_json(const policies::pack_status& p);
boost::json::array packs_json(const std::vector<policies::pack_status>& all);

/// "./mine", "configmap:rules", "stock": where it comes from, and its folder in there.
std::string origin_of(const policies::pack_status& p);

enum class packs_shown { all, noteworthy };
/// A table with what is wrong with each. Noteworthy are those that did not come with the program,
/// and those that fail; empty when there is none.
page packs_text(const std::vector<policies::pack_status>& all, packs_shown which,
                std::size_t columns = any_width);

}  // namespace cli
