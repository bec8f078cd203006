#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/http/message.hpp"
#include "reactor/plain/secret.hpp"
#include "registry/auth.hpp"
#include "registry/fault.hpp"
#include "registry/web.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace reactor {
class loop;
}

namespace registry {

using reactor::awaitable;

struct client_options {
  bool plain_http = false;
  tls_choice tls;
  registry_login login;                   // of this command; empty = what the files know
  std::vector<std::string> config_files;  // config.json as Docker writes it, asked in this order
  /// Who may issue tokens: whoever the registry names, or only hosts of its own domain and those of
  /// `other_realms`.
  enum class realms { any, own } token_realms = realms::any;
  std::vector<std::string> other_realms;
};

/// One question to a registry.
struct question {
  std::string method = "GET";
  std::string host, target;  // the target may also be a whole URL on that host
  std::string scope;         // "repository:x:pull"
  reactor::http::headers fields;
  std::string body;
  std::size_t limit_bytes = 4u << 20;  // of the answer
};

/// Asks registries and proves who we are when they want to know. What the answers mean is the
/// caller's.
/// Shape    logins come from the options, then from the files; tokens are kept for as long as this
///          lives.
/// Bounds   each request has its own deadline.
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
  awaitable<answer<reactor::secret>> authorize(std::string host, std::string scope,
                                               std::string header);
  awaitable<answer<reactor::secret>> exchange_token(std::string host, std::string at,
                                                    std::string service, std::string scope,
                                                    registry_login login);
  awaitable<answer<registry_login>> login_for(std::string host);
  bool may_issue_tokens(const std::string& realm, const std::string& registry) const;

  reactor::loop& loop_;
  web& web_;
  client_options options_;
  std::map<std::string, reactor::secret> authorizations_;  // by host and scope
};

/// The fault of an answer that was not hoped for, in the registry's own words where it has any.
fault unexpected(const std::string& method, const web_answer& a);

}  // namespace registry
