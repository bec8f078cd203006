#pragma once

#include "k8s/client/resource.hpp"

#include <boost/json/object.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::objects {

/// One object of a manifest, with the collection that discovery found for it.
struct object {
  k8s::resource resource;
  std::string kind, ns, name;  // `ns` is empty for cluster-scoped ones
  boost::json::object body;    // as rendered, with its namespace; stamp() adds whose it is

  k8s::object_key key() const { return {ns, name}; }
};
using object_list = std::vector<object>;

/// "apps/Deployment/ns/name": what stays the same when a chart moves to another version of the API.
std::string key_of(const object& o);
/// `Deployment "web" in namespace "shop"`, as messages name objects.
std::string describe(const object& o);
/// The one of `list` that is the same object, or null.
const object* find_same(const object_list& list, const object& wanted);
/// find_same() for many: manifests have as many objects as their authors like. Lifetime the list
/// outlives it, and does not grow.
class object_index {
public:
  explicit object_index(const object_list& list);
  const object* find(const object& wanted) const;

private:
  std::map<std::string, const object*> by_key_;
};
/// What is in `from` and not in `others`, in the order of `from`.
object_list difference(const object_list& from, const object_list& others);

/// The marks of ownership that every object carries on the cluster: managed-by label, release name
/// and namespace.
boost::json::object stamp(boost::json::object body, std::string_view release, std::string_view ns);
/// Why a live object may not be taken over by this release: "invalid ownership metadata; label
/// validation error: …". Nothing when it carries all three marks.
std::optional<std::string> ownership_problem(const boost::json::object& live,
                                             std::string_view release, std::string_view ns);
/// A release, as its objects name it.
struct release_name {
  std::string name, ns;
};
/// Whether a live object carries the annotations of this release, name and namespace.
bool belongs_to(const boost::json::object& live, const release_name& of);
/// `helm.sh/resource-policy: keep` on a live object, to the letter.
bool kept_by_policy(const boost::json::object& live);

}  // namespace helm::objects
