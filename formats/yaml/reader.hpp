#pragma once

#include "formats/go/value.hpp"
#include "formats/plain/problem.hpp"

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace formats {

/// What numbers become: always float64, as after the detour through JSON that values take, or
/// int64/uint64 and float64 for those who must turn them back into text.
enum class yaml_numbers : bool { floats, typed };

/// What a key that a mapping holds twice means: the later value, or an error that names the line.
enum class yaml_keys : bool { last_wins, unique };

/// Reads the first document of a YAML 1.1 text as Helm does: with go-yaml's words, numbers, merges
/// and limits, keys made into text.
/// Shape    nil for an empty text.
/// Errors   what go-yaml says: "yaml: line 3: mapping values are not allowed in this context".
outcome<value> read_go_yaml(std::string_view text, yaml_numbers numbers = yaml_numbers::floats,
                            yaml_keys keys = yaml_keys::last_wins);

/// read_go_yaml of a document of which only some members of the top level matter, named in any
/// case; the others may be left out. Shape: numbers are typed. Errors: those of read_go_yaml,
/// at any depth of the document.
outcome<value> read_go_yaml_outline(std::string_view text,
                                    std::span<const std::string_view> wanted);

/// read_go_yaml of a long document of which only what `path` leads to, through maps, is asked for,
/// and the scalars beside each step. The rest is passed over as it is read and takes no memory.
/// Shape    numbers are typed, keys are unique; nothing of the path that is not there.
/// Errors   those of read_go_yaml; also an alias of what was passed over.
outcome<value> read_go_yaml_along(std::string_view text, std::span<const std::string_view> path);

/// Gives the next bytes of a text, as many as fit into `room`; 0 at its end.
using text_source = std::function<std::size_t(char* into, std::size_t room)>;
/// The same of a text that comes in pieces and is held nowhere.
outcome<value> read_go_yaml_along(const text_source& from, std::span<const std::string_view> path);

/// read_go_yaml for a place that needs a map (an empty text is an empty map) or a list, with the
/// prefixes of Helm's decoder: "error converting YAML to JSON: …", "error unmarshaling JSON: while
/// decoding JSON: …".
outcome<value> read_go_yaml_map(std::string_view text, yaml_numbers numbers = yaml_numbers::floats);
outcome<value> read_go_yaml_list(std::string_view text);

/// How a JSON value is named when it does not fit: object, array, string, number, bool.
std::string_view json_kind(const value& v);

/// A typed scalar turned into text where the field is a string: ints as they are, floats with
/// 32-bit precision. Anything else is left alone.
value text_of_scalar(const value& v);

}  // namespace formats
