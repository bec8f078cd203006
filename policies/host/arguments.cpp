#include "policies/host/arguments.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace policies {

std::string_view text_at(lua_State* L, int index, const char* function) {
  if (lua_type(L, index) == LUA_TSTRING || lua_type(L, index) == LUA_TNUMBER) {
    std::size_t size = 0;
    const char* data = lua_tolstring(L, index, &size);
    return {data, size};
  }
  raise(L, "%s: argument %d: expected a string, got %s", function, index,
        lua_isnoneornil(L, index) ? "nil" : luaL_typename(L, index));
}

double number_at(lua_State* L, int index, const char* function) {
  if (lua_isnumber(L, index)) return lua_tonumber(L, index);
  raise(L, "%s: argument %d: expected a number, got %s", function, index,
        lua_isnoneornil(L, index) ? "nil" : luaL_typename(L, index));
}

std::ptrdiff_t integer_at(lua_State* L, int index, const char* function) {
  const double n = number_at(L, index, function);
  if (!(n >= -1e15)) return static_cast<std::ptrdiff_t>(-1e15);
  return static_cast<std::ptrdiff_t>(std::min(n, 1e15));
}

std::ptrdiff_t integer_or(lua_State* L, int index, std::ptrdiff_t otherwise, const char* function) {
  return lua_isnoneornil(L, index) ? otherwise : integer_at(L, index, function);
}

void charge_bytes(lua_State* L, std::size_t bytes) {
  sandbox_state::of(L).charge(static_cast<std::int64_t>(bytes / 16) + 1);
}

void check_room(lua_State* L, std::size_t bytes, const char* function) {
  if (bytes > max_text_bytes)
    raise(L, "%s: the text would be longer than %zu bytes", function, max_text_bytes);
  charge_bytes(L, bytes);
}

char* scratch(lua_State* L, std::size_t bytes) {
  return static_cast<char*>(lua_newuserdata(L, std::max<std::size_t>(bytes, 1)));
}

const char* type_name(lua_State* L, int index) {
  return lua_type(L, index) == LUA_TUSERDATA ? "table" : luaL_typename(L, index);
}

void push_plain_text(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TSTRING: lua_pushvalue(L, index); return;
    case LUA_TNUMBER:
      lua_pushvalue(L, index);
      lua_tolstring(L, -1, nullptr);  // converts the copy
      return;
    case LUA_TBOOLEAN: lua_pushstring(L, lua_toboolean(L, index) != 0 ? "true" : "false"); return;
    case LUA_TNONE:
    case LUA_TNIL: lua_pushstring(L, "nil"); return;
    default: lua_pushstring(L, type_name(L, index));
  }
}

void policy_place(lua_State* L, char* out, std::size_t size) {
  out[0] = '\0';
  lua_Debug at;
  for (int level = 0; level < 64 && lua_getstack(L, level, &at) != 0; ++level) {
    if (lua_getinfo(L, "Sl", &at) == 0 || at.currentline <= 0) continue;
    if (std::strcmp(at.source, "=windlass") == 0) continue;
    std::snprintf(out, size, "%s:%d: ", at.short_src, at.currentline);
    return;
  }
}

void raise(lua_State* L, const char* message, ...) {
  char place[LUA_IDSIZE + 24];
  policy_place(L, place, sizeof place);
  char text[512];
  va_list arguments;
  va_start(arguments, message);
  std::vsnprintf(text, sizeof text, message, arguments);
  va_end(arguments);
  lua_pushfstring(L, "%s%s", place, text);
  lua_error(L);
  std::abort();  // lua_error does not return
}

}  // namespace policies
