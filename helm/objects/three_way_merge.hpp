#pragma once

#include "helm/go.hpp"

#include <boost/json/object.hpp>

namespace k8s {
class merge_type;
}

namespace helm::objects {

/// What a release does to an object: the manifest of the last revision, that of the next one, and
/// the live object.
struct three_states {
  const boost::json::object& before;
  const boost::json::object& after;
  const boost::json::object& live;
};

/// The strategic merge patch that takes away what is in `before` and no longer in `after` and sets
/// what differs between `live` and `after`; fields that others set and neither manifest names stay.
/// Empty when there is nothing to do. Problems as apimachinery words them: "unable to find api
/// field in struct PodSpec for the json field …".
/// Source   apimachinery's strategicpatch.CreateThreeWayMergePatch with overwrite, its quirks
///          included.
outcome<boost::json::object> strategic_three_way_patch(const three_states& s,
                                                       const k8s::merge_type& type);

/// The JSON merge patch (RFC 7386) from one document to another; lists are replaced.
boost::json::object merge_patch(const boost::json::object& from, const boost::json::object& to);
/// The JSON merge patch that does the same as the strategic one, without keys for lists.
boost::json::object json_three_way_patch(const three_states& s);

}  // namespace helm::objects
