#pragma once

#include <cstdint>

namespace reactor {

/// Shuts the process in that works on what strangers wrote: from now on it has no descriptor but
/// the first three, dies with the process that started it, cannot be looked into, gains no rights,
/// may map `more_bytes` of memory beyond what it has, and of the kernel's calls only those remain
/// that compute, wait, and read and write what is open. No file, socket or process can be opened.
/// Shape    false: a step that must not fail did, and the process must end. Call it before the
///          first byte of a stranger is read.
/// Source   seccomp(2), prctl(2). x86-64 and AArch64; elsewhere it fails.
[[nodiscard]] bool confine_this_process(std::uint64_t more_bytes) noexcept;

}  // namespace reactor
