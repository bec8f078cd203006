#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/waiters.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace reactor {
class loop;
}

namespace web {

/// What readers follow: a table of JSON texts by key, each with the revision at which it changed
/// last.
/// Readers  have a cursor and nothing else: who is slow is sent fewer, later changes, each key
///          once.
/// Gone     keys that were erased are told for a while; a reader who was away for longer begins
///          again.
class board {
public:
  explicit board(reactor::loop& l);
  board(const board&) = delete;
  board& operator=(const board&) = delete;

  /// `json` is one line. Nothing happens when it is what stands there. False then.
  bool put(std::string_view key, std::string json);
  void erase(std::string_view key);
  /// Null when there is none.
  const std::string* find(std::string_view key) const;
  std::size_t size() const noexcept { return present_; }
  std::uint64_t revision() const noexcept { return revision_; }

  /// "3f8a…-17": names this board and a place in its history.
  std::string id_of(std::uint64_t revision) const;
  /// The place that a reader names; none when it is not of this board, or too long ago: it needs
  /// everything.
  std::optional<std::uint64_t> cursor_of(std::string_view id) const;

  /// Something is gone since then that is no longer told.
  bool forgot_after(std::uint64_t revision) const noexcept { return forgotten_ > revision; }

  struct piece {
    std::string text;          // "set":{…},"gone":[…]: members of a JSON object
    std::uint64_t cursor = 0;  // the reader has seen everything up to here
    bool more = false;         // there is more at this moment
  };
  /// Some of what changed after `cursor`, oldest first; none when nothing did.
  std::optional<piece> next(std::uint64_t cursor) const;
  /// False when `deadline` or wake_readers() came first.
  reactor::awaitable<bool> changed(std::uint64_t since, reactor::steady_time deadline);
  /// A reader that waits for a change looks at once whether it may still read.
  void wake_readers();

  static constexpr std::size_t piece_bytes = 16 * 1024, most_gone = 4'096;

private:
  struct entry {
    std::uint64_t revision = 0;
    std::optional<std::string> json;  // none: gone
  };
  void touch(std::string_view key, entry& e);

  std::map<std::string, entry, std::less<>> entries_;
  std::map<std::uint64_t, std::string> by_revision_;
  std::string name_;  // of this board, drawn at its start
  std::uint64_t revision_ = 0, forgotten_ = 0;
  std::size_t present_ = 0, wakes_ = 0;
  reactor::waiters waiting_;
};

}  // namespace web
