#pragma once

#include "k8s/sim/api_server.hpp"
#include "reactor/plain/time.hpp"
#include "simulation/judge.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace simulation {

/// What must never happen to FleetCharts and their releases, checked at every write of every API
/// server by looking at the objects alone, Helm's records among them: this shares no code with what
/// it judges. It knows charts of chart_shelf, whose ConfigMap says version and level.
///   waves      a cluster begins a revision only after every cluster of an earlier wave that is
///              meant and can be reached has had it, or failed with it
///   slots      no more clusters than maxClusters have begun the revision that is asked for
///   one claim  a release goes from one FleetChart to another by adoption alone
///   order      a cluster begins a chart only where the charts that it needs are done
///   grants     objects of other namespaces at home write where a FleetGrant lets them, and nothing
///              outside of their target namespace
///   records    one deployed and one pending record at most; a service that ended in good order
///              left none pending
///   stopped    nothing begins while the brake is on, nor of an object that is paused, nor of a
///              revision once it is halted, but for what was on its way to a cluster that is
///              disturbed
///   rest       a settled fleet costs no write
///   plan       what a plan said begins next is what begins next
///   undo       a spec that is put back puts the releases back
class chart_invariants : public judge {
public:
  struct place {
    std::string name;
    std::map<std::string, std::string> labels;
  };
  chart_invariants(std::vector<place> clusters, std::function<reactor::steady_time()> now);

  /// on_write of home's server, and of a cluster's.
  void saw_home(const k8s::sim::written& w);
  void saw(std::size_t cluster, const k8s::sim::written& w);
  /// What `act` writes is written by a person.
  void by_person(const std::function<void()>& act);

  /// Whether the service can reach the cluster: waves need not wait for one that it cannot.
  void reaches(std::size_t cluster) { clusters_[cluster].is_reached = true; }
  void loses(std::size_t cluster) { clusters_[cluster].is_reached = false; }
  /// The same of home, whose connections may die silently while it is disturbed.
  void reaches_home(bool is) { is_home_reached_ = is; }
  /// A service starts: what is pending by now is not its doing.
  void saw_start();
  /// It ended in good order, and nothing was in its way.
  void saw_stop();
  /// From now on nothing is asked for, so nothing is written; or that has ended.
  void rests(bool does) { rests_ = does; }
  /// The brake at home is on from now on, or off: nothing begins from a second after its landing.
  void brakes(bool is_on);
  /// These clusters begin next with that object ("NAMESPACE/NAME"), all of them and no others.
  void will_begin(const std::string& object, std::set<std::string> clusters);
  /// All that was planned has begun by now.
  void check_planned();
  /// The releases of an object on all clusters, in one text.
  std::string releases_of(const std::string& object) const;
  /// After its spec was put back to what it was when it had these releases.
  void check_undone(const std::string& object, const std::string& releases);

  /// Places that are to have a release, and have what is asked for.
  std::size_t places() const;
  std::size_t arrived() const;
  /// Which places have not, and why; empty: all have.
  std::string unfinished() const;

private:
  struct note {
    std::string object, digest, content, state;
  };
  struct record {
    std::string status;
    bool is_inherited = false;  // pending since before the service of now
  };
  struct facts_of_cluster {
    place at;
    bool is_reached = true;
    std::map<std::string, note> notes;                       // by "NAMESPACE.RELEASE"
    std::map<std::string, std::map<int, record>> records;    // by "NAMESPACE.RELEASE"
    std::map<std::string, std::string> effects;              // "VERSION LEVEL", the same way
    std::map<std::string, std::set<std::string>> had;        // effects since they are asked for
    std::map<std::string, reactor::steady_time> changed_at;  // of notes
    std::map<std::string, reactor::steady_time> touched_at;  // of releases, by a person
  };
  struct facts_of_object {
    std::string ns, name, key, target;  // key: "NAMESPACE.RELEASE"
    std::size_t age = 0;                // older ones have less
    bool chooses_by_labels = false;
    std::map<std::string, std::string> labels;
    std::set<std::string> names;
    std::string wave_label, max_clusters;
    std::vector<std::string> waves, depends_on;
    std::string adopt;
    bool is_going = false;
    std::optional<reactor::steady_time> paused_since, halted_since;
    std::string wanted, before;  // digests: that is asked for, and that was until `since`
    reactor::steady_time since{}, spec_since{};
    std::set<std::string> proven;
  };
  struct facts_of_revision {
    std::string version, level;
    std::vector<std::string> keys;             // of the ConfigMaps' texts, "NAME/KEY"
    std::map<std::string, std::string> texts;  // by "NAME/KEY"
  };
  struct grant {
    std::set<std::string> namespaces, targets;
    std::map<std::string, std::string> labels;
  };

