#pragma once

#include <boost/json/fwd.hpp>
#include <boost/system/error_code.hpp>

#include <string_view>

namespace registry {

/// The JSON of a registry, a token server or a file of logins.
/// Shape    32 levels at most.
/// Errors   Boost.JSON's own codes, and null. They quote nothing of the text, which may hold a
///          login.
boost::json::value read_document(std::string_view text, boost::system::error_code& failed);

}  // namespace registry
