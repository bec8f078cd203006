#pragma once

#include <string_view>

/// What the core writes on what it composed; a person can read there what a restart has to know.
namespace policies::compose::mark {
/// Whose it is: the pack's field manager.
inline constexpr std::string_view manager = "windlass.dev/composed-by";
/// Digest of what was asked for when it was last written.
inline constexpr std::string_view asked = "windlass.dev/composed";
/// {"key": digest} of the content that was last written, by key of data. Empty: it was generated.
inline constexpr std::string_view wrote = "windlass.dev/composed-keys";
/// Digest of the inputs, on the pods that read them.
inline constexpr std::string_view inputs = "windlass.dev/inputs";
/// On a parent: nothing of it is touched.
inline constexpr std::string_view paused = "windlass.dev/paused";
/// On an object without an owner: "Kind/name" of the parent to which its user gives it.
inline constexpr std::string_view given_to = "windlass.dev/adopt";
}  // namespace policies::compose::mark
