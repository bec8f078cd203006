#include "registry/auth.hpp"

#include "formats/base64.hpp"
#include "formats/json/member.hpp"
#include "formats/plain/text.hpp"
#include "reactor/http/message.hpp"
#include "registry/document.hpp"
#include "registry/url.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace registry {

using formats::base64_decode;
using formats::decoded;
using formats::encode_base64;
using formats::lower;
using formats::problem;
using formats::quote;
using formats::text_member;
using formats::trim_space;

namespace {

namespace json = boost::json;

/// The registry's names in files that other tools wrote.
std::string host_of_key(std::string_view key) {
  for (const std::string_view scheme : {"https://", "http://"})
    if (key.starts_with(scheme)) key.remove_prefix(scheme.size());
  return lower(key.substr(0, key.find('/')));
}

outcome<json::object> read_config(std::string_view text) {
  if (trim_space(text).empty()) return json::object();
  json::error_code failed;
  auto v = read_document(text, failed);
  if (failed || !v.is_object()) return problem{"invalid config format: it is no JSON object"};
  return std::move(v.as_object());
}

const json::object* member(const json::object& o, const char* name) {
  const auto* v = o.if_contains(name);
  return v ? v->if_object() : nullptr;
}

outcome<registry_login> login_of(const json::object& entry, const std::string& path) {
  registry_login out;
  out.identity_token = reactor::secret(text_member(entry, "identitytoken"));
  out.access_token = reactor::secret(text_member(entry, "registrytoken"));
  out.username = text_member(entry, "username");
  out.password = reactor::secret(text_member(entry, "password"));
  if (const std::string encoded = text_member(entry, "auth"); !encoded.empty()) {
    auto decoded = base64_decode(encoded);
    const auto colon = decoded ? decoded->find(':') : std::string::npos;
    if (colon == std::string::npos)
      return problem{"invalid config format: an auth entry of " + path + " cannot be read"};
    out.username = decoded->substr(0, colon);
    out.password = reactor::secret(decoded->substr(colon + 1));
  }
  return out;
}

void indented(std::string& out, const json::value& v, std::size_t depth) {
  const auto line = [&](std::size_t d) { out += "\n" + std::string(d, '\t'); };
  if (const auto* o = v.if_object(); o && !o->empty()) {
    out += '{';
    bool first = true;
    for (const auto& [key, content] : *o) {
      if (!std::exchange(first, false)) out += ',';
      line(depth + 1);
      out += json::serialize(json::string(key)) + ": ";
      indented(out, content, depth + 1);
    }
    line(depth);
    out += '}';
  } else {
    out += json::serialize(v);
  }
}

std::string config_text(const json::object& o) {
  std::string out;
  indented(out, json::value(o), 0);
  return out;
}

}  // namespace

std::string credential_key(std::string_view registry) {
  if (registry == "docker.io" || registry == "registry-1.docker.io" ||
      registry == "index.docker.io")
    return "https://index.docker.io/v1/";
  return std::string(registry);
}

bool names_registry(std::string_view key, std::string_view registry) {
  return host_of_key(credential_key(host_of_key(key))) == host_of_key(credential_key(registry));
}

std::vector<std::string> places_with_login(std::string_view config) {
  std::vector<std::string> out;
  const auto read = read_config(config);
  if (!read) return out;
  if (const auto* auths = member(*read, "auths"))
    for (const auto& entry : *auths) {
      std::string_view key(entry.key().data(), entry.key().size());
      for (const std::string_view scheme : {"https://", "http://"})
        if (key.starts_with(scheme)) key.remove_prefix(scheme.size());
      key.remove_prefix(std::min(key.size(), key.rfind('@') + 1));  // a login in the name
      out.emplace_back(key);
    }
  return out;
}

outcome<std::optional<registry_login>> find_login(std::string_view config,
                                                  std::string_view registry,
                                                  const std::string& path) {
  auto read = read_config(config);
  if (!read) return problem{read.error().text + " (" + path + ")"};
  const std::string key = credential_key(registry);
  const auto* auths = member(*read, "auths");
  const json::object* entry = nullptr;
  if (auths) {
    if (const auto* exact = auths->if_contains(key)) entry = exact->if_object();
    for (auto it = auths->begin(); !entry && it != auths->end(); ++it)
      if (host_of_key(it->key()) == host_of_key(key)) entry = it->value().if_object();
  }
  if (entry) {
    auto login = login_of(*entry, path);
    if (!login) return login.error();
    if (!login->empty()) return std::optional(std::move(*login));
  }
  return std::optional<registry_login>();
}

