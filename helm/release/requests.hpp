#pragma once

#include "helm/release/decisions.hpp"
#include "helm/release/rendering.hpp"
#include "reactor/plain/time.hpp"

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
  bool recorded = false;     // done is what is on record; Helm has only a line for what is not
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
  manifest_step after;
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
  manifest_step after;
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

}  // namespace helm::release
