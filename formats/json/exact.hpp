#pragma once

#include <boost/json/fwd.hpp>
#include <boost/json/storage_ptr.hpp>
#include <boost/system/error_code.hpp>

#include <cstddef>
#include <string_view>

namespace formats {

/// A JSON text as boost::json::parse reads it, but each number becomes the double that is nearest
/// to it: Boost.JSON 1.81 misses every eighth of those with many digits by one step, so that a
/// number would be given back as another one.
/// Shape    `depth` levels at most; the memory is `storage`'s.
/// Errors   Boost.JSON's own codes; null then.
boost::json::value parse_json(std::string_view text, boost::system::error_code& code,
                              std::size_t depth, boost::json::storage_ptr storage = {});

}  // namespace formats
