#pragma once

#include <boost/system/error_code.hpp>
#include <boost/system/result.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace reactor {

using error_code = boost::system::error_code;

/// Failures that are ours rather than the operating system's.
enum class errc {
  timed_out = 1,  // a deadline passed; retry later
  closed,         // the peer or the owner ended it in order; reconnect
  limit,          // the peer sent more than is allowed; do not retry unchanged
  malformed,      // bytes that do not follow the protocol; do not retry unchanged
  refused,        // configuration or policy forbids it; a person must act
  unverified,     // the peer's identity could not be verified; a person must act
  not_found,      // a file or name that should be there is not
};

const boost::system::error_category& category() noexcept;
inline error_code make_error_code(errc e) noexcept {
  return {static_cast<int>(e), category()};
}

// GCC 12 takes the unused alternative of a moved result<void> for an uninitialised fault.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/// Why something expected did not work: what happened, and what was being done ("connect to
/// 10.0.0.1:6443"). `detail` is a sentence for a person and never carries secret material.
struct fault {
  error_code code;
  std::string doing;
  std::string detail;

  /// "<doing>: <detail or the code's own message>"
  std::string message() const;
  friend bool operator==(const fault&, const fault&) = default;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

fault make_fault(error_code code, std::string_view doing, std::string_view detail = {});
fault make_fault(errc code, std::string_view doing, std::string_view detail = {});
/// The same failure seen from one caller further out: `doing` is put before.
fault while_doing(std::string_view doing, fault inner);

/// True for what cancellation leaves behind; such a fault is passed up, never logged, retried or
/// converted.
bool is_cancelled(const error_code& code) noexcept;
inline bool is_cancelled(const fault& f) noexcept {
  return is_cancelled(f.code);
}

[[noreturn]] void throw_exception_from_error(const fault& f, const boost::source_location& where);

/// A value or the reason why there is none. Shape: boost::system::result; value() throws only on a
/// programming error.
template <class T, class E = fault>
struct [[nodiscard]] result : boost::system::result<T, E> {
  using boost::system::result<T, E>::result;
  result(boost::system::result<T, E> base) : boost::system::result<T, E>(std::move(base)) {}
};

}  // namespace reactor

template <>
struct boost::system::is_error_code_enum<reactor::errc> : std::true_type {};
