#include "helm/sources/registry.hpp"

#include "formats/json/json.hpp"
#include "formats/semver.hpp"
#include "helm/go.hpp"
#include "helm/sources/chart_versions.hpp"
#include "helm/sources/provenance.hpp"
#include "helm/sources/settings.hpp"
#include "reactor/files.hpp"
#include "reactor/http/authorization.hpp"
#include "reactor/loop.hpp"
#include "registry/url.hpp"

#include <algorithm>

namespace helm::sources {

using ::registry::basic_authorization;
using ::registry::challenge;
using ::registry::credentials_bytes_limit;
using ::registry::find_login;
using ::registry::follow_location;
using ::registry::manifest_bytes_limit;
using ::registry::parse_challenge;
using ::registry::parse_oci_reference;
using ::registry::parse_url;
using ::registry::problem_of;
using ::registry::read_manifest;
using ::registry::read_token;
using ::registry::same_origin;
using ::registry::status_text;
using ::registry::tag_of;
using ::registry::token_url;
using ::registry::web_request;
using ::registry::without_user;
using ::registry::write_manifest;

namespace {

constexpr std::size_t tag_pages_limit = 100;
constexpr std::size_t tags_limit = 100'000;
constexpr std::size_t index_manifests_limit = 16;
constexpr std::size_t config_bytes_limit = 4u << 20;
constexpr std::size_t answer_bytes_limit = 4u << 20;

constexpr const char* manifest_types =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, "
    "application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json";

constexpr const char* underscore_note =
    " contains an underscore.\n\nOCI tags know no plus sign: a version's + is written as _ when a "
    "chart is pushed, and read back as + when it is pulled.";

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

problem refused(const std::string& method, const web_answer& a) {
  return {method + " " + quote(without_user(a.url)) + ": response status code " +
          std::to_string(a.status) + ": " + registry_message(a)};
}

/// The target of `Link: <…>; rel="next"`.
std::string next_page(const web_answer& a) {
  const std::string_view link = a.fields.get("Link");
  const auto open = link.find('<');
  const auto close = link.find('>', open == link.npos ? 0 : open);
  if (open == link.npos || close == link.npos) return {};
  const auto rest = link.substr(close);
  if (rest.find("next") == rest.npos) return {};
  const auto to = follow_location(a.url, link.substr(open + 1, close - open - 1));
  return to ? *to : std::string();
}

/// What a person is told in the end.
std::vector<std::string> notes_of(const char* what, const oci_reference& r,
                                  const std::string& digest) {
  std::vector<std::string> out{what + r.text(), "Digest: " + digest};
  if (r.text().find('_') != std::string::npos) out.push_back(r.text() + underscore_note);
  return out;
}

problem wrong_digest(const std::string& digest, std::string_view bytes) {
  return {"content does not match its digest: " + digest +
          " was asked for, sha256:" + sha256(bytes) + " came"};
}

}  // namespace

struct registry::question {
  std::string method = "GET";
  std::string host, target;  // the target may also be a whole URL on that host
  std::string scope;         // "repository:x:pull"
  reactor::http::headers fields;
  std::string body;
  std::size_t limit_bytes = answer_bytes_limit;
};

registry::registry(reactor::loop& l, web& w, settings where, registry_options options)
    : loop_(l), web_(w), where_(std::move(where)), options_(std::move(options)) {}

std::string registry::base_url(const std::string& host) const {
  return (options_.plain_http ? "http://" : "https://") +
         (host == "docker.io" ? "registry-1.docker.io" : host);
}

awaitable<outcome<registry_login>> registry::login_for(std::string host) {
  if (!options_.login.empty()) co_return options_.login;
  for (const bool docker : {false, true}) {
    const std::string path = docker ? where_.docker_config : where_.registry_config;
    auto text = co_await reactor::read_file(loop_, path, credentials_bytes_limit);
    if (!text && text.error().code == reactor::errc::not_found) continue;
    if (!text) co_return problem{text.error().message()};
    auto login = find_login(*text, host, path);
    if (!login) co_return login.error();
    if (*login) co_return std::move(**login);
  }
  co_return registry_login{};
}

awaitable<outcome<reactor::secret>> registry::exchange_token(std::string host, std::string at,
                                                             std::string service, std::string scope,
                                                             registry_login login) {
  web_request r;
  r.url = at;
  r.tls = options_.tls;
  r.limit_bytes = 1u << 20;
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
    r.authorization = basic_authorization(login.username, login.password);
  }
  const std::string method = r.method;
  auto answer = co_await web_.ask(std::move(r));
  if (!answer) co_return problem_of(answer.error(), method, at);
  if (answer->status != 200)
    co_return problem{"no access token for " + host + ": " + refused(method, *answer).text};
  auto token = read_token(answer->body);
  if (!token) co_return token.error();
  co_return reactor::http::bearer_authorization(token->reveal());
}

