#pragma once

#include "formats/go/value.hpp"
#include "formats/plain/problem.hpp"

#include <boost/pfr/core.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

/// Plain structs as bytes, between two processes of the same program.
/// Shape    a struct is its fields in their order; a number eight bytes, the lowest first; a text
///          or list its length and what it holds; an optional a flag before it. No names, no
///          version: both ends are one program.
/// Trust    reading believes nothing: a length beyond what is left, a flag or enumerator that there
///          is not, bytes that are left over, values nested deeper than wire_depth and more memory
///          than the reader may take are all damage.
namespace formats {

inline constexpr int wire_depth = 2'000;

/// The last enumerator of an enum that crosses; specialise it beside the enum's users.
template <class E>
inline constexpr E wire_last = E::no_last_enumerator_is_named;
template <>
inline constexpr problem_code wire_last<problem_code> = problem_code::duplicate;

/// Thrown below to_bytes and from_bytes only.
struct wire_damage {
  const char* what;
};

namespace detail {

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class K, class V>
inline constexpr bool is_map<std::map<K, V>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_pair = false;
template <class A, class B>
inline constexpr bool is_pair<std::pair<A, B>> = true;
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t N>
inline constexpr bool is_array<std::array<T, N>> = true;
template <class T>
inline constexpr bool is_duration = false;
template <class R, class P>
inline constexpr bool is_duration<std::chrono::duration<R, P>> = true;
template <class T>
inline constexpr bool is_time_point = false;
template <class C, class D>
inline constexpr bool is_time_point<std::chrono::time_point<C, D>> = true;

}  // namespace detail

class wire_writer {
public:
  explicit wire_writer(std::size_t room_bytes = 0) { out_.reserve(room_bytes); }
  void number(std::uint64_t n) {
    for (int i = 0; i < 8; ++i) out_ += static_cast<char>(n >> (8 * i));
  }
  void text(std::string_view s) {
    number(s.size());
    out_ += s;
  }
  void tree(const value& v, int depth = 0);

  template <class T>
  void put(const T& v) {
    if constexpr (std::is_same_v<T, std::string>) {
      text(v);
    } else if constexpr (std::is_same_v<T, value>) {
      tree(v);
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      number(static_cast<std::uint64_t>(v));
    } else if constexpr (detail::is_duration<T>) {
      number(static_cast<std::uint64_t>(v.count()));
    } else if constexpr (detail::is_time_point<T>) {
      number(static_cast<std::uint64_t>(v.time_since_epoch().count()));
    } else if constexpr (detail::is_optional<T>) {
      number(v.has_value());
      if (v) put(*v);
    } else if constexpr (detail::is_vector<T> || detail::is_map<T>) {
      number(v.size());
      for (const auto& one : v) put(one);
    } else if constexpr (detail::is_array<T>) {
      for (const auto& one : v) put(one);
    } else if constexpr (detail::is_pair<T>) {
      put(v.first);
      put(v.second);
    } else {
      static_assert(std::is_aggregate_v<T>, "a plain struct, or a kind of value from above");
      boost::pfr::for_each_field(v, [this](const auto& field) { put(field); });
    }
  }
  std::string take() { return std::move(out_); }

private:
  std::string out_;
};

class wire_reader {
public:
  wire_reader(std::string_view bytes, std::uint64_t memory_bytes)
      : left_(bytes), memory_(memory_bytes) {}
  std::uint64_t number() {
    if (left_.size() < 8) throw wire_damage{"it is cut off"};
    std::uint64_t n = 0;
    for (int i = 0; i < 8; ++i)
      n |=
          static_cast<std::uint64_t>(static_cast<unsigned char>(left_[static_cast<std::size_t>(i)]))
          << (8 * i);
    left_.remove_prefix(8);
    return n;
  }
  /// How many of something follow; each takes a byte at least.
  std::size_t count(std::size_t each_bytes) {
    const std::uint64_t n = number();
    if (n > left_.size()) throw wire_damage{"a length is beyond its end"};
    charge(n * each_bytes);
    return static_cast<std::size_t>(n);
  }
  std::string text() {
    const std::size_t n = count(1);
    std::string s(left_.substr(0, n));
    left_.remove_prefix(n);
    return s;
  }
  value tree(int depth = 0);
  bool is_over() const noexcept { return left_.empty(); }
  std::string_view rest() const noexcept { return left_; }

