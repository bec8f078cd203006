#include "registry/session.hpp"

#include "formats/json/member.hpp"
#include "formats/plain/text.hpp"
#include "reactor/http/authorization.hpp"
#include "reactor/http/date.hpp"
#include "reactor/http/retry_after.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/hide.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/system/files.hpp"
#include "registry/document.hpp"
#include "registry/url.hpp"

#include <boost/asio/error.hpp>
#include <boost/json.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace registry {

using formats::lower;
using formats::quote;
using formats::replace_all;
using formats::text_member;
using formats::to_valid_utf8;

namespace {

constexpr std::size_t token_bytes_limit = 1u << 20;

/// A refusal is a sentence; what is longer is not read for one.
constexpr std::size_t refusal_bytes_limit = 16u << 10, message_bytes = 500;

/// What a registry says about a request it did not like: its own words, cut to a line.
std::string registry_message(const web_answer& a) {
  std::string out;
  boost::system::error_code failed;
  if (a.body.size() > refusal_bytes_limit)
    out = "an answer of " + std::to_string(a.body.size()) + " bytes";
  else if (const auto v = read_document(to_valid_utf8(a.body), failed); v.is_object())
    if (const auto* errors = v.get_object().if_contains("errors"); errors && errors->is_array())
      for (const auto& e : errors->get_array()) {
        if (!e.is_object()) continue;
        std::string line = lower(replace_all(text_member(e.get_object(), "code"), "_", " "));
        if (const auto message = text_member(e.get_object(), "message"); !message.empty())
          line += (line.empty() ? "" : ": ") + message;
        if (!line.empty() && out.size() < message_bytes) out += (out.empty() ? "" : "; ") + line;
      }
  if (out.empty()) {
    const std::string text = status_text(a.status);
    out = text.size() > 4 ? text.substr(4) : text;
  }
  return reactor::printable(reactor::redact(out), message_bytes);
}

fault from_web(const reactor::fault& f, const std::string& method, const std::string& url) {
  fault out;
  out.text = problem_of(f, method, url).text;
  out.cancelled = reactor::is_cancelled(f);
  out.code = errc::unavailable;
  if (f.code == reactor::errc::malformed || f.code == reactor::errc::limit)
    out.code = errc::malformed;
  if (f.code == reactor::errc::refused || f.code == reactor::errc::unverified)
    out.code = errc::refused;
  out.without_tls = f.code == reactor::errc::unverified ||
                    (f.code == reactor::errc::malformed && f.doing.starts_with("TLS handshake"));
  namespace error = boost::asio::error;
  out.connection_lost = f.code == reactor::errc::closed || f.code == error::eof ||
                        f.code == error::connection_reset || f.code == error::broken_pipe;
  return out;
}

/// A Retry-After that is a date becomes the seconds until then: only here is a clock at hand.
void count_down(reactor::http::headers& fields, reactor::wall_time now) {
  const auto until = reactor::http::parse_date(fields.get("Retry-After"));
  if (!until) return;
  const auto left = std::chrono::ceil<std::chrono::seconds>(*until - now);
  fields.set("Retry-After", std::to_string(std::max<std::int64_t>(left.count(), 0)));
}

std::vector<challenge> challenges_of(const reactor::http::headers& fields) {
  std::vector<challenge> all;
  for (const auto& [name, value] : fields) {
    if (!reactor::http::same_name(name, "WWW-Authenticate")) continue;
    auto more = parse_challenges(value);
    std::ranges::move(more, std::back_inserter(all));
  }
  return all;
}

}  // namespace

std::vector<std::string> token_realms_in(std::string_view text) {
  std::vector<std::string> out;
  for (const std::string& host : formats::split(text, ","))
    if (std::string name(formats::trim_space(host)); !name.empty()) out.push_back(std::move(name));
  return out;
}

fault unexpected(const std::string& method, const web_answer& a) {
  fault out;
  out.code = errc_of(a.status);
  out.http_status = a.status;
  out.text = method + " " + quote(reactor::redact(without_user(a.url))) +
             ": response status code " + std::to_string(a.status) + ": " + registry_message(a);
  out.retry_after = reactor::http::retry_after(a.fields);
  if (out.retry_after && *out.retry_after > reactor::nanoseconds::zero())
    out.text += "; it asks clients to wait " + reactor::format_duration(*out.retry_after);
  return out;
}

session::session(reactor::loop& l, web& w, client_options options)
    : loop_(l), web_(w), options_(std::move(options)) {}

std::string session::base_url(const std::string& host) const {
  return (options_.plain_http ? "http://" : "https://") +
         (host == "docker.io" ? "registry-1.docker.io" : host);
}

