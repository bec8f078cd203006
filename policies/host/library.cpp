// The functions of the sandbox that are written in C++. Each is called from Lua: none lets an exception out,
// none owns anything with a destructor where it may raise, and each charges for work in proportion to its input.

#include "policies/host/matcher.hpp"
#include "policies/host/state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace policies {
namespace {

constexpr const char* prelude_chunk = "=windlass";
constexpr std::size_t max_unpacked = 250;
constexpr std::size_t max_log_lines = 100, max_log_bytes = 1000;

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

/// Whole numbers as the language converts them, kept inside a range that cannot overflow.
std::ptrdiff_t integer_at(lua_State* L, int index, const char* function) {
  const double n = number_at(L, index, function);
  if (!(n >= -1e15)) return static_cast<std::ptrdiff_t>(-1e15);
  return static_cast<std::ptrdiff_t>(std::min(n, 1e15));
}

std::ptrdiff_t integer_or(lua_State* L, int index, std::ptrdiff_t otherwise, const char* function) {
  return lua_isnoneornil(L, index) ? otherwise : integer_at(L, index, function);
}

/// 1-based with negative numbers counting from the end, as string.sub has it.
std::ptrdiff_t from_end(std::ptrdiff_t position, std::size_t size) {
  if (position >= 0) return position;
  return std::max<std::ptrdiff_t>(0, position + static_cast<std::ptrdiff_t>(size) + 1);
}

void charge_bytes(lua_State* L, std::size_t bytes) {
  sandbox_state::of(L).charge(static_cast<std::int64_t>(bytes / 16) + 1);
}

void check_room(lua_State* L, std::size_t bytes, const char* function) {
  if (bytes > max_text_bytes)
    raise(L, "%s: the text would be longer than %zu bytes", function, max_text_bytes);
  charge_bytes(L, bytes);
}

/// Scratch memory that the collector frees; valid while it is on the stack.
char* scratch(lua_State* L, std::size_t bytes) {
  return static_cast<char*>(lua_newuserdata(L, std::max<std::size_t>(bytes, 1)));
}

// ------------------------------------------------------------------------------------------- text

int text_len(lua_State* L) {
  lua_pushinteger(L, static_cast<lua_Integer>(text_at(L, 1, "len").size()));
  return 1;
}

int text_sub(lua_State* L) {
  const std::string_view text = text_at(L, 1, "sub");
  std::ptrdiff_t first =
      std::max<std::ptrdiff_t>(1, from_end(integer_or(L, 2, 1, "sub"), text.size()));
  const std::ptrdiff_t last = std::min(from_end(integer_or(L, 3, -1, "sub"), text.size()),
                                       static_cast<std::ptrdiff_t>(text.size()));
  if (first > last) {
    lua_pushlstring(L, "", 0);
    return 1;
  }
  const auto size = static_cast<std::size_t>(last - first + 1);
  charge_bytes(L, size);
  lua_pushlstring(L, text.data() + first - 1, size);
  return 1;
}

int text_byte(lua_State* L) {
  const std::string_view text = text_at(L, 1, "byte");
  const std::ptrdiff_t start = integer_or(L, 2, 1, "byte");
  std::ptrdiff_t first = std::max<std::ptrdiff_t>(1, from_end(start, text.size()));
  const std::ptrdiff_t last =
      std::min(from_end(integer_or(L, 3, from_end(start, text.size()), "byte"), text.size()),
               static_cast<std::ptrdiff_t>(text.size()));
  if (first > last) return 0;
  const auto count = static_cast<std::size_t>(last - first + 1);
  if (count > max_unpacked) raise(L, "byte: more than %zu characters at once", max_unpacked);
  luaL_checkstack(L, static_cast<int>(count), "byte");
  for (std::ptrdiff_t i = first; i <= last; ++i)
    lua_pushinteger(L, static_cast<unsigned char>(text[static_cast<std::size_t>(i - 1)]));
  return static_cast<int>(count);
}

int text_char(lua_State* L) {
  char out[max_unpacked];
  const int count = lua_gettop(L);
  if (count > static_cast<int>(max_unpacked))
    raise(L, "char: more than %zu characters at once", max_unpacked);
  for (int i = 1; i <= count; ++i) {
    const double code = number_at(L, i, "char");
    if (!(code >= 0 && code < 256)) raise(L, "char: argument %d: expected 0 to 255", i);
    out[i - 1] = static_cast<char>(static_cast<unsigned char>(code));
  }
  lua_pushlstring(L, out, static_cast<std::size_t>(count));
  return 1;
}

template <class Change>
int transformed(lua_State* L, const char* function, Change change) {
  const std::string_view text = text_at(L, 1, function);
  check_room(L, text.size(), function);
  char* out = scratch(L, text.size());
  change(text, out);
  lua_pushlstring(L, out, text.size());
  return 1;
}

int text_lower(lua_State* L) {
  return transformed(L, "lower", [](std::string_view text, char* out) {
    for (const char c : text) *out++ = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
}

int text_upper(lua_State* L) {
  return transformed(L, "upper", [](std::string_view text, char* out) {
    for (const char c : text) *out++ = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
}

int text_reverse(lua_State* L) {
  return transformed(L, "reverse", [](std::string_view text, char* out) {
    std::reverse_copy(text.begin(), text.end(), out);
  });
}

int text_rep(lua_State* L) {
  const std::string_view text = text_at(L, 1, "rep");
  const std::ptrdiff_t count = integer_at(L, 2, "rep");
  const std::string_view between =
      lua_isnoneornil(L, 3) ? std::string_view() : text_at(L, 3, "rep");
  if (count <= 0 || text.size() + between.size() == 0) {
    lua_pushlstring(L, "", 0);
    return 1;
  }
  const auto times = static_cast<std::size_t>(count);
  if (times > max_text_bytes)
    raise(L, "rep: the text would be longer than %zu bytes", max_text_bytes);
  const std::size_t size = times * text.size() + (times - 1) * between.size();
  check_room(L, size, "rep");
  char* out = scratch(L, size);
  char* next = out;
  for (std::size_t i = 0; i < times; ++i) {
    if (i != 0) next = std::copy(between.begin(), between.end(), next);
    next = std::copy(text.begin(), text.end(), next);
  }
  lua_pushlstring(L, out, size);
  return 1;
}

// --------------------------------------------------------------------------------------- patterns

[[noreturn]] void refuse_pattern(lua_State* L, const matcher& m) {
  raise(L, "%s", m.error());
}

void push_capture(lua_State* L, matcher& m, std::size_t index, std::string_view text,
                  const matcher::span& whole) {
  const matcher::capture capture = m.get(index, whole);
  if (m.error() != nullptr) refuse_pattern(L, m);
  if (capture.length == matcher::position) {
    lua_pushinteger(L, static_cast<lua_Integer>(capture.begin + 1));
  } else {
    charge_bytes(L, static_cast<std::size_t>(capture.length));
    lua_pushlstring(L, text.data() + capture.begin, static_cast<std::size_t>(capture.length));
  }
}

int push_captures(lua_State* L, matcher& m, std::size_t at_least, std::string_view text,
                  const matcher::span& whole) {
  const std::size_t count = std::max(at_least, m.captures());
  luaL_checkstack(L, static_cast<int>(count), "too many captures");
  for (std::size_t i = 0; i < count; ++i) push_capture(L, m, i, text, whole);
  return static_cast<int>(count);
}

enum class wants { place, captures };

int find_or_match(lua_State* L, const char* function, wants what) {
  const std::string_view text = text_at(L, 1, function), pattern = text_at(L, 2, function);
  const std::ptrdiff_t init =
      std::max<std::ptrdiff_t>(1, from_end(integer_or(L, 3, 1, function), text.size()));
  // Lua 5.1 clamps a start behind the end to the end.
  const std::size_t from = std::min(static_cast<std::size_t>(init - 1), text.size());
  matcher m(text, pattern, max_match_steps);
  matcher::span whole;
  const bool plain =
      what == wants::place && (lua_toboolean(L, 4) != 0 || is_literal_pattern(pattern));
  const bool found = plain ? m.search_plain(from, whole) : m.search(from, whole);
  sandbox_state::of(L).charge(static_cast<std::int64_t>(m.steps()));
  if (m.error() != nullptr) refuse_pattern(L, m);
  if (!found) {
    lua_pushnil(L);
    return 1;
  }
  if (what == wants::captures) return push_captures(L, m, 1, text, whole);
  lua_pushinteger(L, static_cast<lua_Integer>(whole.begin + 1));
  lua_pushinteger(L, static_cast<lua_Integer>(whole.end));
  return 2 + push_captures(L, m, 0, text, whole);
}

int text_find(lua_State* L) {
  return find_or_match(L, "find", wants::place);
}

int text_match(lua_State* L) {
  return find_or_match(L, "match", wants::captures);
}

/// find_from(text, pattern, from, pinned): first, last and the captures of the next match; '^' is an ordinary
/// character, `pinned` allows a match at `from` only. What gmatch and gsub are made of.
int find_from(lua_State* L) {
  const std::string_view text = text_at(L, 1, "match"), pattern = text_at(L, 2, "match");
  const std::ptrdiff_t from = integer_at(L, 3, "match") - 1;
  if (from < 0 || static_cast<std::size_t>(from) > text.size()) return 0;
  matcher m(text, pattern, max_match_steps);
  matcher::span whole;
  const bool found = lua_toboolean(L, 4) != 0
                         ? m.match_at(static_cast<std::size_t>(from), whole)
                         : m.search_unanchored(static_cast<std::size_t>(from), whole);
  sandbox_state::of(L).charge(static_cast<std::int64_t>(m.steps()));
  if (m.error() != nullptr) refuse_pattern(L, m);
  if (!found) return 0;
  lua_pushinteger(L, static_cast<lua_Integer>(whole.begin + 1));
  lua_pushinteger(L, static_cast<lua_Integer>(whole.end));
  return 2 + push_captures(L, m, 0, text, whole);
}

/// expand(replacement, whole, captures…): what "%0" to "%9" stand for, put in.
int expand(lua_State* L) {
  const std::string_view pattern = text_at(L, 1, "gsub");
  const int captures = lua_gettop(L) - 2;
  if (pattern.find('%') == std::string_view::npos) {
    lua_pushvalue(L, 1);
    return 1;
  }
  const auto capture = [&](char digit) -> std::string_view {
    const int index = digit == '0' || (digit == '1' && captures == 0) ? 2 : 2 + (digit - '0');
    if (index > captures + 2) raise(L, "invalid capture index");
    return text_at(L, index, "gsub");
  };
  std::size_t size = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      ++size;
    } else if (++i < pattern.size()) {
      size += pattern[i] >= '0' && pattern[i] <= '9' ? capture(pattern[i]).size() : 1;
    } else {
      ++size;  // a '%' at the very end stands for a zero byte in Lua 5.1
    }
  }
  check_room(L, size, "gsub");
  char* out = scratch(L, size);
  char* next = out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      *next++ = pattern[i];
    } else if (++i < pattern.size()) {
      if (pattern[i] >= '0' && pattern[i] <= '9') {
        const std::string_view text = capture(pattern[i]);
        next = std::copy(text.begin(), text.end(), next);
      } else {
        *next++ = pattern[i];
      }
    } else {
      *next++ = '\0';
    }
  }
  lua_pushlstring(L, out, size);
  return 1;
}

// ----------------------------------------------------------------------------------------- format

/// Views look like tables to a policy.
const char* type_name(lua_State* L, int index) {
  return lua_type(L, index) == LUA_TUSERDATA ? "table" : luaL_typename(L, index);
}

/// As the language's tostring, but without addresses: those differ between runs. Replaces nothing on the stack,
/// pushes the text.
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

int plain_tostring(lua_State* L) {
  luaL_checkany(L, 1);
  push_plain_text(L, 1);
  return 1;
}

void add_quoted(luaL_Buffer* out, std::string_view text) {
  luaL_addchar(out, '"');
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '\n') {
      luaL_addchar(out, '\\');
      luaL_addchar(out, c);
    } else if (c == '\r') {
      luaL_addstring(out, "\\r");
    } else if (c == '\0') {
      luaL_addstring(out, "\\000");
    } else {
      luaL_addchar(out, c);
    }
  }
  luaL_addchar(out, '"');
}

