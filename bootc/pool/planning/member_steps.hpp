#pragma once

#include "bootc/pool/planning/draft.hpp"

namespace bootc::planning {

/// What is decided about one member by itself, in the order of a pass.

/// Its state, and what its drain came to: one that worked lets it boot.
void classify_member(draft& d, member& m);
void note_reboot_timeout(draft& d, member& m);
/// A daemon that neither acts nor reports an error is told of; nothing else is done about it.
void note_stuck(draft& d, member& m);
/// Updated and Ready: its slot is free, and the Node is as it was before.
void free_if_finished(draft& d, member& m);
/// After taking slots and not with it: a crash in between, or an administrator, may have left the
/// Node schedulable.
void keep_cordoned(draft& d, const member& m);
void start_drain(draft& d, const member& m);

}  // namespace bootc::planning
