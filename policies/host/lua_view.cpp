// Views as Lua sees them: userdata of three words, valid in the call that received them.

#include "policies/host/state.hpp"

namespace policies {
namespace {

constexpr std::int64_t access_steps = 8;  // a lookup and an interned string cost about as much

struct view_reference {
  const view_type* type;
  const void* object;
  std::uint64_t call;
};

view_reference* view_at(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA || lua_getmetatable(L, index) == 0) return nullptr;
  const bool ours = lua_topointer(L, -1) == sandbox_state::of(L).view_metatable;
  lua_pop(L, 1);
  return ours ? static_cast<view_reference*>(lua_touserdata(L, index)) : nullptr;
}

/// The view behind `index`, which must belong to the running call: the snapshots of earlier ones
/// are gone.
view_reference& live_view(lua_State* L, int index) {
  view_reference* v = view_at(L, index);
  sandbox_state& state = sandbox_state::of(L);
  if (v == nullptr) raise(L, "expected a view");
  if (state.current == nullptr || state.current->id != v->call)
    raise(L, "this %s is from an earlier call; copy what should stay", v->type->name);
  state.charge(access_steps);
  return *v;
}

void push_slot(lua_State* L, const slot& s) {
  switch (s.is) {
    case slot::kind::nil: lua_pushnil(L); break;
    case slot::kind::boolean: lua_pushboolean(L, s.boolean ? 1 : 0); break;
    case slot::kind::number: lua_pushnumber(L, s.number); break;
    case slot::kind::text: lua_pushlstring(L, s.text.data(), s.text.size()); break;
    case slot::kind::view: push_view(L, s.type, s.object); break;
  }
}

/// The field that was meant by `wrong`; empty: none comes near.
std::string_view meant_field(const view_reference& v, std::string_view wrong) {
  for (auto name = v.type->next(v.object, std::nullopt); name;
       name = v.type->next(v.object, name)) {
    if (is_slip(wrong, *name)) return *name;
  }
  return {};
}

int index_view(lua_State* L) {
  const view_reference& v = live_view(L, 1);
  if (v.type->is == view_type::form::array) {
    if (lua_type(L, 2) == LUA_TNUMBER) {
      const double n = lua_tonumber(L, 2);
      if (n >= 1 && n <= static_cast<double>(v.type->size(v.object))) {
        const auto i = static_cast<std::size_t>(n);
        if (static_cast<double>(i) == n) {
          push_slot(L, v.type->at(v.object, i - 1));
          return 1;
        }
      }
    }
    lua_pushnil(L);
    return 1;
  }
  if (lua_type(L, 2) != LUA_TSTRING) {
    lua_pushnil(L);
    return 1;
  }
  std::size_t size = 0;
  const char* key = lua_tolstring(L, 2, &size);
  const std::optional<slot> found = v.type->find(v.object, {key, size});
  if (found) {
    push_slot(L, *found);
  } else if (v.type->is == view_type::form::record) {
    // a typing error, not an absent value
    const std::string_view meant = meant_field(v, {key, size});
    raise(L, "a %s has no field '%.60s'%s%.*s%s", v.type->name, key,
          meant.empty() ? "" : ", is it ", static_cast<int>(meant.size()), meant.data(),
          meant.empty() ? "" : "?");
  } else {
    lua_pushnil(L);
  }
  return 1;
}

int refuse_change(lua_State* L) {
  raise(L, "a %s is read-only", live_view(L, 1).type->name);
}

int view_length(lua_State* L) {
  const view_reference& v = live_view(L, 1);
  lua_pushinteger(L, v.type->is == view_type::form::array
                         ? static_cast<lua_Integer>(v.type->size(v.object))
                         : 0);
  return 1;
}

int same_view(lua_State* L) {
  const view_reference *a = view_at(L, 1), *b = view_at(L, 2);
  lua_pushboolean(L, a != nullptr && b != nullptr && a->type == b->type && a->object == b->object &&
                         a->call == b->call);
  return 1;
}

/// is_list(t): a view of a list, a table that is marked as one or has entries from 1 on.
int is_list(lua_State* L) {
  const view_reference* v = view_at(L, 1);
  const bool list = v != nullptr        ? v->type->is == view_type::form::array
                    : lua_istable(L, 1) ? lua_objlen(L, 1) > 0 || is_marked_list(L, 1)
                                        : false;
  lua_pushboolean(L, list ? 1 : 0);
  return 1;
}

int is_view(lua_State* L) {
  lua_pushboolean(L, view_at(L, 1) != nullptr ? 1 : 0);
  return 1;
}

/// What pairs(view) iterates with.
int view_next(lua_State* L) {
  const view_reference& v = live_view(L, 1);
  if (v.type->is == view_type::form::array) {
    const double before = lua_tonumber(L, 2);
    if (!(before >= 0 && before < static_cast<double>(v.type->size(v.object)))) return 0;
    const auto i = static_cast<std::size_t>(before);
    lua_pushinteger(L, static_cast<lua_Integer>(i + 1));
    push_slot(L, v.type->at(v.object, i));
    return 2;
  }
  std::optional<std::string_view> key;
  if (lua_type(L, 2) == LUA_TSTRING) {
    std::size_t size = 0;
    const char* data = lua_tolstring(L, 2, &size);
    key.emplace(data, size);
  }
  // Absent optional fields are skipped: pairs ends at no value, only at the last key.
  for (;;) {
    key = v.type->next(v.object, key);
    if (!key) return 0;
    const std::optional<slot> found = v.type->find(v.object, *key);
    if (!found || found->is == slot::kind::nil) continue;
    lua_pushlstring(L, key->data(), key->size());
    push_slot(L, *found);
    return 2;
  }
}

}  // namespace