  template <class T>
  void get(T& v) {
    if constexpr (std::is_same_v<T, std::string>) {
      v = text();
    } else if constexpr (std::is_same_v<T, value>) {
      v = tree();
    } else if constexpr (std::is_same_v<T, bool>) {
      v = flag();
    } else if constexpr (std::is_enum_v<T>) {
      const std::uint64_t n = number();
      if (n > static_cast<std::uint64_t>(wire_last<T>)) throw wire_damage{"a word is not known"};
      v = static_cast<T>(n);
    } else if constexpr (std::is_integral_v<T>) {
      const std::uint64_t n = number();
      v = static_cast<T>(n);
      if (static_cast<std::uint64_t>(v) != n) throw wire_damage{"a number is too large"};
    } else if constexpr (detail::is_duration<T>) {
      v = T(static_cast<typename T::rep>(number()));
    } else if constexpr (detail::is_time_point<T>) {
      v = T(typename T::duration(static_cast<typename T::rep>(number())));
    } else if constexpr (detail::is_optional<T>) {
      v.reset();
      if (flag()) get(v.emplace());
    } else if constexpr (detail::is_vector<T>) {
      const std::size_t n = count(sizeof(typename T::value_type));
      v.clear();
      for (std::size_t i = 0; i < n; ++i) get(v.emplace_back());
    } else if constexpr (detail::is_map<T>) {
      // A node of a map is some 64 bytes beside what it holds.
      const std::size_t n = count(sizeof(typename T::value_type) + 64);
      v.clear();
      for (std::size_t i = 0; i < n; ++i) {
        std::pair<typename T::key_type, typename T::mapped_type> one;
        get(one);
        if (!v.empty() && !(v.rbegin()->first < one.first))
          throw wire_damage{"keys are not in their order"};
        v.emplace_hint(v.end(), std::move(one));
      }
    } else if constexpr (detail::is_array<T>) {
      for (auto& one : v) get(one);
    } else if constexpr (detail::is_pair<T>) {
      get(v.first);
      get(v.second);
    } else {
      static_assert(std::is_aggregate_v<T>, "a plain struct, or a kind of value from above");
      boost::pfr::for_each_field(v, [this](auto& field) { get(field); });
    }
  }

private:
  bool flag() {
    const std::uint64_t n = number();
    if (n > 1) throw wire_damage{"a flag is neither set nor not"};
    return n == 1;
  }
  void charge(std::uint64_t bytes) {
    if (bytes > memory_) throw wire_damage{"it takes more memory than it may"};
    memory_ -= bytes;
  }
  std::string_view left_;
  std::uint64_t memory_;
};

/// Errors   a value that is no plain one (an object of a template), or nested too deep.
template <class T>
outcome<std::string> to_bytes(const T& v) {
  try {
    wire_writer out;
    out.put(v);
    return out.take();
  } catch (const wire_damage& d) {
    return problem{std::string("it cannot be handed on: ") + d.what};
  }
}

/// Errors   "what was handed over is damaged: …"
template <class T>
outcome<T> from_bytes(std::string_view bytes, std::uint64_t memory_bytes) {
  try {
    wire_reader in(bytes, memory_bytes);
    T out{};
    in.get(out);
    if (!in.is_over()) throw wire_damage{"bytes are left over"};
    return out;
  } catch (const wire_damage& d) {
    return problem{std::string("what was handed over is damaged: ") + d.what};
  }
}

}  // namespace formats
