#pragma once

#include "k8s/sim/api_server.hpp"
#include "reactor/plain/time.hpp"
#include "simulation/judge.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace simulation {

/// What must never happen to instances of Trustee, checked at every write of every API server by
/// looking at the objects alone: this shares no code with what it judges.
///   keys      the bytes of a key pair never change while its Secret is there; it has both halves
///   content   what a person has written into a ConfigMap or a KbsConfig stays, and the ConfigMap
///             with it, for as long as the instance is there
///   inputs    pods are only given ConfigMaps, Secrets and claims that are there
///   owners    nothing has two controllers, or goes from one that is there to a younger one
///   broken    no Deployment gets an image that no catalogue ever named
class trustee_invariants : public judge {
public:
  /// Names for sentences.
  trustee_invariants(std::vector<std::string> clusters, std::function<reactor::steady_time()> now);

  /// Instances are to have images of that registry from now on.
  void ask_for_registry(std::string registry) { registry_ = std::move(registry); }
  /// Writes within `f` are a person's, not the service.
  void by_person(const std::function<void()>& f);
  /// A person has left `mark` in an object: it has to stay.
  void wrote(std::size_t cluster, const std::string& plural, const std::string& name,
             std::string mark);
  /// The server's on_write.
  void saw(std::size_t cluster, const k8s::sim::written& w);
  /// When nothing moves any more.
  void check_at_rest();

  /// Instances that are to be Ready, and are, with the images of their release.
  std::size_t instances() const;
  std::size_t arrived() const;
  /// Who is not, and why; empty: all are.
  std::string unfinished() const;

private:
  static constexpr std::string_view instances_ns = "default";
  /// A kind's plural, and the object's name: all are in one namespace.
  using id = std::pair<std::string, std::string>;
  struct thing {
    std::string uid, created, controller, mark;
  };
  struct instance_facts {
    std::string version, instance_name, says;
    bool ready = false, deleting = false;
  };
  struct cluster_facts {
    std::string name;
    std::map<id, thing> things;
    std::map<std::string, id> by_uid;
    std::map<id, reactor::steady_time> gone_since;
    std::map<std::string, instance_facts> instances;  // by name of the TrusteeConfig
    std::map<std::string, std::string> images;        // of Deployments: their kbs container's
  };
  void saw_deletion(cluster_facts& c, const id& of, const k8s::sim::written& w);
  void judge_owners(const cluster_facts& c, const id& of, const thing& before,
                    const k8s::sim::written& w);
  void judge_keys(const cluster_facts& c, const id& of, const k8s::sim::written& w);
  void judge_inputs(const cluster_facts& c, const id& of, const k8s::sim::written& w);
  void judge_image(cluster_facts& c, const id& of, const k8s::sim::written& w);
  std::string lacks(const cluster_facts& c, const std::string& name,
                    const instance_facts& one) const;
  /// Another one's KbsConfig was made before and has its names: what creates them first counts, as
  /// the clock of the server has it.
  bool is_rival(const cluster_facts& c, const std::string& name, const instance_facts& one) const;
  void violated(const cluster_facts& c, const id& of, const std::string& sentence);

  std::vector<cluster_facts> clusters_;
  std::function<reactor::steady_time()> now_;
  std::string registry_;
  bool by_person_ = false;
};

}  // namespace simulation
