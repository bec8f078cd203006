#pragma once

#include <boost/pfr/core.hpp>
#include <boost/pfr/tuple_size.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace reactor {

class loop;

/// Whether a value owns what it consists of, so that it may be used after the function that made
/// it, and the object whose member that is, are gone.
/// Shape    false for pointers, references, views, and for callables that hold something
///          (std::function, closures): they hide what. Aggregates are looked at field by field,
///          containers by what they contain. What a shared_ptr points to is not looked at: it is
///          constant, or locks.
template <class T>
struct is_owned;

template <class T>
concept owned = is_owned<std::remove_cv_t<T>>::value;

namespace detail {

template <class T>
concept holds_captures = requires { &T::operator(); } && !std::is_empty_v<T>;

template <class T, class Fields>
struct fields_are_owned;
template <class T, std::size_t... I>
struct fields_are_owned<T, std::index_sequence<I...>>
    : std::bool_constant<(owned<boost::pfr::tuple_element_t<I, T>> && ...)> {};

template <class T>
constexpr bool of_class() {
  if constexpr (holds_captures<T>)
    return false;
  else if constexpr (requires { typename T::element_type; })
    return true;  // a smart pointer
  else if constexpr (requires { typename T::mapped_type; })
    return owned<typename T::key_type> && owned<typename T::mapped_type>;
  else if constexpr (requires { typename T::value_type; }) {
    if constexpr (std::is_same_v<T, typename T::value_type>)
      return true;
    else
      return owned<typename T::value_type>;
  } else if constexpr (std::is_aggregate_v<T> && !std::is_empty_v<T>)
    return fields_are_owned<T, std::make_index_sequence<boost::pfr::tuple_size_v<T>>>::value;
  else
    return true;  // its class guards what it holds
}

}  // namespace detail

template <class T>
struct is_owned
    : std::bool_constant<!std::is_reference_v<T> && !std::is_member_pointer_v<T> &&
                         (!std::is_pointer_v<T> || std::is_function_v<std::remove_pointer_t<T>>)> {
};
template <class T>
  requires std::is_class_v<T>
struct is_owned<T> : std::bool_constant<detail::of_class<T>()> {};
template <class T, class Traits>
struct is_owned<std::basic_string_view<T, Traits>> : std::false_type {};
template <class T, std::size_t N>
struct is_owned<std::span<T, N>> : std::false_type {};
template <class R, class... A>
struct is_owned<std::function<R(A...)>> : std::false_type {};
template <class T>
struct is_owned<std::reference_wrapper<T>> : std::false_type {};
/// A loop finishes what its workers were given before it ends.
template <>
struct is_owned<std::reference_wrapper<loop>> : std::true_type {};
template <class A, class B>
struct is_owned<std::pair<A, B>> : std::bool_constant<owned<A> && owned<B>> {};
template <class... T>
struct is_owned<std::tuple<T...>> : std::bool_constant<(owned<T> && ...)> {};
template <class... T>
struct is_owned<std::variant<T...>> : std::bool_constant<(owned<T> && ...)> {};

/// A function that holds nothing: a pointer to one, or a closure without captures.
template <class F>
concept plain_function =
    std::is_empty_v<F> || (std::is_pointer_v<F> && std::is_function_v<std::remove_pointer_t<F>>);

/// A job for another thread: a function that holds nothing, and the values that it is called with,
/// which own what they consist of. A job that would hold `this` or a reference does not compile.
template <class F, class... V>
concept detached_job = plain_function<F> && (owned<V> && ...) && std::is_invocable_v<F&, V&...>;

template <class Signature>
class carried;

/// A callable that is a value: made of a function that holds nothing and of values. It may be kept
/// by a job for another thread, where a std::function may not.
template <class R, class... A>
class carried<R(A...)> {
public:
  carried() = default;
  template <class F, class... V>
    requires plain_function<F> && (owned<V> && ...) && std::is_invocable_r_v<R, F&, V&..., A...>
  explicit carried(F f, V... values)
      : call_([f, held = std::make_tuple(std::move(values)...)](A... a) mutable -> R {
          return std::apply([&](auto&... v) -> R { return f(v..., std::forward<A>(a)...); }, held);
        }) {}
  explicit operator bool() const { return static_cast<bool>(call_); }
  R operator()(A... a) const { return call_(std::forward<A>(a)...); }

private:
  std::function<R(A...)> call_;
};

template <class S>
struct is_owned<carried<S>> : std::true_type {};

/// A value that no rule sees to be owned, with the word of its author that it is not used
/// after its time. A test knows each place. Name it before awaiting.
template <class T>
struct vouched {
  T value;
};
template <class T>
struct is_owned<vouched<T>> : std::true_type {};

}  // namespace reactor
