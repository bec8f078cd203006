#pragma once

#include "helm/objects/shown_objects.hpp"
#include "helm/release/install.hpp"
#include "helm/release/test.hpp"
#include "helm/release/upgrade.hpp"

namespace helm::release {

/// Helm's actions on the releases of one namespace of one cluster: the parts, put together.
/// Shape    one action at a time. A cancelled one leaves its record pending; settle() then ends it
///          as failed, or a later action of the same instance does once the record's deadline has
///          passed.
/// Errors   Helm's own texts, without the prefix of the command.
/// Lifetime loop, client, objects and records outlive it. Cancel and join what runs before
/// destruction.
class release_actions {
public:
  using settings = action_settings;
  release_actions(reactor::loop& l, k8s::client& api, objects::cluster_objects& on,
                  cluster_records& records, settings s);
  release_actions(const release_actions&) = delete;
  release_actions& operator=(const release_actions&) = delete;

  awaitable<outcome<record>> install(install_request r);
  awaitable<outcome<record>> upgrade(upgrade_request r);
  awaitable<outcome<done>> rollback(rollback_request r);
  awaitable<outcome<std::string>> uninstall(uninstall_request r);
  awaitable<test_outcome> test(test_request r);
  awaitable<outcome<done>> test_logs(record tested, test_request r, std::string* into);

  /// Every revision, oldest first. Errors "release: not found" (problem_code::not_found).
  awaitable<outcome<history>> revisions(std::string name);
  /// One revision; 0 is the last.
  awaitable<outcome<record>> find(std::string name, int revision);
  awaitable<outcome<history>> list();
  /// What the cluster has of a revision's objects, and the pods behind them. Errors those of
  /// building its manifest.
  awaitable<outcome<objects::shown_objects>> shown(record r, objects::shown_as form);
  /// "Kubernetes cluster unreachable: …"
  awaitable<outcome<done>> reach();

  /// Ends what cancellation interrupted: the record becomes failed, and --atomic takes its course.
  /// Call it after the action was joined. Returns the error to show, or nothing when no record was
  /// left pending.
  awaitable<std::optional<problem>> settle();

private:
  workbench bench_;
  record_keeper keep_{bench_};
  hook_runner hooks_{bench_, keep_};
  cluster_rendering rendering_{bench_};
  uninstall_action uninstall_{bench_, keep_, hooks_};
  rollback_action rollback_{bench_, keep_, hooks_};
  install_action install_{bench_, keep_, hooks_, rendering_, uninstall_};
  upgrade_action upgrade_{bench_, keep_, hooks_, rendering_, rollback_};
  test_action test_{bench_, keep_, hooks_};
};

}  // namespace helm::release
