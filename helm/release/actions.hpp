#pragma once

#include "helm/objects/cluster_objects.hpp"
#include "helm/release/decisions.hpp"
#include "helm/release/record_store.hpp"
#include "helm/release/rendering.hpp"
#include "reactor/plain/time.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace helm::release {

/// none: for real. client: nothing is read but what Helm reads too. server: with lookups.
enum class dry_run : std::uint8_t { none, client, server };

/// What every action that touches objects may be told.
struct work_options {
  reactor::nanoseconds timeout = std::chrono::minutes(5);  // of each hook and of each wait
  bool wait = false;
  bool wait_for_jobs = false;
  bool no_hooks = false;
  bool force = false;        // replace instead of patching
  bool server_side = false;  // server-side apply instead of patches
};

struct install_request {
  std::string name;
  std::shared_ptr<prepared_chart> chart;
  value values;  // a map or nil
  work_options work;
  dry_run dry = dry_run::none;
  std::string description;
  label_map labels;
  bool create_namespace = false;
  bool replace = false;
  bool atomic = false;
  bool skip_crds = false;
  bool sub_notes = false;
  bool skip_schema = false;
  bool take_ownership = false;
  bool hide_secrets = false;
  post_renderer after;
};

struct upgrade_request {
  std::string name;
  std::shared_ptr<prepared_chart> chart;
  value values;
  work_options work;
  dry_run dry = dry_run::none;
  reuse how = reuse::unless_given;
  std::string description;
  label_map labels;
  int history_max = 10;
  bool atomic = false;
  bool cleanup_on_fail = false;
  bool sub_notes = false;
  bool skip_schema = false;
  bool take_ownership = false;
  bool hide_secrets = false;
  post_renderer after;
};

struct rollback_request {
  std::string name;
  int revision = 0;  // 0: the one before the last
  work_options work;
  int history_max = 10;
  bool dry_run = false;
  bool cleanup_on_fail = false;
};

struct uninstall_request {
  std::string name;
  work_options work;
  std::string cascade = "background";  // background, foreground, orphan
  std::string description;
  bool dry_run = false;
  bool keep_history = false;
  bool ignore_not_found = false;
};

struct test_request {
  std::string name;
  reactor::nanoseconds timeout = std::chrono::minutes(5);
  std::vector<std::string> include, exclude;  // names of hooks; empty: all
};
struct test_outcome {
  std::optional<record> tested;  // none: it did not come that far
  std::optional<problem> failure;
};

/// Helm's actions on the releases of one namespace of one cluster.
/// Shape    one action at a time. A cancelled one leaves its record pending; settle() then ends it as failed, or a later
///          action of the same instance does once the record's deadline has passed.
/// Errors   Helm's own texts, without the prefix of the command.
/// Lifetime loop, client, objects and records outlive it. Cancel and join what runs before destruction.
class release_actions {
public:
  struct settings {
    std::string ns = "default";
    std::string instance = "windlass";             // whose pending records are whose; a label value
    std::function<void(const std::string&)> line;  // what Helm prints with --debug
    std::function<void(const std::string&)> warning;  // what it prints anyway
    std::function<void(const std::string&)>
        hook_log;  // what hooks printed whose output is asked for, as it is
  };
  release_actions(reactor::loop& l, k8s::client& api, objects::cluster_objects& on,
                  record_store& records, settings s);

  awaitable<outcome<record>> install(install_request r);
  awaitable<outcome<record>> upgrade(upgrade_request r);
  awaitable<outcome<done>> rollback(rollback_request r);
  /// What to tell the user: kept objects. Nothing when there was no such release and that was fine.
  awaitable<outcome<std::string>> uninstall(uninstall_request r);
  awaitable<test_outcome> test(test_request r);
  /// What the pods of these tests printed, by weight, each under its name. Errors "unable to get pod logs for x: …"; what
  /// came before is in `into`, which outlives the call.
  awaitable<outcome<done>> test_logs(record tested, test_request r, std::string* into);

  /// Every revision, oldest first. Errors "release: not found".
  awaitable<outcome<history>> revisions(std::string name);
  /// One revision; 0 is the last.
  awaitable<outcome<record>> find(std::string name, int revision);
  awaitable<outcome<history>> list();
  /// "Kubernetes cluster unreachable: …"
  awaitable<outcome<done>> reach();

