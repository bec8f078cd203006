#pragma once

#include "helm/placed/cluster_reads.hpp"
#include "helm/placed/noted_release.hpp"
#include "helm/placed/plan/object_changes.hpp"
#include "helm/placed/plan/plan.hpp"
#include "helm/placed/plan/retries.hpp"
#include "helm/release/actions.hpp"
#include "reactor/log.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace helm::placed {

/// What is to be done to one release.
struct operation_order {
  operation what = operation::none;
  std::string release, ns;
  std::string owner;                      // "Tenant/default/acme", noted with the release
  std::string notes_ns;                   // where it is noted
  std::string store_ns;                   // where its records are; empty: in `ns`
  bool secrets_of_all = false;            // what its chart may look up
  std::shared_ptr<prepared_chart> chart;  // of install and upgrade
  value values;
  record_driver driver = record_driver::secrets;
  int max_history = 10;
  nanoseconds timeout = operation_timeout;  // of install and upgrade
  nanoseconds uninstalls_in = uninstall_timeout;
  bool atomic = false;       // what failed is taken back
  bool tests = false;        // its chart's tests belong to an install or upgrade
  bool is_confined = false;  // its objects may be in `ns` alone
  enum class workloads : std::uint8_t { waited_for, left };
  workloads ready = workloads::waited_for;
};

/// One operation with everything that belongs to it and to no other.
/// Shape    run() once. Where that was cancelled and joined, settle() ends the record that is left
///          pending.
/// Lifetime loop, client and discovery outlive it.
class release_operation {
public:
  release_operation(reactor::loop& l, k8s::client& api, k8s::discovery& known,
                    operation_order order, reactor::logger log);
  /// Problems Helm's, as its commands say them.
  reactor::awaitable<outcome<objects::done>> run();
  /// What run() would do, object by object in the order of the chart: rendered with what the
  /// cluster has now, nothing is written.
  /// Problems those that run() would begin with.
  reactor::awaitable<outcome<std::vector<object_change>>> preview();
  reactor::awaitable<std::optional<problem>> settle() { return actions_.settle(); }
  /// Records that were not believed, and what was left for that; empty: all were.
  const std::string& doubted() const noexcept { return notes_.told(); }
  /// Whose the release is as it was noted; empty where it was not.
  reactor::awaitable<std::string> noted_owner() { return notes_.owner(); }

private:
  reactor::awaitable<outcome<objects::done>> carry_out();
  reactor::awaitable<outcome<objects::done>> run_tests();
  reactor::awaitable<outcome<release::record>> rendered();
  /// What is there of the release, for an upgrade or an uninstall.
  reactor::awaitable<outcome<std::optional<release::record>>> base();
  reactor::awaitable<outcome<objects::done>> make_store();
  reactor::awaitable<outcome<objects::object_list>> kinds_of_the_chart();
  /// What installing and upgrading have in common.
  template <class Request>
  Request asked() const;
  release::install_request install_order() const;
  release::upgrade_request upgrade_order() const;

  reactor::loop& loop_;
  k8s::client& api_;
  operation_order order_;
  reactor::work_memory::share share_;
  noted_release notes_;
  objects::cluster_objects on_;
  release::cluster_records records_;
  release::release_actions actions_;
};

/// Marks a record that was left pending as failed, so that another operation may begin.
/// Errors   those of reading and writing the record.
reactor::awaitable<outcome<objects::done>> end_pending(reactor::loop& l, k8s::client& api,
                                                       operation_order of, int revision);

}  // namespace helm::placed
