#pragma once

#include <boost/json/fwd.hpp>

#include <string>
#include <string_view>

namespace formats {

/// The string member, or empty where there is none or it is something else.
std::string text_member(const boost::json::object& o, std::string_view name);
/// The same of the object that is the member `outer`.
std::string text_member(const boost::json::object& o, std::string_view outer,
                        std::string_view name);

}  // namespace formats