awaitable<outcome<reactor::secret>> registry::authorize(std::string host, std::string scope,
                                                        std::string header) {
  const challenge c = parse_challenge(header);
  auto login = co_await login_for(host);
  if (!login) co_return login.error();
  if (c.scheme == "basic") {
    if (login->username.empty()) co_return problem{"basic credential not found for " + host};
    co_return basic_authorization(login->username, login->password);
  }
  if (c.scheme != "bearer") co_return reactor::secret();
  if (!login->access_token.empty())
    co_return reactor::http::bearer_authorization(login->access_token.reveal());
  auto at = token_url(c, base_url(host), scope);
  if (!at) co_return at.error();
  const auto parameter = [&](const char* name) {
    const auto found = c.parameters.find(name);
    return found == c.parameters.end() ? std::string() : found->second;
  };
  std::string wanted = parameter("scope");
  if (wanted.empty()) wanted = scope;
  co_return co_await exchange_token(host, *at, parameter("service"), wanted, std::move(*login));
}

awaitable<outcome<web_answer>> registry::send(const question& q, reactor::secret authorization) {
  web_request r;
  r.method = q.method;
  r.url = q.target.starts_with('/') ? base_url(q.host) + q.target : q.target;
  r.fields = q.fields;
  r.body = q.body;
  r.tls = options_.tls;
  r.authorization = std::move(authorization);
  r.limit_bytes = q.limit_bytes;
  if (q.method != "GET" && q.method != "HEAD") r.on_redirect = web_request::redirects::answer;
  const std::string at = r.url;
  auto answer = co_await web_.ask(std::move(r));
  if (!answer) co_return problem_of(answer.error(), q.method, at);
  co_return std::move(*answer);
}

awaitable<outcome<web_answer>> registry::ask(question q) {
  const std::string key = q.host + " " + q.scope;
  reactor::secret known = authorizations_[key];
  const bool had_one = !known.empty();
  auto answer = co_await send(q, std::move(known));
  if (!answer || answer->status != 401) co_return answer;
  // Whoever was asked in the end, only the registry itself may ask for its credentials.
  if (!same_origin(answer->url, base_url(q.host))) co_return answer;
  const std::string header(answer->fields.get("WWW-Authenticate"));
  auto authorization = co_await authorize(q.host, q.scope, header);
  if (!authorization)
    co_return problem{q.method + " " + quote(answer->url) + ": " + authorization.error().text};
  if (authorization->empty() || (had_one && *authorization == authorizations_[key]))
    co_return answer;
  authorizations_[key] = *authorization;
  co_return co_await send(q, std::move(*authorization));
}

awaitable<outcome<bool>> registry::ping(std::string host) {
  question q;
  q.host = std::move(host);
  q.target = "/v2/";
  auto answer = co_await ask(std::move(q));
  if (!answer) co_return answer.error();
  if (answer->status != 200) co_return refused("GET", *answer);
  co_return true;
}