  void saw_object(const k8s::sim::written& w);
  void saw_revision(const k8s::sim::written& w);
  void saw_grant(const k8s::sim::written& w);
  void saw_notes(facts_of_cluster& c, const k8s::sim::written& w);
  void saw_note(facts_of_cluster& c, const std::string& key, const note& now);
  void saw_record(facts_of_cluster& c, const k8s::sim::written& w);
  void saw_config(facts_of_cluster& c, const k8s::sim::written& w);
  void begins(facts_of_cluster& c, const facts_of_object& o, const note* was, const note& now);
  void judge_waves(const facts_of_cluster& c, const facts_of_object& o, const note& now);
  void judge_slots(const facts_of_cluster& c, const facts_of_object& o, const note& now);
  void judge_order(const facts_of_cluster& c, const facts_of_object& o);
  void begins_by_plan(const facts_of_cluster& c, const facts_of_object& o);
  void ends_by_plan(const facts_of_cluster& c, const facts_of_object& o);
  void asked_for(facts_of_object& o, std::string digest);

  static bool chooses(const facts_of_object& o, const facts_of_cluster& c);
  bool is_granted(const facts_of_object& o, const facts_of_cluster& c) const;
  bool is_meant(const facts_of_object& o, const facts_of_cluster& c) const;
  /// Another object, or a release that no FleetChart made, has the claim there.
  bool is_foreign(const facts_of_object& o, const facts_of_cluster& c) const;
  bool waits_for_ever(const facts_of_object& o, const facts_of_cluster& c) const;
  static std::size_t wave_of(const facts_of_object& o, const facts_of_cluster& c);
  std::size_t slots_of(const facts_of_object& o) const;
  static bool adopts(const facts_of_object& o, const facts_of_cluster& c);
  static bool is_there(const facts_of_cluster& c, const std::string& key);
  const note* note_of(const facts_of_object& o, const facts_of_cluster& c) const;
  /// The effect of a revision on a cluster; none: it has no values there, or is not known.
  std::optional<std::string> expected(const facts_of_object& o, const std::string& digest,
                                      const facts_of_cluster& c) const;
  std::string lacks(const facts_of_object& o, const facts_of_cluster& c) const;
  void each_place(
      const std::function<void(const facts_of_object&, const facts_of_cluster&)>& f) const;
  void violated(const facts_of_cluster& c, const facts_of_object& o, const std::string& sentence);

  std::vector<facts_of_cluster> clusters_;
  std::map<std::string, facts_of_object> objects_;      // by "NAMESPACE/NAME"
  std::map<std::string, facts_of_revision> revisions_;  // by "NAMESPACE/NAME-DIGEST"
  std::map<std::string, grant> grants_;
  std::map<std::string, std::set<std::string>> planned_;  // clusters, by object
  std::function<reactor::steady_time()> now_;
  reactor::steady_time grants_since_{};
  std::optional<reactor::steady_time> braked_since_;
  bool is_home_reached_ = true;
  std::size_t ages_ = 0;
  bool rests_ = false, by_person_ = false;
};

}  // namespace simulation
