#pragma once

#include "k8s/sim/objects/json.hpp"
#include "reactor/plain/time.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::sim {

struct pod_facts;

/// One state of one object, kept as the bytes that lists and watches send.
struct version {
  std::uint64_t revision = 0;
  std::uint32_t type_meta_bytes = 0;  // length of `"kind":…,"apiVersion":…,` after the brace
  std::string bytes;
  /// Where metadata.managedFields stands in `bytes`, with the comma before it; length 0: none.
  std::uint32_t managed_begin = 0, managed_length = 0;
  std::vector<std::string> owners;  // uids of its metadata.ownerReferences
  std::string node;                 // of a pod: spec.nodeName, which lists ask for most
  bool is_ending = false;           // it has a metadata.deletionTimestamp

  /// Of a pod, after the first question (facts_of).
  mutable std::shared_ptr<const pod_facts> pod;

  /// `bytes` without metadata.managedFields.
  std::string bytes_without_managers() const;
  /// To change.
  json::object parsed() const;
  /// To look at.
  std::shared_ptr<const json::object> look() const;

  /// What `bytes` say, for those who look at it while it is the object's state.
  void keep(std::shared_ptr<const json::object> o) const { seen_ = std::move(o); }

private:
  mutable std::shared_ptr<const json::object> seen_;
};
using version_ptr = std::shared_ptr<const version>;

/// Serialises `o` with kind and apiVersion first and `revision` as its resourceVersion.
version_ptr make_version(json::object& o, std::uint64_t revision);

/// One committed write.
struct change {
  enum class what { added, modified, deleted };
  what type = what::added;
  std::uint64_t revision = 0;
  std::string collection, key;
  version_ptr before;  // none when added
  version_ptr object;  // the new state; of a deletion the last one, under the deletion's revision
  reactor::steady_time when{};
};

struct history_limits {
  std::size_t changes = 1000;
  reactor::nanoseconds age = std::chrono::minutes(5);
};

/// "ns/name", or "name" for what has no namespace: the key inside a collection.
std::string object_path(std::string_view ns, std::string_view name);

/// The objects of one server, its single counter of versions, and the window of changes that
/// watches replay.
class store {
public:
  using collection = std::map<std::string, version_ptr, std::less<>>;
  explicit store(history_limits limits) : limits_(limits) {}

  std::uint64_t revision() const noexcept { return revision_; }
  /// Watches and lists from a version below this one are refused.
  std::uint64_t compacted() const noexcept { return compacted_; }

  const collection& objects(std::string_view name) const;
  version_ptr get(std::string_view collection, std::string_view key) const;
  /// The collection as it was at `revision`. Requires compacted() <= revision <= revision().
  collection snapshot(std::string_view name, std::uint64_t revision) const;

  /// Stores `o` under the next revision, which it is given.
  const change& put(std::string_view collection, std::string_view key, json::object& o,
                    reactor::steady_time now);
  /// Removes; `o` is the last state and is given the deletion's revision.
  const change& remove(std::string_view collection, std::string_view key, json::object& o,
                       reactor::steady_time now);

  const std::deque<change>& changes() const noexcept { return changes_; }
  void trim(reactor::steady_time now);
  /// Forgets all changes: only the present can be listed and watched.
  void compact();
  std::size_t object_count() const;

private:
  const change& record(change c);
  history_limits limits_;
  std::uint64_t revision_ = 1, compacted_ = 1;
  std::map<std::string, collection, std::less<>> collections_;
  std::deque<change> changes_;
};

}  // namespace k8s::sim