void push_view(lua_State* L, const view_type* type, const void* object) {
  auto* v = static_cast<view_reference*>(lua_newuserdata(L, sizeof(view_reference)));
  call_state* call = sandbox_state::of(L).current;
  *v = {type, object, call == nullptr ? 0 : call->id};
  lua_rawgeti(L, LUA_REGISTRYINDEX, sandbox_state::of(L).view_metatable_at);
  lua_setmetatable(L, -2);
}

void prepare_views(lua_State* L) {
  constexpr luaL_Reg methods[] = {
      {"__index", index_view}, {"__newindex", refuse_change},
      {"__len", view_length},  {"__eq", same_view},
      {nullptr, nullptr},
  };
  lua_newtable(L);
  luaL_register(L, nullptr, methods);
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  sandbox_state& state = sandbox_state::of(L);
  state.view_metatable = lua_topointer(L, -1);
  state.view_metatable_at = luaL_ref(L, LUA_REGISTRYINDEX);
}

void add_view_functions(lua_State* L) {
  lua_pushcfunction(L, is_view);
  lua_setfield(L, -2, "is_view");
  lua_pushcfunction(L, view_next);
  lua_setfield(L, -2, "view_next");
  lua_pushcfunction(L, is_list);
  lua_setfield(L, -2, "is_list");
}

void prepare_lists(lua_State* L) {
  lua_newtable(L);
  // It is one for all lists of the sandbox: a policy must not reach it.
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  sandbox_state& state = sandbox_state::of(L);
  state.list_metatable = lua_topointer(L, -1);
  state.list_metatable_at = luaL_ref(L, LUA_REGISTRYINDEX);
}

void mark_list(lua_State* L) {
  lua_rawgeti(L, LUA_REGISTRYINDEX, sandbox_state::of(L).list_metatable_at);
  lua_setmetatable(L, -2);
}

bool is_marked_list(lua_State* L, int index) {
  if (lua_getmetatable(L, index) == 0) return false;
  const bool marked = lua_topointer(L, -1) == sandbox_state::of(L).list_metatable;
  lua_pop(L, 1);
  return marked;
}

}  // namespace policies
