#pragma once

#include <string_view>

// What the daemon says in its conditions and the planner reads there.
namespace bootc {

/// What the daemon says in Idle's message of a staged image that any reboot would boot, and of a
/// host that others reboot.
inline constexpr std::string_view unlocked_text = "staged without lock",
                                  uncoordinated_text = "this host is also rebooted by ";
/// The same where an image that cannot be locked is not fetched before the node is drained and told
/// to boot.
inline constexpr std::string_view stages_in_slot_text = "stages once it is told to boot";
/// What the daemon says in Idle's message, behind the image, of one that an administrator staged.
inline constexpr std::string_view staged_by_hand_text =
    " was staged by hand: the next reboot boots it";
/// What a daemon reports that is older than what the controller asks for.
inline constexpr std::string_view unknown_order_text =
    "this daemon is older than what it is asked for, so it does nothing; upgrade it. It does not "
    "know ";
/// What the daemon reports when the node rebooted into something else than the desired image.
inline constexpr std::string_view not_on_target_text = "rebooted but not on target";

}  // namespace bootc
