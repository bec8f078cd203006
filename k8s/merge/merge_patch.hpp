#pragma once

#include <boost/json/value.hpp>

namespace k8s {

/// What a JSON merge patch (RFC 7386) makes of a document: null takes a member out, lists replace.
/// The order of members that stay is kept.
boost::json::value apply_merge_patch(boost::json::value target, const boost::json::value& patch);

}  // namespace k8s
