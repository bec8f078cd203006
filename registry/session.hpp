#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/http/message.hpp"
#include "reactor/plain/secret.hpp"
#include "registry/auth.hpp"
#include "registry/credential_helper.hpp"
#include "registry/fault.hpp"
#include "registry/rules.hpp"
#include "registry/web.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace registry {

using reactor::awaitable;

/// Hosts, between commas, that may issue tokens for registries of other domains, for commands that
/// have no flag for it.
inline constexpr std::string_view token_realms_variable = "WINDLASS_TOKEN_REALMS";
std::vector<std::string> token_realms_in(std::string_view text);

struct client_options {
  bool plain_http = false;
  /// The registry that `login` and `tls` were given for; any other one gets `tls.ca_file` alone.
  std::string given_for;
  tls_choice tls;
  registry_login login;                   // empty = what the files know
  std::vector<std::string> config_files;  // config.json as Docker writes it, asked in this order
  /// Where tokens may be fetched without a login: at any server that the registry names, or at
  /// trusted ones alone. A login goes only to those: hosts of the registry's own domain
  /// (is_own_realm) and of `other_realms`.
  enum class realms { any, trusted } token_realms = realms::any;
  std::vector<std::string> other_realms;
  /// Runs the credential helpers that the files name; null: none is run.
  helper_runner helpers;
  /// For commands; a caller with a schedule of its own sets `attempts` to 1.
  retry_limits retries;
};

/// One question to a registry.
struct question {
  std::string method = "GET";
  std::string host, target;  // the target may also be a URL; another origin gets no credentials
  std::string scope;         // "repository:x:pull"
  reactor::http::headers fields;
  std::string body;
  std::size_t limit_bytes = 4u << 20;  // of the answer
  reactor::nanoseconds timeout = download_timeout;
};

/// Asks registries and proves who we are when they want to know. What the answers mean is the
/// caller's.
/// Shape    logins come from the options, then from the files and the helpers that they name;
///          tokens and what helpers said are kept for as long as this lives.
/// Retries  as client_options::retries and registry/rules say; each request has its own deadline.
/// Errors   any status is an answer, but for a login that could not be had: errc::unauthorized and
///          its relatives.
class session {
public:
  session(reactor::loop& l, web& w, client_options options);

  awaitable<answer<web_answer>> ask(question q);
  /// "https://registry-1.docker.io" for "docker.io"
  std::string base_url(const std::string& host) const;

private:
  // borrowed
  awaitable<answer<web_answer>> send(const question& q, reactor::secret authorization);
  /// One request, repeated while the server is busy.
  awaitable<answer<web_answer>> send_patiently(web_request r);
  /// The field that meets one of the challenges; empty where none can be met.
  awaitable<answer<reactor::secret>> authorize(std::string host, std::string scope,
                                               std::vector<challenge> all);
  awaitable<answer<reactor::secret>> exchange_token(std::string host, std::string at,
                                                    std::string service, std::string scope,
                                                    registry_login login);
  awaitable<answer<registry_login>> login_for(std::string host);
  awaitable<answer<std::optional<registry_login>>> ask_helper(std::string program,
                                                              std::string host);
  /// What requests to this registry show.
  credentials credentials_of(const std::string& host, reactor::secret authorization) const;
  bool is_trusted_realm(const std::string& realm, const std::string& registry) const;

  reactor::loop& loop_;
  web& web_;
  client_options options_;
  std::map<std::string, reactor::secret> authorizations_;                 // by host and scope
  std::map<std::string, std::optional<registry_login>> said_by_helpers_;  // by program and host
  std::map<std::string, std::string> helper_problems_;                    // by host
};

/// The fault of an answer that was not hoped for, in the registry's own words where it has any.
fault unexpected(const std::string& method, const web_answer& a);

}  // namespace registry
