#include "k8s/merge/merge_patch.hpp"

#include <boost/json/object.hpp>

#include <utility>

namespace k8s {

namespace json = boost::json;

json::value apply_merge_patch(json::value target, const json::value& patch) {
  if (!patch.is_object()) return patch;
  if (!target.is_object()) target = json::object();
  json::object& o = target.get_object();
  for (const auto& [name, v] : patch.get_object()) {
    if (v.is_null()) {
      if (const auto at = o.find(name); at != o.end()) o.stable_erase(at);
    } else if (v.is_object()) {
      json::value& slot = o[name];
      slot = apply_merge_patch(std::move(slot), v);
    } else {
      o[name] = v;
    }
  }
  return target;
}

}  // namespace k8s
