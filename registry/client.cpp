#include "registry/client.hpp"

#include "formats/digest.hpp"
#include "formats/go/text.hpp"
#include "formats/go/value.hpp"
#include "formats/json/json.hpp"
#include "reactor/plain/secret.hpp"
#include "registry/url.hpp"

namespace registry {

using formats::digest_of;
using formats::quote;
using formats::read_json;

namespace {

constexpr std::size_t tag_pages_limit = 100;
constexpr std::size_t tags_limit = 100'000;

constexpr const char* manifest_types =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, "
    "application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json";

fault wrong_digest(const std::string& wanted, std::string_view bytes) {
  return failed(errc::altered, "content does not match its digest: " + wanted + " was asked for, " +
                                   digest_of(bytes) + " came");
}

/// The digest that the registry says its answer has, where it is one that we can compute.
std::string promised(const web_answer& a) {
  std::string out(a.fields.get("Docker-Content-Digest"));
  return out.starts_with("sha256:") ? out : std::string();
}

std::string scope_of(const oci_reference& r, const char* rights) {
  return "repository:" + r.repository + ":" + rights;
}

question about_manifest(const oci_reference& r) {
  question q;
  q.host = r.registry;
  q.target =
      "/v2/" + r.repository + "/manifests/" + (r.manifest().empty() ? "latest" : r.manifest());
  q.scope = scope_of(r, "pull");
  q.fields.set("Accept", manifest_types);
  return q;
}

/// `at` on the origin of `own`: a registry behind a proxy names the scheme, port or name by which
/// the proxy reaches it, so only path and query of what it says about itself count.
std::string at_origin(url at, std::string_view own) {
  const auto place = parse_url(own);
  at.scheme = place->scheme;
  at.host = place->host;
  at.user.clear();
  return at.text();
}

/// The target of `Link: <…>; rel="next"` on a page of tags; empty on the last page. A page that came
/// by a redirect goes on where it came from.
/// Errors   errc::malformed for a Link to another place.
answer<std::string> next_page(const web_answer& page, const std::string& base_url) {
  const std::string_view link = page.fields.get("Link");
  const auto open = link.find('<');
  const auto close = link.find('>', open == link.npos ? 0 : open);
  if (open == link.npos || close == link.npos) return std::string();
  const auto rest = link.substr(close);
  if (rest.find("next") == rest.npos) return std::string();
  const auto to = follow_location(page.url, link.substr(open + 1, close - open - 1));
  outcome<url> place = problem{};
  if (to) place = parse_url(*to);
  std::string next;
  if (place && same_origin(page.url, base_url) && place->path.starts_with("/v2/"))
    next = at_origin(*place, base_url);
  else if (place && same_origin(page.url, *to))
    next = *to;
  if (next.empty() || next == page.url)
    return failed(errc::malformed,
                  "the registry's list of tags goes on at a place that cannot be right");
  return next;
}

/// Where the bytes of an upload go: the session that the registry opened, on the registry's own
/// host.
answer<std::string> upload_target(const web_answer& opened, const std::string& base_url,
                                  const std::string& digest) {
  auto at = follow_location(opened.url, opened.fields.get("Location"));
  if (!at) return failed(errc::malformed, at.error().text);
  auto place = parse_url(*at);
  const auto own = parse_url(base_url);
  const auto name = [](const std::string& host) {
    const auto colon = host.find(':', host.starts_with('[') ? host.find(']') : 0);
    return host.substr(0, colon);
  };
  if (!place || opened.fields.get("Location").empty() || name(place->host) != name(own->host))
    return failed(errc::refused, "the registry wants the upload to go to another place: " +
                                     quote(reactor::redact(without_user(*at))));
  place->query +=
      (place->query.empty() ? "digest=" : "&digest=") + reactor::http::encode_component(digest);
  place->has_query = true;
  return at_origin(std::move(*place), base_url);
}

}  // namespace

client::client(reactor::loop& l, web& w, client_options options)
    : session_(l, w, std::move(options)) {}

awaitable<answer<void>> client::ping(std::string host) {
  question q;
  q.host = std::move(host);
  q.target = "/v2/";
  auto got = co_await session_.ask(std::move(q));
  if (!got) co_return got.error();
  if (got->status != 200) co_return unexpected("GET", *got);
  co_return answer<void>();
}

awaitable<answer<std::vector<std::string>>> client::tags(oci_reference of) {
  std::vector<std::string> out;
  std::string target = "/v2/" + of.repository + "/tags/list";
  for (std::size_t page = 0; !target.empty(); ++page) {
    if (page == tag_pages_limit || out.size() > tags_limit)
      co_return failed(errc::malformed, "the registry lists more tags of " + of.repository +
                                            " than " + std::to_string(tags_limit));
    question q;
    q.host = of.registry;
    q.target = target;
    q.scope = scope_of(of, "pull");
    auto got = co_await session_.ask(std::move(q));
    if (!got) co_return got.error();
    if (got->status != 200) co_return unexpected("GET", *got);
    auto v = read_json(got->body);
    if (!v) co_return failed(errc::malformed, "the registry's list of tags is not valid JSON");
    const auto* list = v->find("tags");
    if (list && list->is_list())
      for (const auto& t : list->items())
        if (t.is_string()) out.push_back(t.text());
    auto next = next_page(*got, session_.base_url(of.registry));
    if (!next) co_return next.error();
    target = std::move(*next);
  }
  co_return out;
}

awaitable<answer<std::string>> client::promised_digest(oci_reference of) {
  question q = about_manifest(of);
  q.method = "HEAD";
  auto got = co_await session_.ask(std::move(q));
  if (!got) co_return got.error();
  if (got->status != 200) co_return unexpected("HEAD", *got);
  co_return std::string(got->fields.get("Docker-Content-Digest"));
}

awaitable<answer<std::string>> client::current_digest(oci_reference of, std::string known) {
  question peek = about_manifest(of);
  peek.method = "HEAD";
  auto seen = co_await session_.ask(std::move(peek));
  if (!seen) co_return seen.error();
  const bool cannot_peek = seen->status == 405 || seen->status == 501;
  if (seen->status != 200 && !cannot_peek) co_return unexpected("HEAD", *seen);
  if (seen->status == 200 && !known.empty() && promised(*seen) == known) co_return known;

  question whole = about_manifest(of);
  whole.limit_bytes = manifest_bytes_limit;
  if (!known.empty()) whole.fields.set("If-None-Match", quote(known));
  auto got = co_await session_.ask(std::move(whole));
  if (!got) co_return got.error();
  if (got->status == 304 && !known.empty()) co_return known;
  if (got->status != 200) co_return unexpected("GET", *got);
  std::string digest = digest_of(got->body);
  const std::string said = promised(*got);
  if (!said.empty() && said != digest) co_return wrong_digest(said, got->body);
  if (auto read = read_manifest(got->body, got->fields.get("Content-Type")); !read)
    co_return failed(errc::malformed, of.text() + ": " + read.error().text);
  co_return digest;
}

awaitable<answer<stored_manifest>> client::manifest(oci_reference from) {
  question q = about_manifest(from);
  q.limit_bytes = manifest_bytes_limit;
  auto got = co_await session_.ask(std::move(q));
  if (!got) co_return got.error();
  if (got->status == 404) {
    fault absent = unexpected("GET", *got);
    absent.text = from.text() + ": not found";
    co_return absent;
  }
  if (got->status != 200) co_return unexpected("GET", *got);
  const std::string digest = digest_of(got->body);
  if (!from.digest.empty() && digest != from.digest) co_return wrong_digest(from.digest, got->body);
  const std::string said = promised(*got);
  if (!said.empty() && said != digest) co_return wrong_digest(said, got->body);
  auto read = read_manifest(got->body, got->fields.get("Content-Type"));
  if (!read) co_return failed(errc::malformed, from.text() + ": " + read.error().text);
  stored_manifest out;
  out.itself = descriptor{read->media_type, digest, got->body.size()};
  out.content = std::move(*read);
  out.bytes = std::move(got->body);
  co_return out;
}

awaitable<answer<std::string>> client::blob(oci_reference from, descriptor d,
                                            std::size_t limit_bytes) {
  if (d.size_bytes > limit_bytes)
    co_return failed(errc::malformed, "blob " + d.digest + " is larger than " +
                                          std::to_string(limit_bytes) + " bytes");
  question q;
  q.host = from.registry;
  q.target = "/v2/" + from.repository + "/blobs/" + d.digest;
  q.scope = scope_of(from, "pull");
  q.limit_bytes = d.size_bytes;
  auto got = co_await session_.ask(std::move(q));
  if (!got) co_return got.error();
  if (got->status != 200)
    co_return unexpected("GET", *got)
        .behind("unable to retrieve blob with digest " + d.digest + ": ");
  if (got->body.size() != d.size_bytes)
    co_return failed(errc::altered, "blob " + d.digest + " has " +
                                        std::to_string(got->body.size()) + " bytes instead of " +
                                        std::to_string(d.size_bytes));
  if (digest_of(got->body) != d.digest) co_return wrong_digest(d.digest, got->body);
  co_return std::move(got->body);
}

awaitable<answer<void>> client::put_blob(oci_reference to, descriptor d, std::string bytes) {
  const std::string blobs = "/v2/" + to.repository + "/blobs/";
  question present;
  present.method = "HEAD";
  present.host = to.registry;
  present.target = blobs + d.digest;
  present.scope = scope_of(to, "pull,push");
  question open = present, put = present;
  auto there = co_await session_.ask(std::move(present));
  if (!there) co_return there.error();
  if (there->status == 200) co_return answer<void>();
  if (there->status != 404) co_return unexpected("HEAD", *there);

  open.method = "POST";
  open.target = blobs + "uploads/";
  auto opened = co_await session_.ask(std::move(open));
  if (!opened) co_return opened.error();
  if (opened->status != 202) co_return unexpected("POST", *opened);
  auto target = upload_target(*opened, session_.base_url(to.registry), d.digest);
  if (!target) co_return target.error();

  put.method = "PUT";
  put.target = std::move(*target);
  put.fields.set("Content-Type", "application/octet-stream");
  put.body = std::move(bytes);
  auto done = co_await session_.ask(std::move(put));
  if (!done) co_return done.error();
  if (done->status != 201) co_return unexpected("PUT", *done);
  co_return answer<void>();
}

awaitable<answer<void>> client::mount_blob(oci_reference to, std::string from_repository,
                                           std::string digest) {
  using reactor::http::encode_component;
  oci_reference from = to;
  from.repository = from_repository;
  question q;
  q.method = "POST";
  q.host = to.registry;
  q.target = "/v2/" + to.repository + "/blobs/uploads/?mount=" + encode_component(digest) +
             "&from=" + encode_component(from_repository);
  // The rights on both, in one token.
  q.scope = scope_of(to, "pull,push") + " " + scope_of(from, "pull");
  auto done = co_await session_.ask(std::move(q));
  if (!done) co_return done.error();
  if (done->status == 202)
    co_return failed(errc::refused, "the registry does not take blob " + digest + " of " +
                                        from_repository + " into " + to.repository);
  if (done->status != 201) co_return unexpected("POST", *done);
  co_return answer<void>();
}

awaitable<answer<std::string>> client::put_manifest(oci_reference to, std::string text) {
  std::string type = media_type::image_manifest;
  co_return co_await put_manifest(std::move(to), std::move(text), std::move(type));
}

awaitable<answer<std::string>> client::put_manifest(oci_reference to, std::string text,
                                                    std::string type) {
  std::string digest = digest_of(text);
  question put;
  put.method = "PUT";
  put.host = to.registry;
  put.target = "/v2/" + to.repository + "/manifests/" + to.manifest();
  put.scope = scope_of(to, "pull,push");
  put.fields.set("Content-Type", type);
  put.body = std::move(text);
  auto done = co_await session_.ask(std::move(put));
  if (!done) co_return done.error();
  if (done->status != 201) co_return unexpected("PUT", *done);
  const std::string said = promised(*done);
  if (!said.empty() && said != digest)
    co_return failed(errc::altered, "the registry says it keeps the manifest as " + said +
                                        " instead of " + digest);
  co_return digest;
}

}  // namespace registry
