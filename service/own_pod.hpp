#pragma once

#include <boost/json/object.hpp>

#include <string>

namespace cli {

/// The image that this process runs according to its own pod: that of the container `manager`, or
/// of the only container. Empty if the pod says neither.
std::string own_image(const boost::json::object& pod);
/// Its metadata.uid; may be empty.
std::string own_uid(const boost::json::object& pod);

}  // namespace cli
