#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace policies {

struct source_problem {
  int line = 0;
  std::string reason;
};

/// What must not reach LuaJIT's parser: compiled Lua, which it trusts, and the literals 1LL, 1ULL
/// and 1i, at which it loads its FFI: not safe to interrupt for lack of memory, and nothing that a
/// policy may have.
/// Shape    reads the tokens as LuaJIT does: strings, comments, long brackets. Stops silently where
///          LuaJIT would.
/// Source   LuaJIT 2.1, lj_lex.c and lj_strscan.c
std::optional<source_problem> check_source(std::string_view source);

}  // namespace policies
