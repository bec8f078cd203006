// The functions on text that are written in C++. Each is called from Lua: none lets an exception
// out, none owns anything with a destructor where it may raise, and each charges for work in
// proportion to its input.

#include "policies/host/arguments.hpp"
#include "policies/host/matcher.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace policies {
namespace {

/// 1-based with negative numbers counting from the end, as string.sub has it.
std::ptrdiff_t from_end(std::ptrdiff_t position, std::size_t size) {
  if (position >= 0) return position;
  return std::max<std::ptrdiff_t>(0, position + static_cast<std::ptrdiff_t>(size) + 1);
}

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

/// Its length is work that no step counts.
void check_pattern(lua_State* L, std::string_view pattern, const char* function) {
  if (pattern.size() > max_pattern_bytes)
    raise(L, "%s: the pattern is longer than %zu bytes", function, max_pattern_bytes);
}

enum class wants { place, captures };

int find_or_match(lua_State* L, const char* function, wants what) {
  const std::string_view text = text_at(L, 1, function), pattern = text_at(L, 2, function);
  const std::ptrdiff_t init =
      std::max<std::ptrdiff_t>(1, from_end(integer_or(L, 3, 1, function), text.size()));
  // Lua 5.1 clamps a start behind the end to the end.
  const std::size_t from = std::min(static_cast<std::size_t>(init - 1), text.size());
  matcher::span whole;
  bool plain = what == wants::place && lua_toboolean(L, 4) != 0;
  if (!plain) check_pattern(L, pattern, function);
  matcher m(text, pattern, max_match_steps);
  plain = plain || (what == wants::place && is_literal_pattern(pattern));
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

/// find_from(text, pattern, from, pinned): first, last and the captures of the next match; '^' is
/// an ordinary character, `pinned` allows a match at `from` only. What gmatch and gsub are made of.
int find_from(lua_State* L) {
  const std::string_view text = text_at(L, 1, "match"), pattern = text_at(L, 2, "match");
  const std::ptrdiff_t from = integer_at(L, 3, "match") - 1;
  if (from < 0 || static_cast<std::size_t>(from) > text.size()) return 0;
  check_pattern(L, pattern, "match");
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
  charge_bytes(L, pattern.size() * 4);
  // Looked up once: a replacement may name them a hundred thousand times.
  std::string_view known[10];
  bool exists[10] = {};
  for (int digit = 0; digit < 10; ++digit) {
    const int index = digit == 0 || (digit == 1 && captures == 0) ? 2 : 2 + digit;
    exists[digit] = index <= captures + 2;
    if (exists[digit]) known[digit] = text_at(L, index, "gsub");
  }
  const auto capture = [&](char digit) {
    if (!exists[digit - '0']) raise(L, "invalid capture index");
    return known[digit - '0'];
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

constexpr luaL_Reg functions[] = {
    {"len", text_len},         {"sub", text_sub},
    {"byte", text_byte},       {"char", text_char},
    {"lower", text_lower},     {"upper", text_upper},
    {"reverse", text_reverse}, {"rep", text_rep},
    {"find", text_find},       {"match", text_match},
    {"find_from", find_from},  {"expand", expand},
    {"format", format},        {"tostring", plain_tostring},
    {"tonumber", to_number},   {nullptr, nullptr},
};

}  // namespace

void add_text_functions(lua_State* L) {
  luaL_register(L, nullptr, functions);
}

}  // namespace policies
