#pragma once

#include "k8s/informer/meta.hpp"
#include "policies/host/hook.hpp"
#include "policies/host/host.hpp"

#include <memory>
#include <string>
#include <vector>

namespace policies {

/// One of what a unit may run.
struct catalogue_entry {
  std::string version;    // "1.4.2"
  std::string reference;  // of its image or chart, with the digest where known
  std::string channel;
  double released = 0;  // unix seconds; 0: unknown
};

/// Which version should this unit run?
struct versions_question {
  std::string api, cluster, name;
  k8s::string_map cluster_labels, labels, annotations;
  std::string running;  // version; empty: nothing or unknown
  std::string wanted;   // what its object asks for: a version, a range or a channel; may be empty
  std::vector<catalogue_entry> catalogue;
};

struct versions_answer {
  std::string version, reference, reason;
  reactor::nanoseconds look_again{0};
  std::string pack;
};

/// Asks the pack that applies. A fault means: what was answered last, else hold.
/// Errors   as host::call; errc::malformed names the place in the answer; a version that is not in
///          the catalogue is one.
reactor::awaitable<reactor::result<versions_answer>> resolve_version(
    host& packs, subject s, std::shared_ptr<const versions_question> question,
    reactor::wall_time now);

/// The part of it that looks at the answer.
reactor::result<versions_answer> read_versions_answer(const value& answer,
                                                      const versions_question& question);

hook versions_hook();

}  // namespace policies
