#pragma once

#include "helm/objects/cluster_objects.hpp"
#include "helm/release/record_store.hpp"
#include "helm/release/requests.hpp"

#include <functional>
#include <string>

namespace helm::release {

using reactor::awaitable;

struct action_settings {
  std::string ns = "default";
  std::string instance = "windlass";             // whose pending records are whose; a label value
  std::function<void(const std::string&)> line;  // what Helm prints with --debug
  std::function<void(const std::string&)> warning;  // what it prints anyway
  // what hooks printed whose output is asked for, as it is
  std::function<void(const std::string&)> hook_log;
};

/// What every action works with: one namespace of one cluster, and the steps that touch objects the
/// same way in all of them. Lifetime loop, client, objects and records outlive it.
struct workbench {
  reactor::loop& loop;
  k8s::client& api;
  objects::cluster_objects& on;
  record_store& records;
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
};

/// The objects with the marks of the release that they belong to.
objects::object_list stamped(objects::object_list list, const record& r);

}  // namespace helm::release
