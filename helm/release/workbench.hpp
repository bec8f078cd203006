#pragma once

#include "helm/objects/cluster_objects.hpp"
#include "helm/release/record_store.hpp"
#include "helm/release/requests.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace helm::release {

using reactor::awaitable;

/// What is remembered of the records that we wrote, where the users of a release's namespace cannot
/// write: they can write its records. Without one (a command, which has its user's rights and no
/// others) every record is believed.
/// Trust    of a record that is not noted, only objects that carry the release's annotations are
///          changed or deleted, and its hooks do not run.
class record_notes {
public:
  virtual ~record_notes() = default;
  /// Whether it is one that was noted, as it was noted.
  virtual awaitable<bool> knows(record r) = 0;
  /// It is stored, and nothing of it has been done yet. `base` is what it comes after: that stays
  /// noted, others are forgotten.
  virtual awaitable<void> note(record r, std::optional<record> base) = 0;
  /// The release is gone.
  virtual awaitable<void> forget() = 0;
  /// What was not believed, and what was left for that: a sentence.
  virtual void tell(std::string sentence) = 0;
};

struct action_settings {
  std::string ns = "default";
  std::string instance = "windlass";             // whose pending records are whose; a label value
  std::function<void(const std::string&)> line;  // what Helm prints with --debug
  std::function<void(const std::string&)> warning;            // what it prints anyway
  chart_limits charts;                                        // what is made of a chart
  reactor::nanoseconds renders_in = std::chrono::minutes(5);  // with the wait for its turn
  // what hooks printed whose output is asked for, as it is
  std::function<void(const std::string&)> hook_log;
  record_notes* notes = nullptr;  // outlives the actions
  /// Whether `lookup` may read Secrets of other namespaces than `ns`; none_else: it reads nothing
  /// outside of `ns`.
  enum class secrets : std::uint8_t { of_every_namespace, of_its_namespace, none_else };
  secrets looked_up = secrets::of_every_namespace;
};

/// What every action works with: one namespace of one cluster, and the steps that touch objects the
/// same way in all of them. Lifetime loop, client, objects and records outlive it.
struct workbench {
  reactor::loop& loop;
  k8s::client& api;
  objects::cluster_objects& on;
  cluster_records& records;
  action_settings settings;

  go_time now() const;
  void say(const std::string& line) const;
  void warn(const std::string& line) const;
  /// "Kubernetes cluster unreachable: …"
  awaitable<outcome<done>> reach();
  awaitable<outcome<objects::object_list>> build(std::string manifest, std::string prefix);
  /// Which of the objects are on the cluster already. Errors the first that may not be taken over.
  awaitable<outcome<objects::object_list>> find_existing(objects::object_list list,
                                                         bool take_ownership, std::string name);
  awaitable<outcome<done>> wait_ready(objects::object_list list, work_options work);
  /// The release that an object must belong to before it is changed or deleted; none: the record is
  /// believed. A doubted record gets the namespace of the release, and is applied in the usual way.
  awaitable<std::optional<objects::release_name>> doubt(record& r);  // borrowed
  /// From here on the operation waits for the cluster, with this record and what it replaces.
  awaitable<void> rest(const record& r, const record* replaced = nullptr);  // borrowed
  /// That it was not believed, and what was left.
  void tell_doubt(const record& r, const objects::object_list& left) const;
};

/// The objects with the marks of the release that they belong to.
objects::object_list stamped(objects::object_list list, const record& r);

}  // namespace helm::release