awaitable<outcome<std::vector<std::string>>> registry::versions(oci_reference of) {
  std::vector<std::string> tags;
  std::string target = "/v2/" + of.repository + "/tags/list";
  for (std::size_t page = 0; !target.empty(); ++page) {
    if (page == tag_pages_limit || tags.size() > tags_limit)
      co_return problem{"the registry lists more tags of " + of.repository + " than " +
                        std::to_string(tags_limit)};
    question q;
    q.host = of.registry;
    q.target = target;
    q.scope = "repository:" + of.repository + ":pull";
    auto answer = co_await ask(std::move(q));
    if (!answer) co_return answer.error();
    if (answer->status != 200) co_return refused("GET", *answer);
    auto v = read_json(answer->body);
    if (!v) co_return problem{"the registry's list of tags is not valid JSON"};
    const auto* list = v->find("tags");
    if (list && list->is_list())
      for (const auto& t : list->items())
        if (t.is_string()) tags.push_back(t.text());
    const std::string next = next_page(*answer);
    if (!next.empty() && (next == answer->url || !same_origin(next, answer->url)))
      co_return problem{"the registry's list of tags goes on at a place that cannot be right"};
    target = next;
  }
  co_return versions_of(tags);
}

awaitable<outcome<oci_reference>> registry::resolve(std::string reference, std::string version) {
  auto out = parse_oci_reference(reference);
  if (!out) co_return out.error();
  const std::string named = replace_all(out->tag, "_", "+");
  if (version.empty()) {
    version = named;
  } else if (!out->tag.empty() && out->tag != version && named != version) {
    co_return problem{"chart reference and version mismatch: " + version + " is not " + out->tag};
  }
  if (!out->digest.empty()) {
    if (version.empty()) co_return out;
    // A tag beside the digest must mean the same manifest, if it exists at all.
    question q;
    q.method = "HEAD";
    q.host = out->registry;
    q.target = "/v2/" + out->repository + "/manifests/" + tag_of(version);
    q.scope = "repository:" + out->repository + ":pull";
    q.fields.set("Accept", manifest_types);
    auto answer = co_await ask(std::move(q));
    if (answer && answer->status == 200) {
      const std::string digest(answer->fields.get("Docker-Content-Digest"));
      if (!digest.empty() && digest != out->digest)
        co_return problem{"chart reference digest mismatch: " + digest + " is not " + out->digest};
    }
    out->tag.clear();
    co_return out;
  }
  if (parse_version(version)) {
    out->tag = tag_of(version);
    co_return out;
  }
  out->tag.clear();
  oci_reference all = *out;
  auto found = co_await versions(std::move(all));
  if (!found) co_return found.error();
  if (found->empty())
    co_return problem{"Unable to locate any tags in provided repository: " + reference};
  auto chosen = find_version(*found, version);
  if (!chosen) co_return chosen.error();
  out->tag = tag_of(*chosen);
  co_return out;
}

awaitable<outcome<std::pair<oci_manifest, descriptor>>> registry::manifest(oci_reference from) {
  question q;
  q.host = from.registry;
  q.target = "/v2/" + from.repository + "/manifests/" +
             (from.manifest().empty() ? "latest" : from.manifest());
  q.scope = "repository:" + from.repository + ":pull";
  q.fields.set("Accept", manifest_types);
  q.limit_bytes = manifest_bytes_limit;
  auto answer = co_await ask(std::move(q));
  if (!answer) co_return answer.error();
  if (answer->status == 404) co_return problem{from.text() + ": not found"};
  if (answer->status != 200) co_return refused("GET", *answer);
  const std::string digest = "sha256:" + sha256(answer->body);
  if (!from.digest.empty() && digest != from.digest)
    co_return wrong_digest(from.digest, answer->body);
  const std::string promised(answer->fields.get("Docker-Content-Digest"));
  if (promised.starts_with("sha256:") && promised != digest)
    co_return wrong_digest(promised, answer->body);
  auto read = read_manifest(answer->body, answer->fields.get("Content-Type"));
  if (!read) co_return problem{from.text() + ": " + read.error().text};
  descriptor d{read->media_type, digest, answer->body.size()};
  co_return std::pair(std::move(*read), std::move(d));
}

