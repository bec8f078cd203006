#pragma once

#include "fleetwide/charts/chart_note.hpp"
#include "fleetwide/charts/chart_order.hpp"
#include "helm/placed/cluster_reads.hpp"
#include "helm/placed/object_writes.hpp"
#include "k8s/client/fault.hpp"
#include "reactor/awaitable.hpp"

#include <boost/json/object.hpp>

#include <functional>
#include <optional>
#include <string>

namespace fleetwide {

using reactor::awaitable;

/// The notes on a member as a keeper writes them: an order's finalizer is that its note says what
/// is to be, its fingerprint that this is done.
/// Lifetime: loop, client and reads outlive it.
class note_writes {
public:
  using written = helm::placed::written<chart_order>;
  enum class finalizer_is : std::uint8_t { wanted, done };
  struct options {
    std::string ns;  // of the notes
    std::function<const chart_order*(const k8s::object_key&)> order;
    /// Asked right before it is noted that an order begins.
    std::function<bool(const chart_order&)> may_begin;
    /// The notes as they are since a write.
    std::function<void(chart_notes)> noted;
    /// What the server says to a write of that claim's note; null: it took it.
    std::function<void(const std::string& claim, const k8s::fault* why)> told;
  };
  note_writes(reactor::loop& l, k8s::client& api, helm::placed::cluster_reads& reads, options o)
      : loop_(l), api_(api), reads_(reads), options_(std::move(o)) {}

  awaitable<written> set_finalizer(chart_order o, finalizer_is how);
  awaitable<written> annotate(chart_order o, std::string name, std::optional<std::string> value);
  awaitable<written> note_failure(chart_order o, std::string why);
  /// Why what is noted does not go on, or is not as it was done.
  awaitable<written> note_hold(chart_order o, std::string code, std::string sentence);
  /// The order with its note as the server has it.
  awaitable<k8s::result<std::optional<chart_order>>> current(k8s::object_key key);
  /// Takes a note away.
  awaitable<k8s::result<void>> forget(std::string claim);

private:
  awaitable<written> write(chart_order o, std::optional<chart_note> note);
  awaitable<k8s::result<boost::json::object>> patch(std::string key,
                                                    std::optional<std::string> text);

  reactor::loop& loop_;
  k8s::client& api_;
  helm::placed::cluster_reads& reads_;
  options options_;
};

}  // namespace fleetwide
