#pragma once

#include <string>

namespace bench {

/// The Go program of bench/<folder>, built when it is not yet; empty without Go.
/// $WINDLASS_HELM_PEER names another one in the place of helm_peer.
std::string go_peer(const std::string& folder);

}  // namespace bench
