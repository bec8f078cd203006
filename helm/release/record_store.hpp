#pragma once

#include "formats/plain/deep_stack.hpp"
#include "helm/objects/cluster_objects.hpp"
#include "helm/release/decisions.hpp"
#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"

#include <boost/json/fwd.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace reactor {
class loop;
}
namespace k8s {
class client;
struct fault;
}  // namespace k8s

namespace helm::release {

using objects::done;
using reactor::awaitable;

/// Where records are kept: Helm's drivers "secret" and "configmap". One namespace; list() of a
/// store without one sees all.
/// Errors   "release: not found" and "release: already exists" as they are; everything else says
///          what was being done. A record that cannot be decoded is reported as a line and passed
///          over.
/// Trust    a record says itself whose it is, of which namespace and revision. Where `of` names a
///          release these come from the object's name and from `of` instead, for the author of a
///          record chooses what it says; in a namespace of records of many releases,
///          those of another namespace than `of` names are passed over. One of `of` that cannot be
///          read is an error where it is newer than the newest deployed one: without it the others
///          say something else than they did.
/// Limits   `of_a_history` bytes unpacked for all records that one call reads: a history that takes
///          more is an error, since which of its records was left out may decide what is done. Of
///          a release that `of` names, a history has content in the records alone that count
///          (keep_what_counts).
/// Lifetime loop and client outlive it.
class cluster_records {
public:
  enum class driver { secrets, config_maps };
  cluster_records(reactor::loop& l, k8s::client& api, std::string ns, driver kind = driver::secrets,
                  std::optional<objects::release_name> of = {},
                  std::uint64_t of_a_history = formats::unbounded,
                  apart::memory_share* share = nullptr)
      : loop_(l),
        api_(api),
        ns_(std::move(ns)),
        kind_(kind),
        of_(std::move(of)),
        of_a_history_(of_a_history),
        share_(share) {}

  awaitable<outcome<record>> get(std::string name, int revision);
  /// Oldest first; an empty history is "release: not found".
  awaitable<outcome<history>> all_of(std::string name);
  /// Every record there is.
  awaitable<outcome<history>> list();
  /// The only lock: of two that create one revision, one succeeds. Returns the uid of the object.
  awaitable<outcome<std::string>> create(record r);
  /// Replaces the whole record, whatever is there.
  awaitable<outcome<done>> update(record r);
  awaitable<outcome<done>> remove(std::string name, int revision);
  std::function<void(const std::string&)> on_line;

private:
  void say(const std::string& line) const {
    if (on_line) on_line(line);
  }
  struct body;
  const k8s::resource& collection() const;
  // borrowed
  awaitable<outcome<body>> body_of(const record& r, const char* stamp);
  // borrowed
  awaitable<outcome<sized_record>> record_of(const boost::json::object& o,
                                             std::uint64_t left) const;
  awaitable<outcome<history>> query(std::string selector, std::string doing);

  reactor::loop& loop_;
  k8s::client& api_;
  std::string ns_;
  driver kind_;
  std::optional<objects::release_name> of_;
  std::uint64_t of_a_history_;
  apart::memory_share* share_;  // outlives this; null: without limits
};

/// The labels a stored record carries: the user's, who it is, and the time under `stamp` when there
/// is one.
label_map stored_labels(const record& r, const std::string& stamp, std::int64_t now_seconds);

}  // namespace helm::release