int format(lua_State* L) {
  const std::string_view pattern = text_at(L, 1, "format");
  charge_bytes(L, pattern.size());
  const int given = lua_gettop(L);
  int argument = 1;
  std::size_t total = pattern.size();
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      luaL_addchar(&out, pattern[i]);
      continue;
    }
    if (++i < pattern.size() && pattern[i] == '%') {
      luaL_addchar(&out, '%');
      continue;
    }
    char spec[24] = "%";
    std::size_t length = 1;
    const auto take = [&](std::string_view allowed, std::size_t most) {
      for (std::size_t n = 0;
           n < most && i < pattern.size() && allowed.find(pattern[i]) != std::string_view::npos;
           ++n)
        spec[length++] = pattern[i++];
    };
    take("-+ #0", 5);
    take("0123456789", 2);
    if (i < pattern.size() && pattern[i] == '.') {
      spec[length++] = pattern[i++];
      take("0123456789", 2);
    }
    const char conversion = i < pattern.size() ? pattern[i] : '\0';
    if (++argument > given && conversion != '\0' &&
        std::strchr("cdiuoxXeEfgGqs", conversion) != nullptr)
      raise(L, "format: argument %d: missing", argument);
    char text[512];
    int written = 0;
    switch (conversion) {
      case 'c': {
        const char c = static_cast<char>(integer_at(L, argument, "format"));
        luaL_addlstring(&out, &c, 1);
        continue;
      }
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X': {
        const double n = number_at(L, argument, "format");
        if (!(std::fabs(n) < 9.2e18))
          raise(L, "format: argument %d: no representation as a whole number", argument);
        std::memcpy(spec + length, "ll", 2);
        spec[length + 2] = conversion == 'i' ? 'd' : conversion;
        spec[length + 3] = '\0';
        written = std::snprintf(text, sizeof text, spec, static_cast<long long>(n));
        break;
      }
      case 'e':
      case 'E':
      case 'f':
      case 'g':
      case 'G':
        spec[length] = conversion;
        spec[length + 1] = '\0';
        written = std::snprintf(text, sizeof text, spec, number_at(L, argument, "format"));
        break;
      case 'q': {
        const std::string_view quoted = text_at(L, argument, "format");
        total += quoted.size();
        check_room(L, total, "format");
        add_quoted(&out, quoted);
        continue;
      }
      case 's': {
        push_plain_text(L, argument);
        std::size_t size = 0;
        const char* plain = lua_tolstring(L, -1, &size);
        total += size;
        check_room(L, total, "format");
        if (length == 1 || size >= 100) {  // nothing to pad
          luaL_addvalue(&out);
          continue;
        }
        spec[length] = 's';
        spec[length + 1] = '\0';
        written = std::snprintf(text, sizeof text, spec, plain);
        lua_pop(L, 1);
        break;
      }
      default:
        raise(L, "format: no conversion '%.*s'",
              static_cast<int>(std::min<std::size_t>(length + 1, 8)),
              pattern.data() + (i - length));
    }
    if (written > 0)
      luaL_addlstring(&out, text,
                      std::min<std::size_t>(static_cast<std::size_t>(written), sizeof text - 1));
  }
  luaL_pushresult(&out);
  return 1;
}

