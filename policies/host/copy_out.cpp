#include "policies/host/state.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace policies {
namespace {

using reactor::errc;
using reactor::result;

bool valid_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    // Nearly all of it is ASCII: eight at a time.
    for (std::uint64_t eight; text.size() - i >= sizeof eight; i += sizeof eight) {
      std::memcpy(&eight, text.data() + i, sizeof eight);
      if ((eight & 0x8080808080808080u) != 0) break;
    }
    if (i == text.size()) break;
    const auto lead = static_cast<unsigned char>(text[i++]);
    if (lead < 0x80) continue;
    int more;
    std::uint32_t code, least;
    if (lead >= 0xC2 && lead <= 0xDF) {
      more = 1, code = lead & 0x1Fu, least = 0x80;
    } else if (lead >= 0xE0 && lead <= 0xEF) {
      more = 2, code = lead & 0x0Fu, least = 0x800;
    } else if (lead >= 0xF0 && lead <= 0xF4) {
      more = 3, code = lead & 0x07u, least = 0x10000;
    } else {
      return false;
    }
    for (; more > 0; --more) {
      if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xC0u) != 0x80) return false;
      code = (code << 6) | (static_cast<unsigned char>(text[i++]) & 0x3Fu);
    }
    if (code < least || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return false;
  }
  return true;
}

bool is_name(std::string_view text) {
  for (const char c : text) {
    const bool word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!word) return false;
  }
  return !text.empty() && !(text.front() >= '0' && text.front() <= '9');
}

/// Uses only functions of the Lua interface that raise nothing, because the values it builds have
/// destructors.
constexpr std::size_t max_path_bytes = 100;  // of one key, in a message
constexpr std::size_t usual_depth = 8;

class copier {
public:
  copier(lua_State* L, const value_limits& limits) : L_(L), limits_(limits) {
    open_.reserve(usual_depth);
  }

  bool copy(int index, value& out) {
    if (++nodes_ > limits_.nodes)
      return refuse("has more than " + std::to_string(limits_.nodes) + " values");
    switch (lua_type(L_, index)) {
      case LUA_TNIL: out.data = std::monostate(); return true;
      case LUA_TBOOLEAN: out.data = lua_toboolean(L_, index) != 0; return true;
      case LUA_TNUMBER: {
        const double n = lua_tonumber(L_, index);
        if (!std::isfinite(n)) return refuse("is not a finite number");
        out.data = n;
        return true;
      }
      case LUA_TSTRING: return copy_text(index, out.data.emplace<std::string>());
      case LUA_TTABLE: return copy_table(index, out);
      case LUA_TUSERDATA: return refuse("is a read-only view; answer with its name");
      default:
        return refuse(std::string("is a ") + luaL_typename(L_, index) +
                      "; only plain data can be answered");
    }
  }

  std::string error() const { return error_; }
  std::size_t values() const { return nodes_; }
  std::size_t bytes() const { return bytes_; }

private:
  /// Where the copy is, put into words for a complaint alone.
  bool refuse(const std::string& why) {
    std::string path;
    for (const step& s : open_) {
      if (s.key.data() == nullptr) {
        if (s.index > 0) path += '[' + std::to_string(s.index) + ']';
      } else if (is_name(s.key)) {
        if (!path.empty()) path += '.';
        path.append(s.key, 0, max_path_bytes);
      } else {
        path += "[\"" + std::string(s.key.substr(0, max_path_bytes)) + "\"]";
      }
    }
    error_ = (path.empty() ? "the answer" : path) + ": " + why;
    return false;
  }

  bool copy_text(int index, std::string& out) {
    std::size_t size = 0;
    const char* text = lua_tolstring(L_, index, &size);
    bytes_ += size;
    if (bytes_ > limits_.text_bytes)
      return refuse("has more than " + std::to_string(limits_.text_bytes) + " bytes of text");
    if (!valid_utf8({text, size})) return refuse("is not valid UTF-8");
    out.assign(text, size);
    return true;
  }

