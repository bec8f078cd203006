#pragma once

#include "reactor/plain/time.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace web {

/// One thing that happened in the fleet.
struct timeline_entry {
  reactor::wall_time at{};  // of a repeated one, the last time
  std::string cluster;      // empty: the fleet's own
  std::string about;        // "BootcNodePool/workers"
  std::string what;         // one word: an Event's reason, "Target", "State"
  std::string by;           // the field manager or controller, and the user where one is known
  std::string text;
  enum class weight : std::uint8_t { normal, warning } is = weight::normal;
  /// Of an object's Event there are many: they take no room from what was decided.
  enum class kind : std::uint8_t { event, decision } of = kind::event;
  std::uint64_t times = 1;
};

/// A place in a timeline: by time, then in the order of adding.
struct timeline_place {
  reactor::wall_time at{};
  std::uint64_t number = 0;
  friend auto operator<=>(const timeline_place&, const timeline_place&) = default;
  /// "1790000000000000000-17", and back; none for any other text.
  std::string text() const;
  static std::optional<timeline_place> read(std::string_view text);
};

/// What is asked of a timeline.
struct timeline_question {
  std::string words;    // each must occur in an entry, in whatever case
  std::string cluster;  // of this one alone; empty: of all
  std::size_t most = 50;
};

/// The newest things that happened, in bounded memory: of each kind of entry beyond half of
/// `most_entries` or `most_bytes` the oldest are dropped.
class timeline {
public:
  static constexpr std::size_t most_entries = 2'000, most_bytes = 1024 * 1024, longest_text = 1'024,
                               longest_words = 200;

  /// The same of the same again counts up and moves to the new time.
  void add(timeline_entry e);
  /// As of that time, once: the same at the same time is written over. False when it was there.
  bool put(timeline_entry e);

  std::size_t size() const noexcept { return entries_.size(); }
  std::size_t bytes() const noexcept { return kept_[0].bytes + kept_[1].bytes; }
  /// Another number after each change.
  std::uint64_t revision() const noexcept { return revision_; }

  struct piece {
    std::vector<std::string> found;      // JSON objects, the newest first
    std::optional<timeline_place> next;  // where the search goes on; none: it is over
  };
  /// Looks at no more than `most_looked` entries older than `before` (none: from the newest on).
  piece search(const timeline_question& q, std::optional<timeline_place> before,
               std::size_t most_looked) const;

private:
  void insert(timeline_entry e, std::uint64_t same);
  void erase(std::map<timeline_place, std::pair<timeline_entry, std::uint64_t>>::iterator at);

  // With the hash of what makes two of them the same.
  std::map<timeline_place, std::pair<timeline_entry, std::uint64_t>> entries_;
  std::map<std::uint64_t, timeline_place> known_;
  struct kept {
    std::set<timeline_place> places;
    std::size_t bytes = 0;
  };
  std::array<kept, 2> kept_;  // by kind
  std::uint64_t number_ = 0, revision_ = 0;
};

}  // namespace web
