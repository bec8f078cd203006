#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/time.hpp"

#include <optional>
#include <string>
#include <vector>

namespace k8s {

using reactor::awaitable;

/// Classified by what the caller does next.
enum class errc {
  gone = 1,      // 410: list again
  not_found,     // 404
  exists,        // 409 AlreadyExists
  conflict,      // 409: read again, then decide again
  throttled,     // 429: wait (retry_after, when the server named it)
  unauthorized,  // 401: credentials
  forbidden,     // 403: rights
  invalid,       // 400, 422: the request is wrong; do not repeat it unchanged
  unavailable,   // 5xx, refused, reset, timed out: back off and retry
  malformed,     // not what a Kubernetes API server answers
  over_budget,   // more than we keep of one server: nothing is decided on the part that we have
};

/// "not_found"; for logs and metrics.
const char* to_string(errc code) noexcept;

struct cause {
  std::string reason, message, field;
};

// GCC 12 takes the unused alternative of a moved result<void> for an uninitialised fault.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

/// Why an API call did not work. Never carries credentials.
struct fault {
  errc code{};
  int http_status = 0;  // 0 = no answer
  std::string doing;    // "list pods in kube-system"
  std::string reason;   // the server's Status reason ("NotFound") or empty
  std::string detail;   // the server's message, or the transport's
  std::optional<reactor::nanoseconds> retry_after;
  std::vector<cause> causes;
  bool cancelled = false;  // the caller is being cancelled: unwind

  /// "<doing>: <detail>"
  std::string message() const;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

[[noreturn]] void throw_exception_from_error(const fault& f, const boost::source_location& where);

template <class T>
using result = reactor::result<T, fault>;

/// A transport failure as an API failure (timeouts and resets are `unavailable`).
fault from_transport(const reactor::fault& f, std::string doing);

}  // namespace k8s
