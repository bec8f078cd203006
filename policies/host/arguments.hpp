#pragma once

// Inside policies/host only: how the C++ functions of the sandbox read their arguments.

#include "policies/host/state.hpp"

#include <cstddef>
#include <string_view>

namespace policies {

/// As many values as a function takes or gives at once.
inline constexpr std::size_t max_unpacked = 250;

/// These raise "<function>: argument 2: expected a number, got nil".
std::string_view text_at(lua_State* L, int index, const char* function);
double number_at(lua_State* L, int index, const char* function);
/// Whole numbers as the language converts them, kept inside a range that cannot overflow.
std::ptrdiff_t integer_at(lua_State* L, int index, const char* function);
std::ptrdiff_t integer_or(lua_State* L, int index, std::ptrdiff_t otherwise, const char* function);

void charge_bytes(lua_State* L, std::size_t bytes);
/// Charges for a text that is about to be made; raises when it would be too long.
void check_room(lua_State* L, std::size_t bytes, const char* function);
/// Scratch memory that the collector frees; valid while it is on the stack.
char* scratch(lua_State* L, std::size_t bytes);

/// Views look like tables to a policy.
const char* type_name(lua_State* L, int index);
/// As the language's tostring, but without addresses: those differ between runs. Pushes the text.
void push_plain_text(lua_State* L, int index);

/// Adds the functions on text to the table on top. May raise.
void add_text_functions(lua_State* L);
/// Adds the functions on versions and digests to the table on top. May raise.
void add_format_functions(lua_State* L);
/// Adds TOML, base64, digests and times to the table on top. May raise.
void add_data_functions(lua_State* L);

}  // namespace policies
