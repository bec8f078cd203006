#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace reactor {

// Text that came from elsewhere, made fit to be seen. What is not fit: control characters (C0, DEL,
// C1), bytes that are not UTF-8 (a terminal in another mode takes 0x9b for a control), what turns
// or hides other characters (bidirectional controls, zero-width and filler characters, tags),
// separators of lines and noncharacters, and more than eight marks on one character. It is shown as
// an escape ("\u001b", "\x9b"), so that a person sees the attempt. Each function leaves its
// own result as it is.

/// One line: line ends and tabs become a blank. Longer than `limit_bytes`: cut on a character,
/// ending in "…".
std::string printable(std::string_view text, std::size_t limit_bytes = 4'096);
/// Several lines: line feeds and tabs stay; a carriage return before a line feed goes.
std::string printable_lines(std::string_view text);

/// How many columns a terminal gives the text: none for combining marks, two for wide characters.
/// Shape: printable.
std::size_t columns(std::string_view text) noexcept;
/// The longest beginning of a printable text that fits into so many columns.
std::string_view first_columns(std::string_view text, std::size_t most) noexcept;

/// Appends what stands between the quotes of a JSON string; what is not fit is written as \uXXXX,
/// which a reader of JSON gets back unchanged (bytes that are not UTF-8 as U+FFFD).
void append_json_escaped(std::string& out, std::string_view text);
/// A whole JSON document: the same value, nothing in it unfit to be seen.
std::string printable_json(std::string json);

}  // namespace reactor
