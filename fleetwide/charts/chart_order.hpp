#pragma once

#include "fleetwide/charts/chart_note.hpp"
#include "fleetwide/kinds/chart_spec.hpp"
#include "helm/go.hpp"
#include "helm/placed/plan/chart.hpp"
#include "k8s/informer/meta.hpp"
#include "reactor/plain/time.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace fleetwide {

/// What one cluster is to have of one FleetChart: what a keeper keeps there.
struct chart_order {
  k8s::object_meta meta;  // key and UID of the FleetChart; generation: number of the revision
  std::string mark;       // "FleetChart/NAMESPACE/NAME"
  std::string digest;     // of the revision
  helm::placed::desired_release wanted;  // its fingerprint is digest_of() chart and values
  std::string chart_digest;
  helm::value values;
  std::string ns, release;
  bool adopts = false;       // what is there is taken over
  bool uninstalls = false;   // it goes, and its release with it
  bool is_confined = false;  // its chart may put objects into `ns` alone
  bool tests = false, atomic = false;
  chart_spec::on_drift drift = chart_spec::on_drift::report;
  reactor::nanoseconds timeout{};
  std::string asked;                // RFC 3339: when a person asked to try it again; empty: never
  std::optional<chart_note> noted;  // as it was seen or written last

  std::string claim() const { return ns + "/" + release; }
  bool is_mine(const std::optional<chart_note>& n) const { return n && n->object == mark; }
  /// A person asks to try again what is noted as failed.
  bool is_retry(const chart_note& n) const {
    return n.is == chart_note::state::failed && n.since < asked;
  }
  /// What it is to have is noted, whatever has come of it.
  bool is_begun() const {
    return is_mine(noted) && noted->content == wanted.fingerprint && !is_retry(*noted);
  }
  /// Whether it asks for the same.
  bool asks_as(const chart_order& other) const {
    return meta.uid == other.meta.uid && wanted.fingerprint == other.wanted.fingerprint &&
           digest == other.digest && adopts == other.adopts && uninstalls == other.uninstalls &&
           is_confined == other.is_confined && tests == other.tests && atomic == other.atomic &&
           drift == other.drift && timeout == other.timeout && asked == other.asked;
  }
};

/// What its note will be.
inline chart_note note_of(const chart_order& o, chart_note::state is, std::string since) {
  chart_note n;
  n.object = o.mark;
  n.uid = o.meta.uid.text();
  n.revision = o.meta.generation;
  n.digest = o.digest;
  n.content = o.wanted.fingerprint;
  n.since = std::move(since);
  n.is = is;
  return n;
}

}  // namespace fleetwide
