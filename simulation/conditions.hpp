#pragma once

#include <boost/json/fwd.hpp>

#include <string_view>

namespace simulation {

/// The condition of that type in an object's status; null: it is not there.
const boost::json::object* condition_of(const boost::json::object& o, std::string_view type);

}  // namespace simulation
