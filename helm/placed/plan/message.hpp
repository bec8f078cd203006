#pragma once

#include <string>
#include <string_view>

namespace helm::placed {

/// A text of another author, fit for a condition or an Event: without credentials and control
/// characters, at most 1,024 bytes.
std::string safe_message(std::string_view text);

}  // namespace helm::placed
