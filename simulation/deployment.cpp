#include "simulation/deployment.hpp"

#include <boost/json.hpp>

namespace simulation {

void bring_up(boost::json::object& deployment) {
  const boost::json::value replicas = deployment["spec"].as_object()["replicas"],
                           generation = deployment["metadata"].as_object()["generation"];
  deployment["status"] = boost::json::object{{"observedGeneration", generation},
                                             {"replicas", replicas},
                                             {"readyReplicas", replicas},
                                             {"updatedReplicas", replicas}};
}

}  // namespace simulation