awaitable<answer<registry_login>> session::login_for(std::string host) {
  if (host == options_.given_for && !options_.login.empty()) co_return options_.login;
  const std::vector<std::string> files = options_.config_files;
  for (const std::string& path : files) {
    auto text = co_await reactor::read_file(loop_, path, credentials_bytes_limit);
    if (!text && text.error().code == reactor::errc::not_found) continue;
    if (!text) co_return failed(errc::refused, text.error().message());
    auto login = find_login(*text, host, path);
    if (!login) co_return failed(errc::refused, login.error().text);
    if (*login) co_return std::move(**login);
    auto helper = find_helper(*text, host, path);
    if (!helper) co_return failed(errc::refused, helper.error().text);
    if (helper->empty()) continue;
    auto said = co_await ask_helper(std::move(*helper), host);
    if (!said) co_return said.error();
    if (*said) co_return std::move(**said);
  }
  co_return registry_login{};
}

/// Where a helper fails, the registry is asked without a login, as docker does: what was wrong is
/// told if the registry wants one.
awaitable<answer<std::optional<registry_login>>> session::ask_helper(std::string program,
                                                                     std::string host) {
  if (!options_.helpers) {
    helper_problems_[host] = "its login is kept by the credential helper " + quote(program) +
                             ", which only commands run that a person types";
    co_return std::optional<registry_login>();
  }
  const std::string key = program + " " + host;
  if (const auto known = said_by_helpers_.find(key); known != said_by_helpers_.end())
    co_return known->second;
  auto ended = co_await options_.helpers(program, credential_key(host));
  if (!ended && reactor::is_cancelled(ended.error())) {
    fault f = failed(errc::unavailable, ended.error().message());
    f.cancelled = true;
    co_return f;
  }
  outcome<std::optional<registry_login>> read = std::optional<registry_login>();
  if (ended)
    read = read_helper_answer(*ended, program, host);
  else
    read = formats::problem{"the credential helper " + quote(program) +
                            " failed: " + reactor::redact(ended.error().message())};
  if (!read) helper_problems_[host] = read.error().text;
  co_return said_by_helpers_[key] = read ? std::move(*read) : std::nullopt;
}

awaitable<answer<web_answer>> session::send_patiently(web_request r) {
  for (int sent = 1;; ++sent) {
    web_request once = r;
    auto got = co_await web_.ask(std::move(once));
    attempt what;
    what.method = r.method;
    fault lost;
    if (got) {
      count_down(got->fields, loop_.wall());
      what.status = got->status;
      what.retry_after = reactor::http::retry_after(got->fields);
    } else {
      lost = from_web(got.error(), r.method, r.url);
      if (lost.cancelled) co_return lost;
      what.connection_lost = lost.connection_lost;
    }
    const auto wait = wait_before_retry(what, sent, options_.retries);
    if (!wait) {
      if (!got) co_return lost;
      co_return std::move(*got);
    }
    co_await loop_.sleep_for(*wait);
  }
}

awaitable<answer<reactor::secret>> session::exchange_token(std::string host, std::string at,
                                                           std::string service, std::string scope,
                                                           registry_login login) {
  web_request r;
  r.url = at;
  r.limit_bytes = token_bytes_limit;
  reactor::secret authorization;
  if (!login.identity_token.empty()) {
    const auto pair = [](const char* name, const std::string& text) {
      return std::string(name) + "=" + reactor::http::encode_component(text);
    };
    r.method = "POST";
    r.url = at.substr(0, at.find('?'));
    r.fields.set("Content-Type", "application/x-www-form-urlencoded");
    r.body = pair("grant_type", "refresh_token") + "&" +
             pair("refresh_token", login.identity_token.reveal()) + "&" + pair("service", service) +
             "&" + pair("client_id", "windlass") + "&" + pair("scope", scope);
    r.on_redirect = web_request::redirects::answer;
  } else if (!login.username.empty()) {
    authorization = reactor::http::basic_authorization(login.username, login.password.reveal());
  }
  // The certificate was given for the registry, the login is shown to its token server.
  credentials::shown of_registry = credentials_of(host, {}).for_url(at);
  r.with = credentials(at, std::move(authorization), std::move(of_registry.tls));
  const std::string method = r.method;
  auto got = co_await send_patiently(std::move(r));
  if (!got) co_return got.error();
  if (got->status != 200) {
    fault why = unexpected(method, *got).behind("no access token for " + host + ": ");
    reactor::hide(why.text, login.identity_token.reveal());  // it was in the body
    co_return why;
  }
  auto token = read_token(got->body);
  if (!token) co_return failed(errc::malformed, token.error().text);
  co_return reactor::http::bearer_authorization(token->reveal());
}

credentials session::credentials_of(const std::string& host, reactor::secret authorization) const {
  tls_choice tls = options_.tls;
  if (host != options_.given_for) {
    tls = tls_choice{};
    tls.ca_file = options_.tls.ca_file;
  }
  return {base_url(host), std::move(authorization), std::move(tls)};
}

