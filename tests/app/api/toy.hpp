#pragma once

#include "app/api/api.hpp"

#include <boost/json/object.hpp>

#include <map>
#include <set>
#include <string>

/// An API that winds toys up. It is what a newcomer would write first, and no folder but this one
/// has heard of it.
namespace toys {

/// Where it runs; kept outside of it so that a test can look.
struct nursery {
  std::multiset<std::string> on;            // clusters with a part, home included
  std::map<std::string, int> reconsidered;  // by cluster
  std::set<std::string> with_key;           // clusters where the key's Lease is known to be ours
};

/// Its object, to be plugged in.
units::api api(nursery& n);

boost::json::object crd();
/// A toy, in whatever state: a wound one is done.
boost::json::object toy(const std::string& name, bool wound);

}  // namespace toys