  /// Ends what cancellation interrupted: the record becomes failed, and --atomic takes its course. Call it after the
  /// action was joined. Returns the error to show, or nothing when no record was left pending.
  awaitable<std::optional<problem>> settle();

private:
  // What is under way, so that settle() can end it.
  struct interrupted_install {
    record r;
    install_request request;
  };
  struct interrupted_upgrade {
    record r;
    upgrade_request request;
  };
  struct interrupted_rollback {
    record current, target;
    reactor::nanoseconds timeout;
  };

  // install.cpp
  awaitable<outcome<record>> perform_install(record r, install_request request,
                                             objects::object_list adopted,
                                             objects::object_list target);
  awaitable<problem> fail_install(record r, install_request request, problem why);
  awaitable<outcome<done>> create_namespace();
  awaitable<outcome<done>> install_crds(std::shared_ptr<prepared_chart> chart, value values);
  // upgrade.cpp
  awaitable<outcome<record>> perform_upgrade(record original, record r, upgrade_request request,
                                             objects::object_list current,
                                             objects::object_list target);
  awaitable<problem> fail_upgrade(record r, upgrade_request request, objects::object_list created,
                                  problem why);
  // rollback.cpp
  awaitable<outcome<done>> perform_rollback(record current, record target, rollback_request request,
                                            std::string unfinished);
  // hooks.cpp. They note in the record how each hook went and borrow it: awaited on the spot.
  awaitable<std::optional<problem>> run_hooks(record& r, std::string event,
                                              reactor::nanoseconds timeout);  // borrowed
  struct hook_end {
    std::optional<problem> failure;
    bool ran = false;  // its objects were created: there is something to clean up
  };
  awaitable<hook_end> run_one_hook(record& r, std::size_t at, std::string event,
                                   reactor::nanoseconds timeout);  // borrowed
  awaitable<std::optional<problem>> delete_hook(hook h, std::string policy,
                                                reactor::nanoseconds timeout);
  /// Gives settings::hook_log what a Job's or a Pod's containers printed, when the hook asks for it; a failure is a line.
  awaitable<void> show_log(hook h, std::string policy, std::string ns);
  // uninstall.cpp
  awaitable<outcome<done>> purge(history all);
  // steps.cpp
  awaitable<outcome<rendered>> render(render_request r);
  awaitable<outcome<objects::object_list>> build(std::string manifest, std::string prefix);
  objects::object_list stamped(objects::object_list list, const record& r) const;
  /// Which of the objects are on the cluster already. Errors the first that may not be taken over.
  awaitable<outcome<objects::object_list>> find_existing(objects::object_list list,
                                                         bool take_ownership, std::string name);
  awaitable<outcome<done>> prune(std::string name, int history_max);
  awaitable<outcome<done>> store_new(record r, reactor::nanoseconds timeout);
  /// Writes the record; a failure is only a line, as in Helm.
  awaitable<void> store(record r, reactor::nanoseconds timeout);
  awaitable<outcome<done>> store_or_fail(record r, reactor::nanoseconds timeout);
  awaitable<outcome<done>> wait_ready(objects::object_list list, work_options work);
  /// A process of ours left it pending, and its deadline is over.
  bool abandoned(const record& r) const;
  /// Marks it as failed, here and on the cluster.
  awaitable<outcome<done>> end_abandoned(record& last);  // borrowed
  /// The last revision, after a pending one that we left behind was ended.
  awaitable<outcome<history>> recovered(std::string name);
  /// Labels of a record that is about to be stored: whose it is and until when, while its action is under way.
  record marked(record r, reactor::nanoseconds timeout) const;
  go_time now() const;
  void say(const std::string& line) const;
  void warn(const std::string& line) const;

  reactor::loop& loop_;
  k8s::client& api_;
  objects::cluster_objects& objects_;
  record_store& records_;
  settings settings_;
  std::optional<interrupted_install> installing_;
  std::optional<interrupted_upgrade> upgrading_;
  std::optional<interrupted_rollback> rolling_back_;
};

}  // namespace helm::release
