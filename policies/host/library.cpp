// The functions on tables and on the pack that are written in C++; the rules of text_library.cpp
// hold here too.

#include "policies/host/arguments.hpp"
#include "policies/host/hook.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace policies {
namespace {

constexpr std::size_t max_log_lines = 100, max_log_bytes = 1000;
constexpr std::ptrdiff_t max_parts = 100'000;  // of one concat

void check_table(lua_State* L, int index, const char* function) {
  if (!lua_istable(L, index))
    raise(L, "%s: argument %d: expected a table of the policy's own, got %s", function, index,
          lua_type(L, index) == LUA_TUSERDATA ? "a read-only view"
          : lua_isnoneornil(L, index)         ? "nil"
                                              : luaL_typename(L, index));
}

int table_concat(lua_State* L) {
  check_table(L, 1, "concat");
  const std::string_view between =
      lua_isnoneornil(L, 2) ? std::string_view() : text_at(L, 2, "concat");
  const std::ptrdiff_t first = integer_or(L, 3, 1, "concat");
  const std::ptrdiff_t last =
      integer_or(L, 4, static_cast<std::ptrdiff_t>(lua_objlen(L, 1)), "concat");
  if (last - first >= max_parts) raise(L, "concat: more than %td parts", max_parts);
  charge_bytes(L, static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, last - first)) * 32);
  std::size_t total = 0, size = 0;
  const auto part = [&](std::ptrdiff_t i) {
    lua_rawgeti(L, 1, static_cast<int>(i));
    if (lua_type(L, -1) != LUA_TSTRING && lua_type(L, -1) != LUA_TNUMBER)
      raise(L, "concat: entry %td: expected a string or number, got %s", i, type_name(L, -1));
    return lua_tolstring(L, -1, &size);
  };
  for (std::ptrdiff_t i = first; i <= last; ++i) {
    part(i);
    lua_pop(L, 1);
    total += size + (i != last ? between.size() : 0);
    if (total > max_text_bytes)
      raise(L, "concat: the text would be longer than %zu bytes", max_text_bytes);
  }
  charge_bytes(L, total);
  char* out = scratch(L, total);
  char* next = out;
  for (std::ptrdiff_t i = first; i <= last; ++i) {
    const char* text = part(i);
    next = std::copy(text, text + size, next);
    lua_pop(L, 1);
    if (i != last) next = std::copy(between.begin(), between.end(), next);
  }
  lua_pushlstring(L, out, total);
  return 1;
}

/// list(t): t, marked as a list; without t a new one.
int marked_list(lua_State* L) {
  if (lua_isnoneornil(L, 1)) {
    lua_newtable(L);
  } else {
    check_table(L, 1, "list");
    lua_settop(L, 1);
    if (is_marked_list(L, 1)) return 1;
    if (lua_getmetatable(L, 1) != 0) raise(L, "list: the table has a metatable of its own");
    lua_pushnil(L);
    if (lua_objlen(L, 1) == 0 && lua_next(L, 1) != 0)
      raise(L, "list: the table has names; a list has entries from 1 on");
    lua_settop(L, 1);
  }
  mark_list(L);
  return 1;
}

int table_insert(lua_State* L) {
  check_table(L, 1, "insert");
  const int size = static_cast<int>(lua_objlen(L, 1));
  if (lua_gettop(L) == 2) {
    lua_rawseti(L, 1, size + 1);
    return 0;
  }
  if (lua_gettop(L) != 3) raise(L, "insert: expected a table, a position and a value");
  const std::ptrdiff_t at = integer_at(L, 2, "insert");
  if (at < 1 || at > size + 1)
    raise(L, "insert: position %td is outside of the list (1 to %d)", at, size + 1);
  sandbox_state::of(L).charge((size - at) / 2 + 1);
  for (int i = size; i >= at; --i) {
    lua_rawgeti(L, 1, i);
    lua_rawseti(L, 1, i + 1);
  }
  lua_rawseti(L, 1, static_cast<int>(at));
  return 0;
}

int table_remove(lua_State* L) {
  check_table(L, 1, "remove");
  const int size = static_cast<int>(lua_objlen(L, 1));
  const std::ptrdiff_t at = integer_or(L, 2, size, "remove");
  if (at < 1 || at > size) return 0;
  sandbox_state::of(L).charge((size - at) / 2 + 1);
  lua_rawgeti(L, 1, static_cast<int>(at));
  for (int i = static_cast<int>(at); i < size; ++i) {
    lua_rawgeti(L, 1, i + 1);
    lua_rawseti(L, 1, i);
  }
  lua_pushnil(L);
  lua_rawseti(L, 1, size);
  return 1;
}

