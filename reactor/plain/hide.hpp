#pragma once

#include <string>
#include <string_view>

namespace reactor {

/// Puts "***" for `secret` in a text of a peer that was sent it, and for its beginning where that
/// text was cut. Below six bytes it stands in many a word by chance and nothing is done. (redact()
/// knows forms; this one knows what it looks for.)
void hide(std::string& text, std::string_view secret);

}  // namespace reactor
