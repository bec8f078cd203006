#pragma once

#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <optional>
#include <string>

namespace registry {

/// Classified by what the caller does next.
enum class errc {
  unauthorized = 1,  // 401: other credentials, of the registry or of its token server
  forbidden,         // 403: rights
  not_found,         // 404: there is no such repository, manifest or blob
  throttled,         // 429: wait (retry_after, when the registry named it)
  rejected,          // another answer than the request should have: do not repeat it unchanged
  unavailable,       // 5xx, refused, reset, timed out: back off and retry
  malformed,         // not what a registry answers, or more of it than is read
  altered,           // bytes that are not what their digest or their length says
  refused,  // we do not do it: credentials or uploads would go elsewhere, a file cannot be read
};

/// "not_found"; for logs and metrics.
const char* to_string(errc code) noexcept;

// GCC 12 takes the unused alternative of a moved result<void> for an uninitialised fault.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/// Why a registry did not give or take something. Never carries credentials.
struct fault {
  errc code{};
  int http_status = 0;  // 0 = no answer
  // complete: what was asked, what came, in the registry's own words where it has any
  std::string text;
  std::optional<reactor::nanoseconds> retry_after;
  bool cancelled = false;  // the caller is being cancelled: unwind
  // The server could not be verified, or speaks no TLS: plain HTTP may do, where that is allowed.
  bool without_tls = false;
  bool connection_lost = false;  // it ended before the answer was whole

  /// The same failure seen from one caller further out: `before` is put before the text.
  fault behind(const std::string& before) &&;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

fault failed(errc code, std::string text);

[[noreturn]] void throw_exception_from_error(const fault& f, const boost::source_location& where);

/// What an HTTP status that was not hoped for means.
errc errc_of(int http_status) noexcept;

template <class T>
using answer = reactor::result<T, fault>;

}  // namespace registry