int to_number(lua_State* L) {
  const std::ptrdiff_t base = integer_or(L, 2, 10, "tonumber");
  if (base < 2 || base > 36) raise(L, "tonumber: argument 2: expected a base from 2 to 36");
  if (base == 10) {
    if (lua_type(L, 1) == LUA_TSTRING && lua_objlen(L, 1) > 400) {
      lua_pushnil(L);
    } else if (lua_isnumber(L, 1)) {
      lua_pushnumber(L, lua_tonumber(L, 1));
    } else {
      luaL_checkany(L, 1);
      lua_pushnil(L);
    }
    return 1;
  }
  const std::string_view text = text_at(L, 1, "tonumber");
  char* end = nullptr;
  const unsigned long long n =
      text.size() > 400 ? 0 : std::strtoull(text.data(), &end, static_cast<int>(base));
  if (end == nullptr || end == text.data()) {
    lua_pushnil(L);
    return 1;
  }
  while (*end == ' ' || (*end >= '\t' && *end <= '\r')) ++end;
  if (end == text.data() + text.size()) {
    lua_pushnumber(L, static_cast<double>(n));
  } else {
    lua_pushnil(L);
  }
  return 1;
}

// ----------------------------------------------------------------------------------------- tables

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
  if (last - first >= static_cast<std::ptrdiff_t>(max_text_bytes))
    raise(L, "concat: too many parts");
  std::size_t total = 0;
  luaL_Buffer out;
  luaL_buffinit(L, &out);
  for (std::ptrdiff_t i = first; i <= last; ++i) {
    lua_rawgeti(L, 1, static_cast<int>(i));
    if (lua_type(L, -1) != LUA_TSTRING && lua_type(L, -1) != LUA_TNUMBER)
      raise(L, "concat: entry %td: expected a string or number, got %s", i, type_name(L, -1));
    std::size_t size = 0;
    lua_tolstring(L, -1, &size);
    total += size + between.size();
    if (total > max_text_bytes)
      raise(L, "concat: the text would be longer than %zu bytes", max_text_bytes);
    luaL_addvalue(&out);
    if (i != last) luaL_addlstring(&out, between.data(), between.size());
  }
  charge_bytes(L, total + static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, last - first)) * 32);
  luaL_pushresult(&out);
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

