#pragma once

#include "helm/objects/object.hpp"

#include <boost/json/object.hpp>

#include <string>
#include <vector>

namespace helm::objects {

/// What Helm waits for before it calls an object ready. Kinds that are not listed here always are.
enum class wait_rule {
  nothing,
  pod,
  job,
  deployment,
  daemon_set,
  stateful_set,
  replica_set,  // and replication controllers
  volume_claim,
  service,
  definition,  // of custom resources
};
wait_rule rule_of(const object& o);

/// Ready, not yet, or never (`failure` says why).
struct readiness {
  bool ready = false;
  std::string failure;
  static readiness yes() { return {true, {}}; }
  static readiness not_yet() { return {}; }
};

/// Each judges a live object as the API server shows it.
readiness pod_ready(const boost::json::object& pod);
readiness job_ready(const boost::json::object& job);
/// `replica_sets` are those of its namespace that its selector matches.
readiness deployment_ready(const boost::json::object& deployment,
                           const std::vector<boost::json::object>& replica_sets);
readiness daemon_set_ready(const boost::json::object& set);
readiness stateful_set_ready(const boost::json::object& set);
/// `pods` are those that its selector matches.
readiness replica_set_ready(const boost::json::object& set,
                            const std::vector<boost::json::object>& pods);
readiness volume_claim_ready(const boost::json::object& claim);
readiness service_ready(const boost::json::object& service);
readiness definition_ready(const boost::json::object& definition);

/// The collections that a CustomResourceDefinition says the server is to serve; none of any other
/// object.
std::vector<k8s::resource> defined_by(const boost::json::object& definition);

/// What a hook of that kind is waited for.
readiness hook_job_done(const boost::json::object& job);
readiness hook_pod_done(const boost::json::object& pod);

/// The text form of an object's spec.selector, as list requests take it; nothing matches when it is
/// empty.
std::string selector_text(const boost::json::object& o);

}  // namespace helm::objects
