#include "simulation/conditions.hpp"

#include "k8s/sim/objects/json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

namespace simulation {

const boost::json::object* condition_of(const boost::json::object& o, std::string_view type) {
  const boost::json::array* all = k8s::sim::find_array(o, {"status", "conditions"});
  if (!all) return nullptr;
  for (const boost::json::value& c : *all)
    if (c.is_object() && k8s::sim::text(c.get_object(), {"type"}) == type) return &c.get_object();
  return nullptr;
}

}  // namespace simulation
