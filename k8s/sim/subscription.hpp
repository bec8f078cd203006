#pragma once

#include "k8s/sim/objects/selector.hpp"
#include "k8s/sim/representation.hpp"
#include "k8s/sim/store.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace k8s::sim {

/// What all watches need of one event, made once: the line for clients that take the stored form,
/// with managedFields or without, and the object before and after for those that select.
struct shared_lines {
  std::shared_ptr<const std::string> plain, without_managers;
  std::shared_ptr<const json::object> before, now;
};

/// What a watch asks for.
struct watch_filter {
  representation as;
  std::string collection;
  std::string key_prefix;  // "ns/", or empty for all
  label_selector labels;
  field_selector fields;
  bool bookmarks = false;
};

/// One watch: the lines that wait to be sent. The transport takes them when `on_ready` calls;
/// dropping the subscription ends the watch.
class subscription {
public:
  subscription(watch_filter filter, std::uint64_t from, reactor::steady_time opened,
               reactor::nanoseconds timeout, reactor::nanoseconds bookmark_every,
               std::size_t pending_limit);

  /// Called whenever there is something to take or the watch ended. May be empty.
  std::function<void()> on_ready;

  /// All lines that wait, in one piece; empty when none does.
  std::string take();
  /// No further lines will come.
  bool ended() const noexcept { return ended_; }
  /// When poll() wants to be called next.
  reactor::steady_time next_due() const noexcept;
  /// Sends the bookmark or ends the watch if its time has come. `revision` is the store's.
  void poll(reactor::steady_time now, std::uint64_t revision);

  const watch_filter& filter() const noexcept { return filter_; }
  std::uint64_t revision() const noexcept { return revision_; }

  /// The server's side.
  void offer(const change& c, shared_lines& shared);
  void add_initial(const version& v);
  void send_bookmark(std::uint64_t revision, bool initial_events_end);
  void fail(const failure& f);
  void end();
  /// While held, lines pile up and no handler is told.
  void hold(bool held);

private:
  void push(std::shared_ptr<const std::string> line);
  bool selects(const json::object& stored) const;
  bool is_named(std::string_view key) const;

  watch_filter filter_;
  std::uint64_t from_, revision_;
  reactor::steady_time ends_at_, bookmark_at_;
  reactor::nanoseconds bookmark_every_;
  std::size_t pending_limit_;
  bool selective_, ended_ = false, held_ = false;
  std::deque<std::shared_ptr<const std::string>> pending_;
};

}  // namespace k8s::sim