bool session::is_trusted_realm(const std::string& realm, const std::string& registry) const {
  const std::string own = registry == "docker.io" ? "registry-1.docker.io" : registry;
  return is_own_realm(realm, own) ||
         std::ranges::find(options_.other_realms, realm) != options_.other_realms.end();
}

awaitable<answer<reactor::secret>> session::authorize(std::string host, std::string scope,
                                                      std::vector<challenge> all) {
  auto login = co_await login_for(host);
  if (!login) co_return login.error();
  // Only the registry's own domain and those that the user allows may be told a login.
  const auto is_foreign = [&](const challenge& c) {
    const auto realm = parse_url(c.parameter("realm"));
    return realm && !realm->host.empty() && !is_trusted_realm(realm->host, host);
  };
  challenge_choice by;
  by.has_password = !login->username.empty();
  by.may_use_realm = std::ranges::none_of(
      all, [&](const challenge& c) { return c.scheme == "bearer" && is_foreign(c); });
  const auto chosen = choose_challenge(all, by);
  if (!chosen) co_return reactor::secret();
  const challenge& c = all[*chosen];
  if (c.scheme == "basic") {
    if (login->username.empty()) {
      fault refusal = failed(errc::unauthorized, "basic credential not found for " + host);
      refusal.http_status = 401;
      co_return refusal;
    }
    co_return reactor::http::basic_authorization(login->username, login->password.reveal());
  }
  if (!login->access_token.empty())
    co_return reactor::http::bearer_authorization(login->access_token.reveal());
  if (c.parameter("realm").empty() || is_foreign(c)) {
    auto at = token_url(c, base_url(host), scope);
    if (!at) co_return failed(errc::refused, at.error().text);
    const std::string place = parse_url(*at)->host;
    std::string foreign = "the registry " + host + " sends for a token to " + quote(place) +
                          ", which is not of its own domain and not allowed";
    if (options_.token_realms == client_options::realms::trusted)
      co_return failed(errc::refused, std::move(foreign));
    if (!login->empty())
      co_return failed(errc::refused, foreign + ": the login is not sent there (" +
                                          std::string(token_realms_variable) + "=" + place +
                                          " allows it)");
  }
  // GHCR and others give no token at all where one of the scopes is too much.
  const std::string asked = c.parameter("scope");
  std::vector<std::string> wishes{scopes_to_ask(scope, asked)};
  for (const std::string& less : {scope, asked})
    if (!less.empty() && std::ranges::find(wishes, less) == wishes.end()) wishes.push_back(less);
  answer<reactor::secret> token = reactor::secret();
  for (const std::string& wish : wishes) {
    auto at = token_url(c, base_url(host), wish);
    if (!at) co_return failed(errc::refused, at.error().text);
    auto given = co_await exchange_token(host, *at, c.parameter("service"), wish, *login);
    const bool too_much =
        !given && (given.error().http_status == 400 || given.error().http_status == 403);
    // What the first wish met is the reason.
    if (given || &wish == &wishes.front()) token = std::move(given);
    if (!too_much) break;
  }
  co_return token;
}

awaitable<answer<web_answer>> session::send(const question& q, reactor::secret authorization) {
  web_request r;
  r.method = q.method;
  r.url = q.target.starts_with('/') ? base_url(q.host) + q.target : q.target;
  r.fields = q.fields;
  r.body = q.body;
  r.with = credentials_of(q.host, std::move(authorization));
  r.limit_bytes = q.limit_bytes;
  r.timeout = q.timeout;
  if (q.method != "GET" && q.method != "HEAD") r.on_redirect = web_request::redirects::answer;
  co_return co_await send_patiently(std::move(r));
}

awaitable<answer<web_answer>> session::ask(question q) {
  const std::string key = q.host + " " + q.scope;
  reactor::secret known = authorizations_[key];
  const bool had_one = !known.empty();
  auto got = co_await send(q, std::move(known));
  if (!got || got->status != 401) co_return got;
  // Whichever server answered in the end, only the registry itself may ask for its credentials.
  if (!same_origin(got->url, base_url(q.host))) co_return got;
  auto challenges = challenges_of(got->fields);
  auto authorization = co_await authorize(q.host, q.scope, std::move(challenges));
  if (!authorization) {
    fault why = std::move(authorization.error())
                    .behind(q.method + " " + quote(reactor::redact(without_user(got->url))) + ": ");
    if (const auto helper = helper_problems_.find(q.host); helper != helper_problems_.end())
      why.text += "; " + helper->second;
    co_return why;
  }
  if (authorization->empty() || (had_one && *authorization == authorizations_[key])) co_return got;
  authorizations_[key] = *authorization;
  auto last = co_await send(q, std::move(*authorization));
  const auto helper = helper_problems_.find(q.host);
  if (!last || last->status != 401 || helper == helper_problems_.end()) co_return last;
  fault why = unexpected(q.method, *last);
  why.text += "; " + helper->second;
  co_return why;
}

}  // namespace registry