outcome<std::optional<registry_login>> find_login_for(std::string_view config,
                                                      std::string_view registry,
                                                      std::string_view repository,
                                                      const std::string& path) {
  auto read = read_config(config);
  if (!read) return problem{read.error().text + " (" + path + ")"};
  const auto* auths = member(*read, "auths");
  if (!auths) return std::optional<registry_login>();
  const bool hub = credential_key(registry) != registry;
  const auto place_of = [&](std::string_view key) {
    for (const std::string_view scheme : {"https://", "http://"})
      if (key.starts_with(scheme)) key.remove_prefix(scheme.size());
    while (key.ends_with('/')) key.remove_suffix(1);
    for (const std::string_view version : {"/v1", "/v2"})
      if (key.ends_with(version)) key.remove_suffix(version.size());
    const auto slash = key.find('/');
    std::string host = lower(key.substr(0, slash));
    if (hub && (host == "index.docker.io" || host == "registry-1.docker.io")) host = "docker.io";
    return host + std::string(slash == key.npos ? std::string_view() : key.substr(slash));
  };
  std::string wanted =
      (hub ? std::string("docker.io") : lower(registry)) + "/" + std::string(repository);
  for (;;) {
    for (const auto& [key, value] : *auths) {
      const auto* entry = value.if_object();
      if (!entry || place_of(std::string_view(key.data(), key.size())) != wanted) continue;
      auto login = login_of(*entry, path);
      if (!login) return login.error();
      if (!login->empty()) return std::optional(std::move(*login));
    }
    const auto slash = wanted.rfind('/');
    if (slash == wanted.npos) return std::optional<registry_login>();
    wanted.resize(slash);
  }
}

outcome<std::string> with_login(std::string_view config, std::string_view registry,
                                const registry_login& login) {
  auto read = read_config(config);
  if (!read) return read.error();
  auto& auths = (*read)["auths"];
  if (!auths.is_object()) auths.emplace_object();
  json::object entry;
  if (!login.identity_token.empty())
    entry["identitytoken"] = login.identity_token.reveal();
  else
    entry["auth"] = encode_base64(login.username + ":" + login.password.reveal());
  auths.as_object()[credential_key(registry)] = std::move(entry);
  return config_text(*read);
}

outcome<std::optional<std::string>> without_login(std::string_view config,
                                                  std::string_view registry) {
  auto read = read_config(config);
  if (!read) return read.error();
  auto* auths = read->if_contains("auths");
  if (!auths || !auths->is_object() || auths->as_object().erase(credential_key(registry)) == 0)
    return std::optional<std::string>();
  return std::optional(config_text(*read));
}

std::string challenge::parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string() : found->second;
}

std::vector<challenge> parse_challenges(std::string_view header) {
  std::vector<challenge> out;
  std::string_view rest = header;
  const auto skip = [&rest](std::string_view letters) {
    rest.remove_prefix(std::min(rest.find_first_not_of(letters), rest.size()));
  };
  const auto take = [&rest](std::size_t n) {
    std::string_view piece = rest.substr(0, std::min(n, rest.size()));
    rest.remove_prefix(piece.size());
    return piece;
  };
  for (skip(" ,\t"); !rest.empty(); skip(" ,\t")) {
    const std::string name = lower(take(rest.find_first_of(" ,\t=")));
    skip(" \t");
    // A word without a value names the next scheme. What follows "Negotiate" looks like another one
    // or like a parameter; neither is known to anything here.
    if (!rest.starts_with('=')) {
      out.emplace_back().scheme = name;
      continue;
    }
    take(1);
    skip(" \t");
    std::string text;
    if (rest.starts_with('"')) {
      std::size_t i = 1;
      for (; i < rest.size() && rest[i] != '"'; ++i) {
        if (rest[i] == '\\' && i + 1 < rest.size()) ++i;
        text += rest[i];
      }
      take(i + 1);
    } else {
      text = take(rest.find_first_of(", \t"));
    }
    if (out.empty()) out.emplace_back();
    auto& known = out.back().parameters[name];
    // Some write one parameter for each scope.
    known = name == "scope" && !known.empty() ? known + " " + text : std::move(text);
  }
  return out;
}

std::optional<std::size_t> choose_challenge(const std::vector<challenge>& all,
                                            const challenge_choice& by) {
  const auto first = [&](std::string_view scheme) {
    const auto found = std::ranges::find(all, scheme, &challenge::scheme);
    return found == all.end() ? std::optional<std::size_t>()
                              : static_cast<std::size_t>(found - all.begin());
  };
  const auto bearer = first("bearer"), basic = first("basic");
  if (!basic || !bearer) return bearer ? bearer : basic;
  const bool usable = by.may_use_realm && !all[*bearer].parameter("realm").empty();
  return by.has_password && !usable ? basic : bearer;
}

