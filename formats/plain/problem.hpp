#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <variant>

namespace formats {

/// What a caller does something else about. Texts are for people: no code decides by one (rules
/// test).
enum class problem_code : unsigned char {
  other,
  not_found,    // what was asked for is not there
  unsupported,  // Helm can do it and this program does not
  described,    // no failure: a command said what it takes instead of doing it
  no_form,      // a value that cannot be written in this format
  duplicate,    // two of one name
};

/// Why something did not work, complete and in the words of the program it stands for; it is shown
/// to the user as it is.
struct problem {
  std::string text;
  problem_code code = problem_code::other;
  friend bool operator==(const problem&, const problem&) = default;
};

/// A value or the problem that stood in its way. reactor::result cannot hold it: a text converts to
/// both sides.
template <class T>
class [[nodiscard]] outcome {
public:
  outcome(problem p) : content_(std::in_place_index<1>, std::move(p)) {}
  template <class U>
    requires(std::convertible_to<U, T> && !std::same_as<std::remove_cvref_t<U>, problem> &&
             !std::same_as<std::remove_cvref_t<U>, outcome>)
  outcome(U&& v) : content_(std::in_place_index<0>, std::forward<U>(v)) {}

  bool has_value() const { return content_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  /// Requires has_value().
  T& operator*() & { return std::get<0>(content_); }
  const T& operator*() const& { return std::get<0>(content_); }
  T&& operator*() && { return std::get<0>(std::move(content_)); }
  T* operator->() { return &std::get<0>(content_); }
  const T* operator->() const { return &std::get<0>(content_); }
  /// Requires !has_value().
  const problem& error() const { return std::get<1>(content_); }

private:
  std::variant<T, problem> content_;
};

}  // namespace formats