awaitable<outcome<std::string>> registry::blob(oci_reference from, descriptor d,
                                               std::size_t limit_bytes) {
  if (d.size_bytes > limit_bytes)
    co_return problem{"blob " + d.digest + " is larger than " + std::to_string(limit_bytes) +
                      " bytes"};
  question q;
  q.host = from.registry;
  q.target = "/v2/" + from.repository + "/blobs/" + d.digest;
  q.scope = "repository:" + from.repository + ":pull";
  q.limit_bytes = d.size_bytes;
  auto answer = co_await ask(std::move(q));
  if (!answer) co_return answer.error();
  if (answer->status != 200)
    co_return problem{"unable to retrieve blob with digest " + d.digest + ": " +
                      refused("GET", *answer).text};
  if (answer->body.size() != d.size_bytes)
    co_return problem{"blob " + d.digest + " has " + std::to_string(answer->body.size()) +
                      " bytes instead of " + std::to_string(d.size_bytes)};
  if ("sha256:" + sha256(answer->body) != d.digest) co_return wrong_digest(d.digest, answer->body);
  co_return std::move(answer->body);
}

awaitable<outcome<pulled_chart>> registry::pull(oci_reference from, wanted_parts wanted) {
  auto top = co_await manifest(from);
  if (!top)
    co_return problem{"failed to perform \"FetchReference\" on source: " + top.error().text};
  std::vector<descriptor> reachable;
  std::vector<oci_manifest> manifests;
  reachable.push_back(top->second);
  manifests.push_back(top->first);
  if (top->first.manifests.size() > index_manifests_limit)
    co_return problem{"image index names more than " + std::to_string(index_manifests_limit) +
                      " manifests"};
  for (std::size_t i = 0; i < top->first.manifests.size(); ++i) {
    if (top->first.manifests[i].media_type != media_type::image_manifest) continue;
    oci_reference inner = from;
    inner.tag.clear();
    inner.digest = top->first.manifests[i].digest;
    auto one = co_await manifest(std::move(inner));
    if (!one) co_return one.error();
    reachable.push_back(one->second);
    manifests.push_back(std::move(one->first));
  }
  // Another kind of manifest is not looked into, as Helm does not.
  const bool known = top->second.media_type == media_type::image_manifest ||
                     top->second.media_type == media_type::image_index;
  for (const auto& m : manifests) {
    if (!known) break;
    if (m.config) reachable.push_back(*m.config);
    reachable.insert(reachable.end(), m.layers.begin(), m.layers.end());
  }
  auto parts = find_parts(reachable, wanted);
  if (!parts) co_return parts.error();
  pulled_chart out;
  out.reference = from;
  out.manifest = top->second;
  out.notes = parts->warnings;
  auto config = co_await blob(from, parts->config, config_bytes_limit);
  if (!config) co_return config.error();
  auto meta = read_json(*config);
  if (!meta) co_return meta.error();
  if (auto read = metadata_from(*meta, out.meta); !read) co_return read.error();
  if (wanted.chart) {
    auto bytes = co_await blob(from, *parts->chart, chart_archive_bytes_limit);
    if (!bytes) co_return bytes.error();
    out.archive = std::move(*bytes);
  }
  if (wanted.provenance) {
    auto bytes = co_await blob(from, *parts->provenance, provenance_bytes_limit);
    if (!bytes) co_return bytes.error();
    out.provenance = std::move(*bytes);
  }
  const auto notes = notes_of("Pulled: ", from, out.manifest.digest);
  out.notes.insert(out.notes.end(), notes.begin(), notes.end());
  co_return out;
}