  bool copy_table(int index, value& out) {
    const void* identity = lua_topointer(L_, index);
    for (const step& outer : open_) {
      if (outer.table == identity) return refuse("contains itself");
    }
    if (open_.size() >= limits_.depth)
      return refuse("is nested more than " + std::to_string(limits_.depth) + " deep");
    open_.push_back({identity, 0, {}});
    const std::size_t size = lua_objlen(L_, index);
    const bool ok = size > 0                    ? copy_list(index, size, out)
                    : is_marked_list(L_, index) ? copy_empty_list(index, out)
                                                : copy_object(index, out);
    open_.pop_back();
    return ok;
  }

  bool copy_list(int index, std::size_t size, value& out) {
    if (nodes_ + size > limits_.nodes)
      return refuse("has more than " + std::to_string(limits_.nodes) + " values");
    // One look at every key: a list must have nothing beside 1 … size.
    std::size_t count = 0;
    for (lua_pushnil(L_); lua_next(L_, index) != 0; ++count) {
      lua_pop(L_, 1);
      const bool numbered = lua_type(L_, -1) == LUA_TNUMBER;
      const double key = numbered ? lua_tonumber(L_, -1) : 0;
      if (!numbered || key < 1 || key > static_cast<double>(size) || std::floor(key) != key) {
        lua_pop(L_, 1);
        return refuse(key >= 1 && std::floor(key) == key ? "is a list with a gap"
                                                         : "mixes list entries with other keys");
      }
    }
    auto& list = out.data.emplace<value::array>();
    list.resize(size);
    for (std::size_t i = 0; i < size; ++i) {
      open_.back().index = i + 1;
      lua_rawgeti(L_, index, static_cast<int>(i + 1));
      const bool ok = lua_isnil(L_, -1) ? refuse("is missing: a list with a gap")
                                        : copy(lua_gettop(L_), list[i]);
      lua_pop(L_, 1);
      if (!ok) return false;
    }
    open_.back().index = 0;
    return count == size || refuse("mixes list entries with other keys");
  }

  bool copy_empty_list(int index, value& out) {
    out.data.emplace<value::array>();
    lua_pushnil(L_);
    if (lua_next(L_, index) == 0) return true;
    lua_pop(L_, 2);
    return refuse("mixes list entries with other keys");
  }

  bool copy_object(int index, value& out) {
    auto& object = out.data.emplace<value::object>();
    for (lua_pushnil(L_); lua_next(L_, index) != 0;) {
      if (lua_type(L_, -2) != LUA_TSTRING) {
        const std::string kind = luaL_typename(L_, -2);
        lua_pop(L_, 2);
        open_.back().key = {};
        return refuse(kind == "number" ? "mixes list entries with other keys"
                                       : "has a " + kind + " as key");
      }
      std::size_t size = 0;
      const char* text = lua_tolstring(L_, -2, &size);
      const std::string_view key(text, size);
      bytes_ += size;
      if (bytes_ > limits_.text_bytes) {
        lua_pop(L_, 2);
        open_.back().key = {};
        return refuse("has more than " + std::to_string(limits_.text_bytes) + " bytes of text");
      }
      open_.back().key = key;
      const bool ok = valid_utf8(key)
                          ? copy(lua_gettop(L_), object.try_emplace(std::string(key)).first->second)
                          : refuse("is not valid UTF-8");
      lua_pop(L_, 1);
      if (!ok) {
        lua_pop(L_, 1);
        return false;
      }
    }
    return true;
  }

  /// A table that is being copied, and the entry of it: an index from 1, or a key, which the table
  /// keeps alive.
  struct step {
    const void* table;
    std::size_t index;
    std::string_view key;
  };

  lua_State* L_;
  const value_limits& limits_;
  std::size_t nodes_ = 0, bytes_ = 0;
  std::vector<step> open_;
  std::string error_;
};

}  // namespace

result<copied> copy_out(lua_State* L, int index, const value_limits& limits) {
  copier c(L, limits);
  copied out;
  if (!c.copy(index, out.what)) return reactor::make_fault(errc::malformed, {}, c.error());
  out.values = c.values();
  out.bytes = c.bytes();
  return out;
}

}  // namespace policies