namespace {

/// "repository:org/os:pull,push": the resource "repository:org/os" and what may be done with it.
struct token_scope {
  std::string resource;
  std::vector<std::string> actions;
};

std::vector<token_scope> read_scopes(std::string_view text) {
  std::vector<token_scope> out;
  for (const std::string& one : formats::split(text, " ")) {
    if (one.empty()) continue;
    // The name between may have a port: "repository:host:5000/os:pull".
    const auto last = one.rfind(':');
    token_scope& scope = out.emplace_back();
    if (last == one.npos || last == one.find(':')) {
      scope.resource = one;
    } else {
      scope.resource = one.substr(0, last);
      scope.actions = formats::split(one.substr(last + 1), ",");
    }
  }
  return out;
}

}  // namespace

std::string scopes_to_ask(std::string_view own, std::string_view challenged) {
  std::vector<token_scope> all = read_scopes(own);
  for (token_scope& more : read_scopes(challenged)) {
    const auto known = std::ranges::find(all, more.resource, &token_scope::resource);
    if (known == all.end()) {
      all.push_back(std::move(more));
      continue;
    }
    for (std::string& action : more.actions)
      if (std::ranges::find(known->actions, action) == known->actions.end())
        known->actions.push_back(std::move(action));
  }
  std::string out;
  for (const token_scope& scope : all) {
    out += (out.empty() ? "" : " ") + scope.resource;
    for (std::size_t i = 0; i < scope.actions.size(); ++i)
      out += (i == 0 ? ":" : ",") + scope.actions[i];
  }
  return out;
}

outcome<std::string> token_url(const challenge& c, std::string_view registry_url,
                               std::string_view scopes) {
  const std::string realm = c.parameter("realm");
  const auto u = parse_url(realm);
  if (!u || u->host.empty() || (u->scheme != "https" && u->scheme != "http"))
    return problem{"the registry names no usable token server: " + quote(realm)};
  if (registry_url.starts_with("https:") && u->scheme != "https")
    return problem{"the registry asks for credentials to be sent without TLS to " + quote(realm)};
  std::string query = u->query;
  const auto add = [&](const char* name, const std::string& text) {
    if (text.empty()) return;
    query += (query.empty() ? "" : "&") + std::string(name) + "=" +
             reactor::http::encode_component(text);
  };
  add("service", c.parameter("service"));
  for (const std::string& scope : formats::split(scopes, " ")) add("scope", scope);
  url out = *u;
  out.user = out.fragment = "";
  out.query = query;
  out.has_query = !query.empty();
  return out.text();
}

namespace {

std::string name_of(std::string_view host) {
  if (host.starts_with('[')) return lower(host.substr(0, host.find(']') + 1));
  return lower(host.substr(0, host.rfind(':') == host.find(':') ? host.find(':') : host.npos));
}

bool is_address(std::string_view name) {
  return name.starts_with('[') || name.find(':') != name.npos ||
         name.find_first_not_of("0123456789.") == name.npos;
}

/// Where anybody may register a name: "com", and by its look "co.uk".
bool is_public(std::string_view domain) {
  const auto dot = domain.find('.');
  if (dot == domain.npos) return true;
  const auto rest = domain.substr(dot + 1);
  return rest.find('.') == rest.npos && rest.size() == 2 && dot <= 3;
}

bool is_below(std::string_view name, std::string_view domain) {
  return name.size() > domain.size() && name.ends_with(domain) &&
         name[name.size() - domain.size() - 1] == '.';
}

}  // namespace

bool is_own_realm(std::string_view realm_host, std::string_view registry_host) {
  const std::string realm = name_of(realm_host), own = name_of(registry_host);
  if (realm == own) return true;
  if (is_address(realm) || is_address(own)) return false;
  if (is_below(realm, own)) return true;
  if (is_below(own, realm)) return !is_public(realm);
  const auto dot = own.find('.');
  const std::string_view above =
      dot == own.npos ? std::string_view() : std::string_view(own).substr(dot + 1);
  return !above.empty() && !is_public(above) && is_below(realm, above);
}

outcome<reactor::secret> read_token(std::string_view text) {
  const auto read = read_config(text);
  if (!read) return problem{"the token server's answer is no JSON object"};
  for (const char* name : {"access_token", "token"})
    if (std::string token = text_member(*read, name); !token.empty()) {
      for (const char c : token)
        if (static_cast<unsigned char>(c) <= 0x20 || c == 0x7f)
          return problem{"the token server's answer holds no usable token"};
      return reactor::secret(std::move(token));
    }
  return problem{"the token server's answer holds no token"};
}

}  // namespace registry