awaitable<outcome<bool>> registry::upload(oci_reference to, descriptor d, std::string bytes) {
  const std::string scope = "repository:" + to.repository + ":pull,push";
  const std::string blobs = "/v2/" + to.repository + "/blobs/";
  question present;
  present.method = "HEAD";
  present.host = to.registry;
  present.target = blobs + d.digest;
  present.scope = scope;
  auto there = co_await ask(std::move(present));
  if (!there) co_return there.error();
  if (there->status == 200) co_return true;
  if (there->status != 404) co_return refused("HEAD", *there);

  question open;
  open.method = "POST";
  open.host = to.registry;
  open.target = blobs + "uploads/";
  open.scope = scope;
  auto session = co_await ask(std::move(open));
  if (!session) co_return session.error();
  if (session->status != 202) co_return refused("POST", *session);
  auto at = follow_location(session->url, session->fields.get("Location"));
  if (!at) co_return at.error();
  // Proxies make registries believe that they are reached by http, or under no port.
  auto place = parse_url(*at);
  const auto own = parse_url(base_url(to.registry));
  const auto name = [](const std::string& host) { return host.substr(0, host.rfind(':')); };
  if (!place || session->fields.get("Location").empty() || name(place->host) != name(own->host))
    co_return problem{"the registry wants the upload to go to another place: " +
                      quote(without_user(*at))};
  place->scheme = own->scheme;
  place->host = own->host;
  place->query +=
      (place->query.empty() ? "digest=" : "&digest=") + reactor::http::encode_component(d.digest);
  place->has_query = true;
  question put;
  put.method = "PUT";
  put.host = to.registry;
  put.target = place->text();
  put.scope = scope;
  put.fields.set("Content-Type", "application/octet-stream");
  put.body = std::move(bytes);
  auto done = co_await ask(std::move(put));
  if (!done) co_return done.error();
  if (done->status != 201) co_return refused("PUT", *done);
  co_return true;
}

awaitable<outcome<pushed_chart>> registry::push(oci_reference to, metadata meta,
                                                std::string archive, std::string provenance,
                                                std::string created) {
  std::string config = write_config(meta);
  const auto describe = [](const char* type, const std::string& bytes) {
    return descriptor{type, "sha256:" + sha256(bytes), bytes.size()};
  };
  const descriptor config_blob = describe(media_type::config, config);
  std::vector<std::pair<descriptor, std::string>> blobs;
  std::vector<descriptor> layers;
  layers.push_back(describe(media_type::chart, archive));
  blobs.emplace_back(layers.back(), std::move(archive));
  if (!provenance.empty()) {
    layers.push_back(describe(media_type::provenance, provenance));
    blobs.emplace_back(layers.back(), std::move(provenance));
  }
  blobs.emplace_back(config_blob, std::move(config));
  for (auto& [d, bytes] : blobs) {
    auto done = co_await upload(to, d, std::move(bytes));
    if (!done) co_return done.error();
  }
  const std::string text = write_manifest(config_blob, layers, annotations_of(meta, created));
  question put;
  put.method = "PUT";
  put.host = to.registry;
  put.target = "/v2/" + to.repository + "/manifests/" + to.tag;
  put.scope = "repository:" + to.repository + ":pull,push";
  put.fields.set("Content-Type", media_type::image_manifest);
  put.body = text;
  auto done = co_await ask(std::move(put));
  if (!done) co_return done.error();
  if (done->status != 201) co_return refused("PUT", *done);
  pushed_chart out;
  out.reference = to;
  out.digest = "sha256:" + sha256(text);
  const std::string promised(done->fields.get("Docker-Content-Digest"));
  if (promised.starts_with("sha256:") && promised != out.digest)
    co_return problem{"the registry says it keeps the manifest as " + promised + " instead of " +
                      out.digest};
  out.notes = notes_of("Pushed: ", to, out.digest);
  co_return out;
}

}  // namespace helm::sources
