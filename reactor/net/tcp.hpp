#pragma once

#include "reactor/net/stream.hpp"

#include <memory>

namespace reactor {

class loop;

/// TCP of this machine.
/// Connect  names are resolved off the loop; each address gets its share of the time that is left,
///          so that a dead first one does not use it up. The fault lists what every address
///          answered. A name leads to no address where clouds keep credentials
///          (is_metadata_address): these are reached by themselves alone.
/// Streams  no delay, keep-alive; a peer that vanished is noticed within 20 s, with bytes
///          unacknowledged or without.
/// Listen   takes addresses, "localhost" and "" (every address of both families), not other names.
/// Accept   running out of descriptors is waited out, not reported.
std::unique_ptr<network> make_tcp_network(loop& l);

}  // namespace reactor
