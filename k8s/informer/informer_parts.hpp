#pragma once

// What the informer's own files share; no other file includes it.

#include "k8s/informer/informer.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"
#include "reactor/plain/secret.hpp"

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace k8s {

inline constexpr std::size_t longest_turn_bytes = 256 * 1024;  // where time stands still

/// Lets others run after a turn's time of work, or what is about that many bytes.
class informer_base::pacer {
public:
  explicit pacer(reactor::loop& l) : loop_(l) {}
  void begin() { began_ = loop_.now(); }
  bool end(std::size_t bytes) {
    spent_ += loop_.now() - began_;
    bytes_ += bytes;
    if (spent_ < reactor::loop_slice::longest && bytes_ < longest_turn_bytes) return false;
    spent_ = {};
    bytes_ = 0;
    return true;
  }

private:
  reactor::loop& loop_;
  reactor::steady_time began_{};
  reactor::nanoseconds spent_{};
  std::size_t bytes_ = 0;
};

/// What a list page is read into. `begin` gets the list's version before any object and says
/// whether to take them.
struct informer_base::page {
  std::function<bool(const resource_version&)> begin;
  std::function<bool(wire_value)> take;  // false: there is no room for it
  bool refused = false;                  // by begin
  resource_version version;
  std::string continue_token;
};

/// One watch under way, shared with its probe.
struct informer_base::stream_run {
  std::unique_ptr<reactor::http::exchange> exchange;
  reactor::wiped_string carry;                // the beginning of a line
  bool in_pieces = false;                     // one of stream_delivery::piece_length
  bool initial = false;                       // the initial events of a watch-list are still coming
  bool swept = true;                          // false between their end and the sweep
  std::vector<reactor::wiped_string> queued;  // lines that wait for one that is parsed off the loop
  std::uint64_t bytes = 0;
  reactor::steady_time asked{}, opened{}, first_byte{}, last_byte{}, ends_by{}, probed{}, looked{};
  bool probing = false;  // a question is under way: for a version, or a second watch
  reactor::task_group::task_id probe = 0;
  std::optional<result<probe_findings>>
      answer;                             // what it found; of a question for a version nothing
  std::optional<resource_version> ahead;  // an event that the stream has not delivered yet
};

struct informer_base::line_outcome {
  enum class what { ended, failed, odd, past, unproven, cancelled };
  what how = what::ended;
  fault why;
  oddity odd{};

  static ending in_order() { return std::make_unique<line_outcome>(); }
  static ending failure(fault f) {
    auto o = std::make_unique<line_outcome>();
    o->how = f.cancelled ? what::cancelled : what::failed;
    o->why = std::move(f);
    return o;
  }
  static ending oddly(oddity odd, std::string detail) {
    auto o = std::make_unique<line_outcome>();
    o->how = what::odd;
    o->odd = odd;
    o->why.detail = std::move(detail);
    return o;
  }
  static ending unproven() {
    auto o = std::make_unique<line_outcome>();
    o->how = what::unproven;
    return o;
  }
  static ending from_the_past(fault f) {
    auto o = std::make_unique<line_outcome>();
    o->how = what::past;
    o->why = std::move(f);
    return o;
  }
};

/// Of an object in a list that is itself not older than what was followed: versions of one history
/// do not go back, so the server has another one, which passed ours before it was asked.
inline std::string older_than_shown(std::string_view version) {
  return "the server lists an object at version " + std::string(version) +
         ", and had shown it at a newer one";
}

/// Overwrites what the shared parser still has of a Secret when its reader is done.
class informer_base::discretion {
public:
  explicit discretion(const resource& of) noexcept
      : needed_(of.plural == "secrets" && of.group.empty()) {}
  ~discretion() {
    if (needed_) shared_parser().forget();
  }
  discretion(const discretion&) = delete;
  discretion& operator=(const discretion&) = delete;

private:
  bool needed_;
};

/// The server's cache, from which watches are served, has not reached the version that was asked
/// for.
bool is_too_large(const fault& f);

inline bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Calls `take` with each complete line; what remains stays in `carry`, which owns nothing while it
/// is empty. False when `take` said so or a line is longer than the limit (then `too_long`).
template <class Take>
bool split_lines(reactor::wiped_string& carry, std::string_view bytes, std::size_t limit,
                 bool& too_long, Take take) {
  while (!bytes.empty()) {
    const void* found = std::memchr(bytes.data(), '\n', bytes.size());
    const std::size_t length =
        found ? static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data())
              : bytes.size();
    if (carry.size() + length > limit) {
      too_long = true;
      return false;
    }
    if (!found) {
      carry.append(bytes);
      return true;
    }
    const std::string_view piece = bytes.substr(0, length);
    bytes.remove_prefix(length + 1);
    if (carry.empty()) {
      if (!is_blank(piece) && !take(piece)) return false;
      continue;
    }
    carry.append(piece);
    const reactor::wiped_string line = std::exchange(carry, {});
    if (!is_blank(line) && !take(std::string_view(line))) return false;
  }
  return true;
}

}  // namespace k8s
