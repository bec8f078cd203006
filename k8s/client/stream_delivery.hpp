#pragma once

#include "reactor/plain/time.hpp"

#include <optional>
#include <utility>

namespace k8s {

/// Whether the network between a client and its API server passes a stream on as it comes, or keeps
/// it until its end, as balancers and proxies that buffer answers do. The informers of a client
/// share what they find out. While streams are kept, watches are asked to last piece_length only,
/// so that their events arrive when they end. No clock, no network.
class stream_delivery {
public:
  static constexpr reactor::nanoseconds piece_length = std::chrono::seconds(5);

  /// True while watches have to be asked for in pieces.
  bool in_pieces() const noexcept { return in_pieces_; }
  /// True when pieces have shown that streams are kept until their end.
  bool is_shown() const noexcept { return in_pieces_ && kept_ >= enough; }

  /// Nothing answered a watch for longer than a server takes, or the server had events that a watch
  /// did not deliver.
  void held_back() noexcept {
    if (std::exchange(in_pieces_, true)) return;
    kept_ = prompt_ = 0;
  }
  /// A piece ended in order. `before_end`: how long before its end its first byte came; none: the
  /// piece was empty, which shows nothing. API servers send a bookmark 2 s before the end. Returns
  /// true when is_shown() became true.
  bool ended(std::optional<reactor::nanoseconds> before_end, reactor::nanoseconds lasted) noexcept {
    if (!in_pieces_ || !before_end || lasted < piece_length / 2) return false;
    if (*before_end >= std::chrono::seconds(1)) {
      kept_ = 0;
      if (++prompt_ >= enough) in_pieces_ = false;
      return false;
    }
    prompt_ = 0;
    return ++kept_ == enough;
  }

private:
  static constexpr unsigned enough = 3;  // in a row
  bool in_pieces_ = false;
  unsigned kept_ = 0, prompt_ = 0;
};

}  // namespace k8s
