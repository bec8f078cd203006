#pragma once

#include "k8s/informer/meta.hpp"

#include <boost/json/fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fleetwide {

/// What is noted on a member of one release that a FleetChart has there: written before anything is
/// done, and again when it is done.
struct chart_note {
  enum class state : std::uint8_t { begun, done, failed };
  std::string object, uid;  // "FleetChart/NAMESPACE/NAME", and its UID
  std::int64_t revision = 0;
  std::string digest;   // of the revision
  std::string content;  // of what this cluster is to have by it: digest_of()
  std::string since;    // RFC 3339: since when it is in this state
  state is = state::begun;
  std::string record, version;     // done: the newest record of the release, and its version
  std::vector<std::string> kinds;  // done: of its objects that are watched, "apps/v1/Deployment"
  std::string hold;  // begun, done: why it does not go on, or is otherwise now; empty: it is well
  std::string why;   // failed, and of `hold`
  friend bool operator==(const chart_note&, const chart_note&) = default;
};
/// What is no such text is no note.
std::optional<chart_note> read_note(std::string_view text);
std::string write_note(const chart_note& n);
/// "NAMESPACE.RELEASE", the key of a note; `claim` is "NAMESPACE/RELEASE".
std::string note_key(std::string_view claim);

/// The ConfigMap of a member that has the notes, in the namespace of what the service notes there.
inline constexpr std::string_view notes_object = "windlass-fleet";
struct chart_notes {
  k8s::object_meta meta;
  std::map<std::string, chart_note> by_key;  // texts that are no notes are left out

  static chart_notes parse(k8s::wire_value object);
  std::size_t heap_bytes() const noexcept;
  friend bool operator==(const chart_notes&, const chart_notes&) = default;
};

}  // namespace fleetwide
