#pragma once

#include "reactor/plain/result.hpp"
#include "reactor/plain/secret.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class entropy;
}

namespace web {

/// Whether a request's Host field can be meant for us: an address as such, "localhost", or one of
/// `names`; the port does not count. A foreign page whose name was made to resolve to
/// our address (DNS rebinding) sends its own.
bool is_our_host(std::string_view host, const std::vector<std::string>& names);
/// Whether a Host field is one that no page of a stranger can send: one of the above, a name
/// without a dot, or one of a domain that public DNS does not have (.svc, .local, .internal), by
/// which a Prometheus in the cluster calls us.
bool is_inner_host(std::string_view host, const std::vector<std::string>& names);
/// Whether an Origin field, where there is one, is that of a page of ours: "http://HOST" with the
/// request's own Host.
bool is_our_origin(std::string_view origin, std::string_view host);

/// How a request came to us, or to the proxy before us.
enum class transport { plain, tls };

/// What stands in a file of a token: without blanks and line ends around it. Errors:
/// errc::malformed, when it has fewer than 16 characters or some that no header field may carry.
/// The sentence does not quote it.
reactor::result<reactor::secret> read_token(const reactor::secret& file);

/// By what a request was let in.
struct admission {
  enum class ground { open, token, session } by = ground::open;
  std::uint64_t token = 0;  // the number of the token, which a change counts up
  reactor::secret session;  // its id
  reactor::steady_time until = reactor::never;
};

/// Knows who may look: a request with the token, or with the cookie of a session that began with
/// it. Without a token every request may.
/// Afterwards  an answer that lasts asks holds() before each piece: a changed token, a logout and
///             the end of a session end what they had allowed.
class doorkeeper {
public:
  static constexpr std::size_t most_sessions = 64;
  static constexpr reactor::nanoseconds session_lasts = std::chrono::hours(12);

  doorkeeper(reactor::entropy& rng, std::optional<reactor::secret> token);

  bool is_open() const noexcept { return !token_; }
  /// Another token ends all sessions.
  void change_token(reactor::secret token);
  /// By the fields Authorization and Cookie.
  std::optional<admission> lets_in(std::string_view authorization, std::string_view cookies,
                                   reactor::steady_time now);
  /// Whether what let a request in still would.
  bool holds(const admission& a, reactor::steady_time now) const;
  /// Whether the field Authorization holds another token than ours.
  bool is_wrong_token(std::string_view authorization) const;
  /// The value of a Set-Cookie field; none when it is another token.
  std::optional<std::string> log_in(const reactor::secret& shown, transport by,
                                    reactor::steady_time now);
  /// Ends the session of the cookie; the value of a Set-Cookie field that takes it away.
  std::string log_out(std::string_view cookies);
  std::size_t sessions() const noexcept { return sessions_.size(); }

private:
  struct session {
    reactor::secret id;
    reactor::steady_time until{};
  };
  std::vector<session>::const_iterator find(const reactor::secret& id) const;

  reactor::entropy& chance_;
  std::optional<reactor::secret> token_;
  std::uint64_t token_number_ = 0;
  std::vector<session> sessions_;  // the oldest first
};

}  // namespace web