int table_unpack(lua_State* L) {
  check_table(L, 1, "unpack");
  const std::ptrdiff_t first = integer_or(L, 2, 1, "unpack");
  const std::ptrdiff_t last =
      integer_or(L, 3, static_cast<std::ptrdiff_t>(lua_objlen(L, 1)), "unpack");
  if (first > last) return 0;
  if (last - first >= static_cast<std::ptrdiff_t>(max_unpacked))
    raise(L, "unpack: more than %zu entries at once", max_unpacked);
  luaL_checkstack(L, static_cast<int>(last - first + 1), "unpack");
  for (std::ptrdiff_t i = first; i <= last; ++i) lua_rawgeti(L, 1, static_cast<int>(i));
  return static_cast<int>(last - first + 1);
}

/// Numbers before strings before booleans; other keys have no order that would be the same in the
/// next run.
struct sort_key {
  int rank;
  double number;
  const char* text;
  std::size_t size;
};

bool less(const sort_key& a, const sort_key& b) {
  if (a.rank != b.rank) return a.rank < b.rank;
  if (a.rank == 1) return std::string_view(a.text, a.size) < std::string_view(b.text, b.size);
  return a.number < b.number;
}

sort_key key_at(lua_State* L, int index) {
  sort_key key{2, 0, nullptr, 0};
  switch (lua_type(L, index)) {
    case LUA_TNUMBER:
      key.rank = 0;
      key.number = lua_tonumber(L, index);
      break;
    case LUA_TSTRING:
      key.rank = 1;
      key.text = lua_tolstring(L, index, &key.size);
      break;
    case LUA_TBOOLEAN: key.number = lua_toboolean(L, index); break;
    default:
      raise(L, "pairs: a table with a %s as key has no order; use names or numbers",
            type_name(L, index));
  }
  return key;
}

int key_less(lua_State* L) {
  const sort_key a = key_at(L, 1), b = key_at(L, 2);
  lua_pushboolean(L, less(a, b) ? 1 : 0);
  return 1;
}

/// keys(t): the keys as a list, how many, and whether they are in order already.
int table_keys(lua_State* L) {
  // more would take longer than a turn should; prelude.lua sorts those
  constexpr int sorted_here = 1024;
  lua_settop(L, 1);
  lua_newtable(L);
  int count = 0;
  bool ordered = true;
  sort_key before{-1, 0, nullptr, 0};
  for (lua_pushnil(L); lua_next(L, 1) != 0;) {
    lua_pop(L, 1);
    const sort_key key = key_at(L, -1);
    ordered = ordered && !less(key, before);
    before = key;
    lua_pushvalue(L, -1);
    lua_rawseti(L, 2, ++count);
  }
  sandbox_state::of(L).charge(count * 2);
  if (!ordered && count <= sorted_here) {
    auto* list =
        reinterpret_cast<sort_key*>(scratch(L, sizeof(sort_key) * static_cast<std::size_t>(count)));
    for (int i = 0; i < count; ++i) {
      lua_rawgeti(L, 2, i + 1);
      list[i] = key_at(L, -1);
      lua_pop(L, 1);  // the list keeps it alive
    }
    sandbox_state::of(L).charge(count * 10);
    std::sort(list, list + count, less);
    for (int i = 0; i < count; ++i) {
      if (list[i].rank == 0) {
        lua_pushnumber(L, list[i].number);
      } else if (list[i].rank == 1) {
        lua_pushlstring(L, list[i].text, list[i].size);  // interned, and alive as a key of t
      } else {
        lua_pushboolean(L, list[i].number != 0 ? 1 : 0);
      }
      lua_rawseti(L, 2, i + 1);
    }
    ordered = true;
  }
  lua_pushvalue(L, 2);
  lua_pushinteger(L, count);
  lua_pushboolean(L, ordered ? 1 : 0);
  return 3;
}

int plain_type(lua_State* L) {
  luaL_checkany(L, 1);
  lua_pushstring(L, type_name(L, 1));
  return 1;
}

/// "a string", "nil", "an empty table": for messages.
int describe(lua_State* L) {
  switch (lua_type(L, 1)) {
    case LUA_TNONE:
    case LUA_TNIL: lua_pushstring(L, "nil"); break;
    case LUA_TUSERDATA: lua_pushstring(L, "a read-only view"); break;
    default: lua_pushfstring(L, "a %s", luaL_typename(L, 1));
  }
  return 1;
}

/// is_slip(wrong, right): whether `right` was meant.
int slip(lua_State* L) {
  const std::string_view wrong = text_at(L, 1, "is_slip"), right = text_at(L, 2, "is_slip");
  lua_pushboolean(L, is_slip(wrong, right) ? 1 : 0);
  return 1;
}

