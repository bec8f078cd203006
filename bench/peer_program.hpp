#pragma once

#include <string>

namespace bench {

/// A program that is measured beside ours, built by its language's package client into the user's
/// cache folder when it is not there yet.
struct peer_program {
  std::string path;     // empty: it is skipped
  std::string skipped;  // why, as a sentence
};

/// The Go program of bench/<folder>. $WINDLASS_HELM_PEER names another one in the place of
/// helm_peer.
peer_program go_peer(const std::string& folder);
/// The Rust program of bench/<folder>, which has the folder's last name.
peer_program rust_peer(const std::string& folder);

}  // namespace bench
