#include "registry/client.hpp"

#include "formats/digest.hpp"
#include "formats/plain/text.hpp"
#include "reactor/plain/secret.hpp"
#include "registry/bounded_json.hpp"
#include "registry/grammar.hpp"
#include "registry/rules.hpp"
#include "registry/url.hpp"

#include <boost/json.hpp>

#include <functional>
#include <set>

namespace registry {

using formats::digest_of;
using formats::quote;

namespace {

constexpr std::size_t tags_limit = 100'000, tags_bytes_limit = 4u << 20;
/// Pages in a row without a new tag: a list that goes in circles.
constexpr std::size_t idle_pages_limit = 10;
constexpr reactor::nanoseconds carry_timeout = std::chrono::minutes(15);

constexpr const char* manifest_types =
    "application/vnd.oci.image.manifest.v1+json, application/vnd.oci.image.index.v1+json, "
    "application/vnd.docker.distribution.manifest.v2+json, "
    "application/vnd.docker.distribution.manifest.list.v2+json";

fault wrong_digest(const std::string& wanted, const std::string& is) {
  return failed(errc::altered,
                "content does not match its digest: " + wanted + " was asked for, " + is + " came");
}

/// The digest that the registry says its answer has, where it is one that we can compute.
std::string promised(const web_answer& a) {
  std::string out(a.fields.get("Docker-Content-Digest"));
  return out.starts_with("sha256:") ? out : std::string();
}

/// Of {"tags": […]}. What is no tag is none that a reference could name.
std::vector<std::string> tags_in(const boost::json::value& page) {
  std::vector<std::string> out;
  const auto* answer = page.if_object();
  const auto* list = answer ? answer->if_contains("tags") : nullptr;
  if (list && list->is_array())
    for (const auto& tag : list->get_array())
      if (tag.is_string() && is_tag(tag.get_string())) out.emplace_back(tag.get_string());
  return out;
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

/// Where the list of tags goes on after `page`; empty on the last page. Of what a registry says
/// about its own place only the query counts: one behind a proxy names the proxy's inner host, and
/// Artifactory leaves parts of the path out. A page that came by a redirect goes on where it came
/// from.
/// Errors   errc::malformed for a Link to another place.
answer<std::string> next_page(const web_answer& page, const std::string& base_url) {
  const std::string link = next_link(page.fields);
  if (link.empty()) return std::string();
  const auto to = follow_location(page.url, link);
  const auto here = parse_url(page.url);
  outcome<url> place = problem{};
  if (to) place = parse_url(*to);
  std::string next;
  if (place && here && same_origin(page.url, base_url) && place->path.ends_with("/tags/list")) {
    place->path = here->path;
    next = at_origin(*place, base_url);
  } else if (place && same_origin(page.url, *to)) {
    next = *to;
  }
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
    : loop_(l), session_(l, w, std::move(options)) {}

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
  std::set<std::string, std::less<>> known;
  std::size_t bytes = 0;
  std::string target = "/v2/" + of.repository + "/tags/list";
  for (std::size_t idle = 0; !target.empty();) {
    question q;
    q.host = of.registry;
    q.target = target;
    q.scope = scope_of(of, "pull");
    auto got = co_await session_.ask(std::move(q));
    if (!got) co_return got.error();
    if (got->status != 200) co_return unexpected("GET", *got);
    auto next = next_page(*got, session_.base_url(of.registry));
    auto page = co_await read_bounded(loop_, std::move(got->body), tags_limit);
    if (!page)
      co_return failed(errc::malformed,
                       "the registry's list of tags is not valid: " + page.error().text);
    const std::size_t before = out.size();
    for (std::string& tag : tags_in(*page))
      if (known.insert(tag).second) {
        bytes += tag.size();
        out.push_back(std::move(tag));
      }
    idle = out.size() == before ? idle + 1 : 0;
    if (out.size() > tags_limit || bytes > tags_bytes_limit || idle > idle_pages_limit)
      co_return failed(errc::malformed, "the registry lists more tags of " + of.repository +
                                            " than " + std::to_string(tags_limit) +
                                            ", or has no end of its list");
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
  if (got->status == 200) co_return std::string(got->fields.get("Docker-Content-Digest"));
  if (after_head(got->status, {}, {}) == after_manifest_head::give_up)
    co_return unexpected("HEAD", *got);
  co_return co_await current_digest(std::move(of), std::string());
}

awaitable<answer<std::string>> client::current_digest(oci_reference of, std::string known,
                                                      needed_rights rights) {
  question whole = about_manifest(of);
  whole.scope = scope_of(of, rights == needed_rights::push ? "pull,push" : "pull");
  // Without a digest to compare with, the bytes are needed whatever HEAD says.
  int head_status = 200;
  if (!known.empty() && !without_head_.contains(of.registry)) {
    question peek = whole;
    peek.method = "HEAD";
    auto seen = co_await session_.ask(std::move(peek));
    if (!seen) co_return seen.error();
    const auto next = after_head(seen->status, promised(*seen), known);
    if (next == after_manifest_head::give_up) co_return unexpected("HEAD", *seen);
    if (next == after_manifest_head::unchanged) co_return known;
    head_status = seen->status;
  }
  if (!known.empty()) whole.fields.set("If-None-Match", quote(known));
  whole.limit_bytes = named_manifest_bytes_limit;
  auto got = co_await session_.ask(std::move(whole));
  if (!got) co_return got.error();
  if (is_head_unserved(head_status, got->status)) without_head_.insert(of.registry);
  if (got->status == 304 && !known.empty()) co_return known;
  if (got->status != 200) co_return unexpected("GET", *got);
  const std::string said = promised(*got);
  std::string type(got->fields.get("Content-Type"));
  auto is = co_await read_digested(loop_, std::move(got->body), std::move(type));
  if (!said.empty() && said != is.digest) co_return wrong_digest(said, is.digest);
  if (!is.content) co_return failed(errc::malformed, of.text() + ": " + is.content.error().text);
  co_return std::move(is.digest);
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
  const std::string said = promised(*got);
  std::string type(got->fields.get("Content-Type"));
  auto is = co_await read_digested(loop_, std::move(got->body), std::move(type));
  if (!from.digest.empty() && is.digest != from.digest)
    co_return wrong_digest(from.digest, is.digest);
  if (!said.empty() && said != is.digest) co_return wrong_digest(said, is.digest);
  if (!is.content) co_return failed(errc::malformed, from.text() + ": " + is.content.error().text);
  stored_manifest out;
  out.itself = descriptor{is.content->media_type, std::move(is.digest), is.text.size()};
  out.content = std::move(*is.content);
  out.bytes = std::move(is.text);
  co_return out;
}

awaitable<answer<std::string>> client::blob(oci_reference from, descriptor d,
                                            std::size_t limit_bytes, reactor::nanoseconds timeout) {
  if (d.size_bytes > limit_bytes)
    co_return failed(errc::malformed, "blob " + d.digest + " is larger than " +
                                          std::to_string(limit_bytes) + " bytes");
  question q;
  q.host = from.registry;
  q.target = "/v2/" + from.repository + "/blobs/" + d.digest;
  q.scope = scope_of(from, "pull");
  q.limit_bytes = d.size_bytes;
  q.timeout = timeout;
  auto got = co_await session_.ask(std::move(q));
  if (!got) co_return got.error();
  if (got->status != 200)
    co_return unexpected("GET", *got)
        .behind("unable to retrieve blob with digest " + d.digest + ": ");
  if (got->body.size() != d.size_bytes)
    co_return failed(errc::altered, "blob " + d.digest + " has " +
                                        std::to_string(got->body.size()) + " bytes instead of " +
                                        std::to_string(d.size_bytes));
  auto is = co_await digested(loop_, std::move(got->body));
  if (is.digest != d.digest) co_return wrong_digest(d.digest, is.digest);
  co_return std::move(is.text);
}

awaitable<answer<void>> client::put_blob(oci_reference to, descriptor d, std::string bytes) {
  const std::string blobs = "/v2/" + to.repository + "/blobs/";
  question present;
  present.method = "HEAD";
  present.host = to.registry;
  present.target = blobs + d.digest;
  present.scope = scope_of(to, "pull,push");
  question open = present;
  auto there = co_await session_.ask(std::move(present));
  if (!there) co_return there.error();
  const auto next = after_head_of_blob(there->status);
  if (next == after_blob_head::present) co_return answer<void>();
  if (next == after_blob_head::give_up) co_return unexpected("HEAD", *there);

  open.method = "POST";
  open.target = blobs + "uploads/";
  auto opened = co_await session_.ask(std::move(open));
  if (!opened) co_return opened.error();
  if (opened->status != 202) co_return unexpected("POST", *opened);
  co_return co_await upload(std::move(to), std::move(*opened), std::move(d.digest),
                            std::move(bytes), download_timeout);
}

awaitable<answer<void>> client::upload(oci_reference to, web_answer opened, std::string digest,
                                       std::string bytes, reactor::nanoseconds timeout) {
  auto target = upload_target(opened, session_.base_url(to.registry), digest);
  if (!target) co_return target.error();
  question put;
  put.method = "PUT";
  put.host = to.registry;
  put.target = std::move(*target);
  put.scope = scope_of(to, "pull,push");
  put.fields.set("Content-Type", "application/octet-stream");
  put.body = std::move(bytes);
  put.timeout = timeout;
  auto done = co_await session_.ask(std::move(put));
  if (!done) co_return done.error();
  if (!is_stored(done->status)) co_return unexpected("PUT", *done);
  co_return answer<void>();
}

awaitable<answer<void>> client::carry_blob(oci_reference to, std::string from_repository,
                                           descriptor d) {
  using reactor::http::encode_component;
  oci_reference from = to;
  from.repository = from_repository;
  question q;
  q.method = "POST";
  q.host = to.registry;
  q.target = "/v2/" + to.repository + "/blobs/uploads/?mount=" + encode_component(d.digest) +
             "&from=" + encode_component(from_repository);
  // The rights on both, in one token.
  q.scope = scope_of(to, "pull,push") + " " + scope_of(from, "pull");
  auto asked = co_await session_.ask(std::move(q));
  // Token servers refuse rights on two repositories in one token with a status of their own.
  if (!asked && (asked.error().cancelled || asked.error().http_status == 0 ||
                 after_mount_answer(asked.error().http_status) == after_mount::give_up))
    co_return asked.error();
  const auto next = after_mount_answer(asked ? asked->status : asked.error().http_status);
  if (next == after_mount::mounted) co_return answer<void>();
  if (next == after_mount::give_up) co_return unexpected("POST", *asked);

  descriptor source = d;
  auto bytes = co_await blob(from, std::move(source), carried_bytes_limit, carry_timeout);
  if (!bytes)
    co_return std::move(bytes.error())
        .behind("the registry does not mount blobs of " + from_repository + " in " + to.repository +
                ": ");
  if (next == after_mount::upload_there)
    co_return co_await upload(std::move(to), std::move(*asked), std::move(d.digest),
                              std::move(*bytes), carry_timeout);
  co_return co_await put_blob(std::move(to), std::move(d), std::move(*bytes));
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
  if (!is_stored(done->status)) co_return unexpected("PUT", *done);
  const std::string said = promised(*done);
  if (!said.empty() && said != digest)
    co_return failed(errc::altered, "the registry says it keeps the manifest as " + said +
                                        " instead of " + digest);
  co_return digest;
}

}  // namespace registry