/// check_answer(hook, answer, composes, arguments…): raises what is wrong with the answer, for
/// tests of packs. An argument that is no plain data is passed over.
int check_answer(lua_State* L) {
  const std::string_view name = text_at(L, 1, "check_answer");
  luaL_checkany(L, 2);
  const int given = lua_gettop(L);
  sandbox_state& state = sandbox_state::of(L);
  luaL_checkstack(L, 3 * static_cast<int>(state.limits.answer.depth) + 16, "answer");
  char why[400] = "";
  {
    const hook* h = state.limits.hooks ? find_hook(*state.limits.hooks, name) : nullptr;
    reactor::result<void> fine;
    auto answer = copy_out(L, 2, state.limits.answer);
    if (!answer) {
      fine = answer.error();
    } else if (h != nullptr && h->takes) {
      const auto plain = [&](int at) {
        auto copied = copy_out(L, at, state.limits.answer);
        return copied ? std::move(copied->what) : value();
      };
      const value composes = plain(3);
      std::vector<argument> question;
      for (int i = 4; i <= given; ++i) question.emplace_back(plain(i));
      fine = h->takes(answer->what, {question, composes});
    }
    if (!fine) std::snprintf(why, sizeof why, "%s", fine.error().detail.c_str());
  }
  if (why[0] != '\0') raise(L, "%s: %s", name.data(), why);
  return 0;
}

int raise_from_prelude(lua_State* L) {
  std::size_t size = 0;
  const char* text = lua_tolstring(L, 1, &size);
  raise(L, "%s", text == nullptr ? "failed" : text);
}

int log_line(lua_State* L) {
  const int count = lua_gettop(L);
  luaL_checkstack(L, 2 * count + 4, "log");
  std::size_t total = 0;
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  for (int i = 1; i <= count && total < max_log_bytes; ++i) {
    if (i > 1) luaL_addchar(&out, ' ');
    push_plain_text(L, i);
    std::size_t size = 0;
    lua_tolstring(L, -1, &size);
    total += size;
    luaL_addvalue(&out);
  }
  luaL_pushresult(&out);
  std::size_t size = 0;
  const char* text = lua_tolstring(L, -1, &size);
  call_state* call = sandbox_state::of(L).current;
  if (call != nullptr && call->log.size() < max_log_lines) {
    try {
      call->log.emplace_back(text, std::min(size, max_log_bytes));
    } catch (...) {  // no memory for a log line: the decision matters more
    }
  }
  charge_bytes(L, size);
  return 0;
}

const std::string* pack_file(lua_State* L, std::string_view name) {
  const pack_files& files = sandbox_state::of(L).files;
  const auto found = files.find(name);
  return found == files.end() ? nullptr : &found->second;
}

int read_pack_file(lua_State* L) {
  const std::string_view name = text_at(L, 1, "file");
  const std::string* content = pack_file(L, name);
  if (content == nullptr) raise(L, "file: no file '%.100s' in this pack", name.data());
  check_room(L, content->size(), "file");
  lua_pushlstring(L, content->data(), content->size());
  return 1;
}

/// compile(name, environment): the chunk of the pack's file "name.lua" ('.' separates folders).
int compile(lua_State* L) {
  const std::string_view name = text_at(L, 1, "require");
  char path[128];
  if (name.empty() || name.size() > 100)
    raise(L, "require: expected the name of a file of this pack");
  for (std::size_t i = 0; i < name.size(); ++i) path[i] = name[i] == '.' ? '/' : name[i];
  std::memcpy(path + name.size(), ".lua", 5);
  const std::string* source = pack_file(L, path);
  if (source == nullptr) raise(L, "require: no file '%s' in this pack", path);
  char chunk[256];
  std::snprintf(chunk, sizeof chunk, "@%.100s/%s", sandbox_state::of(L).label.c_str(), path);
  charge_bytes(L, source->size() * 8);
  const bool ours = sandbox_state::of(L).by == author::ourselves;
  const int loaded = ours ? load_ours(L, *source, chunk)
                          : luaL_loadbufferx(L, source->data(), source->size(), chunk, "t");
  if (loaded != 0) lua_error(L);
  lua_pushvalue(L, 2);
  lua_setfenv(L, -2);
  return 1;
}

constexpr luaL_Reg functions[] = {
    {"concat", table_concat}, {"insert", table_insert},       {"remove", table_remove},
    {"unpack", table_unpack}, {"keys", table_keys},           {"key_less", key_less},
    {"type", plain_type},     {"describe", describe},         {"raise", raise_from_prelude},
    {"log", log_line},        {"file", read_pack_file},       {"compile", compile},
    {"is_slip", slip},        {"check_answer", check_answer}, {"list", marked_list},
    {nullptr, nullptr},
};

}  // namespace

void push_library(lua_State* L) {
  lua_newtable(L);
  luaL_register(L, nullptr, functions);
  add_text_functions(L);
  add_format_functions(L);
  add_data_functions(L);
}

}  // namespace policies
