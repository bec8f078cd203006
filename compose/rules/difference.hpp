#pragma once

#include "policies/host/value.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace policies::compose {

/// Whether `there` has all that `asked` asks for: members and texts as they are, lists of named
/// elements by their names, other lists element by element. Nothing, an empty table and an empty
/// list are the same.
bool covers(const value& there, const value& asked);
bool same(const value& a, const value& b);

/// The merge patch (RFC 7386) that makes `from` into `to`; null: nothing to do.
value merge_patch_between(const value& from, const value& to);

/// What an apply of `asked` would change of `there`, a line each: "spec.replicas: 2 → 3". 40 at
/// most, then how many more.
std::vector<std::string> differences(const value& there, const value& asked);

/// A text as a line shows it: printable, quoted, short.
std::string shown(const value& v);

}  // namespace policies::compose
