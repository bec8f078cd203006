#pragma once

#include "formats/plain/problem.hpp"
#include "reactor/plain/secret.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace registry {

using formats::outcome;

inline constexpr std::size_t credentials_bytes_limit = 4u << 20;

/// What proves who we are to a registry; all empty = anonymous.
struct registry_login {
  std::string username;
  reactor::secret password;
  reactor::secret identity_token;  // instead of a password: exchanged for an access token
  reactor::secret access_token;    // used as it is
  bool empty() const { return username.empty() && identity_token.empty() && access_token.empty(); }
};

/// The name under which a registry's login is kept: Docker Hub has one of its own.
std::string credential_key(std::string_view registry);

/// Looks a registry up in the text of a docker config.json.
/// Shape    nothing when it has no entry.
/// Errors   what is no such file.
outcome<std::optional<registry_login>> find_login(std::string_view config,
                                                  std::string_view registry,
                                                  const std::string& path);

/// Whether a key of a docker config.json, or the URL that a credential helper answers for, means
/// this registry: with or without scheme and path.
bool names_registry(std::string_view key, std::string_view registry);

/// The same for one repository ("org/os"), as container tools read their file: the entry of the
/// longest path wins ("quay.io/org" over "quay.io"), and host and port must be exactly these.
outcome<std::optional<registry_login>> find_login_for(std::string_view config,
                                                      std::string_view registry,
                                                      std::string_view repository,
                                                      const std::string& path);

/// The registries and paths that the text of a docker config.json has logins for, in its order.
std::vector<std::string> places_with_login(std::string_view config);

/// The file's text with one login more or less; everything else in it stays. An empty text is an
/// empty file.
outcome<std::string> with_login(std::string_view config, std::string_view registry,
                                const registry_login& login);
/// Shape    nothing when there was none.
outcome<std::optional<std::string>> without_login(std::string_view config,
                                                  std::string_view registry);

/// One challenge of a WWW-Authenticate header: `Bearer realm="https://…",service="…",scope="…"`.
struct challenge {
  std::string scheme;  // lower case
  std::map<std::string, std::string> parameters;
  std::string parameter(const std::string& name) const;
};
/// All challenges of a field's value, which may hold several (RFC 9110, 11.6.1).
std::vector<challenge> parse_challenges(std::string_view header);

/// What decides which challenge is met.
struct challenge_choice {
  bool has_password = false;  // a user name and a password are known
  bool may_use_realm = true;  // the login may go to the token server that Bearer names
};
/// The challenge to meet, by its place in the list: Bearer, which also serves the anonymous, before
/// Basic; Basic where only that can be met. Nothing: none of them is spoken here (Negotiate, NTLM).
std::optional<std::size_t> choose_challenge(const std::vector<challenge>& all,
                                            const challenge_choice& by);

/// The scopes to ask a token for, between spaces: what the request needs, with what the challenge
/// asks for beside it. Rights on the same resource are joined, since a challenge to HEAD names
/// `pull` where an upload is to follow.
std::string scopes_to_ask(std::string_view own, std::string_view challenged);

/// Where a token is to be had; each of the scopes is a parameter of its own, as the token
/// specification has it. A registry behind TLS may not send credentials into the open.
/// Errors   ours, for a realm that is no URL or less safe than the registry.
outcome<std::string> token_url(const challenge& c, std::string_view registry_url,
                               std::string_view scopes);

/// Whether a token server belongs to the registry: the same host, one above or below it, or its
/// sister ("auth.docker.io" of "registry-1.docker.io"). Both with or without port; an address is
/// its own domain.
bool is_own_realm(std::string_view realm_host, std::string_view registry_host);

/// The access token in a token server's answer.
outcome<reactor::secret> read_token(std::string_view json);

}  // namespace registry
