#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace helm {

/// Who does what a verb says: about this program itself, on charts, on releases of a cluster, on
/// places that charts come from.
enum class verb_family : std::uint8_t { about, chart, release, source, refused };
/// What a verb is told besides flags, for completion.
enum class verb_argument : std::uint8_t { none, path, release_name, repository_name, word };

/// A command of Helm, or a group of them.
struct verb {
  std::string_view name;   // "get values"
  std::string_view takes;  // "RELEASE"
  std::string_view about;  // of one that is refused: why
  verb_family family;
  verb_argument argument = verb_argument::none;
  std::string_view others = {};  // what its last word may also be
};

/// Every verb of Helm 3 and its groups, by name. There is no other list of them.
std::span<const verb> verbs();
/// The longest verb that the arguments begin with, by any of its names; a group where its own verb
/// is missing or unknown. Null where there is none.
const verb* find_verb(std::span<const std::string> arguments);
bool is_group(const verb& v);
/// The verbs below a group.
std::vector<const verb*> verbs_in(const verb& group);
/// How many words its name has.
std::size_t words_of(const verb& v);
/// The arguments with the verb under its own name.
std::vector<std::string> spelled_out(std::span<const std::string> arguments);

}  // namespace helm
