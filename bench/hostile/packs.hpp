#pragma once

#include "reactor/plain/time.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench::hostile {

/// A policy pack by somebody who means harm, and what the host is expected to make of it.
struct pack {
  enum class verdict {
    refused,
    fault,
    answered
  };  // not loaded; loaded, then a policy fault; an answer
  std::string name;    // "string.rep in a loop"
  std::string policy;  // policy.lua
  verdict expected = verdict::refused;
};
const std::vector<pack>& packs();

struct pack_outcome {
  pack::verdict verdict = pack::verdict::refused;
  std::string said;  // the reason as a person sees it
  /// Processor time of the longest turn of the loop, load and unload included.
  reactor::nanoseconds worst_stall{0};
  std::string worst_turn;  // which part that was: load, call, unload
  /// The pack reached what it must not: a file, the process, another pack, a frozen global.
  bool escaped = false;
};
/// Loads the pack into a host of its own on a real loop, beside a harmless one, asks both once,
/// unloads them. The stall is the least of up to five tries.
pack_outcome try_pack(const pack& p);

}  // namespace bench::hostile
