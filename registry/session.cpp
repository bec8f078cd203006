#include "registry/session.hpp"

#include "formats/go/text.hpp"
#include "formats/go/value.hpp"
#include "formats/json/json.hpp"
#include "reactor/http/authorization.hpp"
#include "reactor/http/retry_after.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/hide.hpp"
#include "reactor/system/files.hpp"
#include "registry/url.hpp"

#include <algorithm>

namespace registry {

using formats::lower;
using formats::quote;
using formats::read_json;
using formats::replace_all;

namespace {

constexpr std::size_t token_bytes_limit = 1u << 20;

/// What a registry says about a request it did not like: its own words, cut to a line.
std::string registry_message(const web_answer& a) {
  std::string out;
  if (auto v = read_json(a.body); v && v->is_map())
    if (const auto* errors = v->find("errors"); errors && errors->is_list())
      for (const auto& e : errors->items()) {
        const auto* code = e.find("code");
        const auto* message = e.find("message");
        std::string line =
            code && code->is_string() ? lower(replace_all(code->text(), "_", " ")) : "";
        if (message && message->is_string() && !message->text().empty())
          line += ": " + message->text();
        if (!line.empty() && out.size() < 500) out += (out.empty() ? "" : "; ") + line;
      }
  if (out.empty()) {
    const std::string text = status_text(a.status);
    out = text.size() > 4 ? text.substr(4) : text;
  }
  return reactor::redact(out);
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
  return out;
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
  }
  co_return registry_login{};
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
  auto got = co_await web_.ask(std::move(r));
  if (!got) co_return from_web(got.error(), method, at);
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
                                                      std::string header) {
  const challenge c = parse_challenge(header);
  auto login = co_await login_for(host);
  if (!login) co_return login.error();
  if (c.scheme == "basic") {
    if (login->username.empty()) {
      fault nobody = failed(errc::unauthorized, "basic credential not found for " + host);
      nobody.http_status = 401;
      co_return nobody;
    }
    co_return reactor::http::basic_authorization(login->username, login->password.reveal());
  }
  if (c.scheme != "bearer") co_return reactor::secret();
  if (!login->access_token.empty())
    co_return reactor::http::bearer_authorization(login->access_token.reveal());
  auto at = token_url(c, base_url(host), scope);
  if (!at) co_return failed(errc::refused, at.error().text);
  if (const auto place = parse_url(*at); place && !is_trusted_realm(place->host, host)) {
    std::string foreign = "the registry " + host + " sends for a token to " + quote(place->host) +
                          ", which is not of its own domain and not allowed";
    if (options_.token_realms == client_options::realms::trusted)
      co_return failed(errc::refused, std::move(foreign));
    if (!login->empty())
      co_return failed(errc::refused, foreign + ": the login is not sent there (" +
                                          std::string(token_realms_variable) + "=" + place->host +
                                          " allows it)");
  }
  const auto parameter = [&](const char* name) {
    const auto found = c.parameters.find(name);
    return found == c.parameters.end() ? std::string() : found->second;
  };
  std::string wanted = parameter("scope");
  if (wanted.empty()) wanted = scope;
  co_return co_await exchange_token(host, *at, parameter("service"), wanted, std::move(*login));
}

awaitable<answer<web_answer>> session::send(const question& q, reactor::secret authorization) {
  web_request r;
  r.method = q.method;
  r.url = q.target.starts_with('/') ? base_url(q.host) + q.target : q.target;
  r.fields = q.fields;
  r.body = q.body;
  r.with = credentials_of(q.host, std::move(authorization));
  r.limit_bytes = q.limit_bytes;
  if (q.method != "GET" && q.method != "HEAD") r.on_redirect = web_request::redirects::answer;
  const std::string at = r.url;
  auto got = co_await web_.ask(std::move(r));
  if (!got) co_return from_web(got.error(), q.method, at);
  co_return std::move(*got);
}

awaitable<answer<web_answer>> session::ask(question q) {
  const std::string key = q.host + " " + q.scope;
  reactor::secret known = authorizations_[key];
  const bool had_one = !known.empty();
  auto got = co_await send(q, std::move(known));
  if (!got || got->status != 401) co_return got;
  // Whoever was asked in the end, only the registry itself may ask for its credentials.
  if (!same_origin(got->url, base_url(q.host))) co_return got;
  const std::string header(got->fields.get("WWW-Authenticate"));
  auto authorization = co_await authorize(q.host, q.scope, header);
  if (!authorization)
    co_return std::move(authorization.error())
        .behind(q.method + " " + quote(reactor::redact(without_user(got->url))) + ": ");
  if (authorization->empty() || (had_one && *authorization == authorizations_[key])) co_return got;
  authorizations_[key] = *authorization;
  co_return co_await send(q, std::move(*authorization));
}

}  // namespace registry