/// Numbers before strings before booleans; other keys have no order that would be the same in the next run.
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
  constexpr int sorted_here =
      1024;  // more would take longer than a turn should; prelude.lua sorts those
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

// ------------------------------------------------------------------------------------- the rest

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
  if (!source->empty() && source->front() == LUA_SIGNATURE[0])
    raise(L, "%s:1: is compiled Lua; only source text is accepted", chunk + 1);
  charge_bytes(L, source->size() * 8);
  struct reading {
    const std::string* source;
    bool done;
  } state{source, false};
  const auto read = [](lua_State*, void* data, std::size_t* size) -> const char* {
    auto* r = static_cast<reading*>(data);
    if (r->done) return nullptr;
    r->done = true;
    *size = r->source->size();
    return r->source->data();
  };
  if (lua_loadx(L, read, &state, chunk, "t") != 0) lua_error(L);
  lua_pushvalue(L, 2);
  lua_setfenv(L, -2);
  return 1;
}

constexpr luaL_Reg functions[] = {
    {"len", text_len},         {"sub", text_sub},
    {"byte", text_byte},       {"char", text_char},
    {"lower", text_lower},     {"upper", text_upper},
    {"reverse", text_reverse}, {"rep", text_rep},
    {"find", text_find},       {"match", text_match},
    {"find_from", find_from},  {"expand", expand},
    {"format", format},        {"tostring", plain_tostring},
    {"tonumber", to_number},   {"concat", table_concat},
    {"insert", table_insert},  {"remove", table_remove},
    {"unpack", table_unpack},  {"keys", table_keys},
    {"key_less", key_less},    {"type", plain_type},
    {"describe", describe},    {"raise", raise_from_prelude},
    {"log", log_line},         {"file", read_pack_file},
    {"compile", compile},      {nullptr, nullptr},
};

}  // namespace

void policy_place(lua_State* L, char* out, std::size_t size) {
  out[0] = '\0';
  lua_Debug at;
  for (int level = 0; level < 64 && lua_getstack(L, level, &at) != 0; ++level) {
    if (lua_getinfo(L, "Sl", &at) == 0 || at.currentline <= 0) continue;
    if (std::strcmp(at.source, prelude_chunk) == 0) continue;
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

void push_library(lua_State* L) {
  lua_newtable(L);
  luaL_register(L, nullptr, functions);
}

}  // namespace policies
