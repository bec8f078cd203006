#include "registry/web.hpp"

#include "formats/base64.hpp"
#include "formats/plain/text.hpp"
#include "reactor/deadline.hpp"
#include "reactor/http/authorization.hpp"
#include "reactor/http/client.hpp"
#include "reactor/http/wire.hpp"
#include "reactor/loop.hpp"
#include "reactor/net/metadata_address.hpp"
#include "reactor/plain/hide.hpp"
#include "reactor/system/files.hpp"
#include "registry/url.hpp"

#include <charconv>
#include <optional>
#include <utility>

namespace registry {

using formats::lower;
using formats::quote;

namespace {

constexpr int redirects_limit = 10;
constexpr std::size_t most_servers = 64;
constexpr std::size_t pem_bytes_limit = 4u << 20;
constexpr reactor::nanoseconds idle_limit = std::chrono::seconds(30);

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// Path and query, as a request line needs them.
std::string target_of(const url& u) {
  const std::string target = (u.path.empty() ? "/" : u.path) + (u.has_query ? "?" + u.query : "");
  std::string out;
  for (const char c : target) {
    // What a person wrote unescaped; everything else is left as it is.
    if (static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) >= 0x7f ||
        c == '"' || c == '<' || c == '>')
      out += reactor::http::encode_component(std::string_view(&c, 1));
    else
      out += c;
  }
  return out;
}

std::optional<std::uint64_t> announced_bytes(const reactor::http::headers& fields) {
  const auto text = fields.get("Content-Length");
  std::uint64_t n = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || wrong != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return n;
}

reactor::fault too_big(const web_request& r) {
  return reactor::make_fault(reactor::errc::limit, "read the answer",
                             "it is larger than " + std::to_string(r.limit_bytes) + " bytes");
}

/// What was sent as proof and comes back: code that quotes a refusal would print it.
void hide_proof(std::string& text, const reactor::secret& authorization) {
  const std::string_view value = authorization.reveal();
  const auto space = value.find(' ');
  const std::string_view proof = value.substr(space == value.npos ? 0 : space + 1);
  reactor::hide(text, proof);
  // A basic proof is a name and a password.
  if (auto pair = formats::decode_base64(proof)) {
    const reactor::secret whole(*std::move(pair));
    const std::string_view both = whole.reveal();
    if (const auto colon = both.find(':'); colon != both.npos)
      reactor::hide(text, both.substr(colon + 1));
  }
}
void hide_proof(web_answer& a, const reactor::secret& authorization) {
  if (a.status >= 200 && a.status < 300) return;
  hide_proof(a.body, authorization);
  reactor::http::headers safe;  // a field may be there several times
  for (auto [name, value] : a.fields) {
    if (reactor::http::same_name(name, "Location") ||
        reactor::http::same_name(name, "WWW-Authenticate"))
      hide_proof(value, authorization);
    safe.add(std::move(name), std::move(value));
  }
  a.fields = std::move(safe);
}

}  // namespace

web::web(reactor::loop& l, environment env) : loop_(l), env_(std::move(env)) {}
web::~web() = default;

awaitable<void> web::stop() {
  // Taken out first: a request that starts meanwhile makes a client of its own.
  auto all = std::exchange(clients_, {});
  for (auto& [where, client] : all) co_await client->stop();
}

void web::forget_unused() {
  if (clients_.size() < most_servers) return;
  std::erase_if(clients_, [](const auto& one) {
    return one.second.use_count() == 1 && one.second->connections() == 0;
  });
}

awaitable<result<web::shared_client>> web::client_for(std::string to, tls_choice tls) {
  auto origin = reactor::http::parse_origin(to);
  if (!origin) co_return origin.error();
  place key{origin->text(), tls};
  if (const auto found = clients_.find(key); found != clients_.end()) co_return found->second;
  reactor::http::client_options options;
  options.origin = *origin;
  options.tls.verify = !tls.skip_verify;
  const std::pair<const std::string*, std::string*> files[] = {
      {&tls.ca_file, &options.tls.ca_pem}, {&tls.certificate_file, &options.tls.certificate_pem}};
  for (const auto& [path, into] : files) {
    if (path->empty() || !origin->tls) continue;
    auto pem = co_await reactor::read_file(loop_, *path, pem_bytes_limit);
    if (!pem) co_return reactor::while_doing("can't create TLS config for client", pem.error());
    *into = std::move(*pem);
  }
  if (!tls.key_file.empty() && origin->tls) {
    const auto read = [](const std::string& path) {
      return reactor::load_secret(path, pem_bytes_limit);
    };
    auto key = co_await loop_.offload(read, tls.key_file);
    if (!key) co_return reactor::while_doing("can't create TLS config for client", key.error());
    options.tls.key_pem = std::move(*key);
  }
  options.proxy = reactor::http::proxy_from_environment(*origin, env_);
  forget_unused();
  shared_client& slot = clients_[key];
  if (!slot) slot = std::make_shared<reactor::http::client>(loop_, std::move(options));
  co_return slot;
}

namespace {

/// The body, piece by piece; small ones are put together.
awaitable<result<void>> hand_on(std::unique_ptr<reactor::http::exchange>& from,  // borrowed
                                const web_request& r) {
  constexpr std::size_t piece_bytes = 128u << 10;
  std::string held;
  std::size_t came = 0;
  for (;;) {
    auto piece = co_await from->read(idle_limit);
    if (!piece) co_return piece.error();
    const bool is_last = piece->empty();
    came += piece->size();
    if (came > r.limit_bytes) co_return too_big(r);
    held += *piece;
    if (held.size() >= piece_bytes || (is_last && !held.empty())) {
      auto taken = co_await r.on_piece(std::exchange(held, {}));
      if (!taken) co_return taken.error();
    }
    if (is_last) co_return result<void>();
  }
}

}  // namespace

awaitable<result<web_answer>> web::ask_once(web_request r) {
  const auto u = parse_url(r.url);
  if (!u) co_return reactor::make_fault(reactor::errc::malformed, "parse the URL", u.error().text);
  if (u->scheme != "http" && u->scheme != "https")
    co_return reactor::make_fault(reactor::errc::refused, "choose a protocol",
                                  "unsupported protocol scheme " + quote(u->scheme));
  if (reactor::is_metadata_host(u->host))
    co_return reactor::make_fault(reactor::errc::refused, "choose a server",
                                  u->host + " is an address where clouds keep credentials");
  credentials::shown shown = r.with.for_url(r.url);
  auto client = co_await client_for(u->scheme + "://" + u->host, std::move(shown.tls));
  if (!client) co_return client.error();
  reactor::http::request q;
  q.method = r.method;
  q.target = target_of(*u);
  q.fields = r.fields;
  q.fields.set("User-Agent", "windlass");
  q.body = std::move(r.body);
  reactor::secret authorization = std::move(shown.authorization);
  if (authorization.empty() && !u->user.empty()) {
    const auto colon = u->user.find(':');
    const reactor::secret password(
        colon == u->user.npos ? std::string()
                              : reactor::http::decode_component(u->user.substr(colon + 1)));
    authorization = reactor::http::basic_authorization(
        reactor::http::decode_component(u->user.substr(0, colon)), password.reveal());
  }
  q.authorization = authorization;
  const auto without_proof = [&authorization](reactor::fault f) {
    hide_proof(f.detail, authorization);
    return f;
  };
  auto exchange = co_await (*client)->send(std::move(q));
  if (!exchange) co_return without_proof(exchange.error());
  web_answer out;
  out.status = (*exchange)->head().status;
  out.fields = (*exchange)->head().fields;
  out.url = r.url;
  hide_proof(out, authorization);
  if (r.method == "HEAD") co_return out;
  const auto announced = announced_bytes(out.fields);
  if (announced && *announced > r.limit_bytes) co_return too_big(r);
  if (r.on_piece && out.status == 200) {
    auto handed = co_await hand_on(*exchange, r);
    if (!handed) co_return without_proof(handed.error());
    co_return out;
  }
  auto body = co_await reactor::http::read_body(*exchange, r.limit_bytes, idle_limit);
  if (!body) {
    if (body.error().code == reactor::errc::limit) co_return too_big(r);
    co_return without_proof(body.error());
  }
  out.body = std::move(*body);
  hide_proof(out, authorization);
  co_return out;
}

awaitable<result<web_answer>> web::converse(web_request r) {
  for (int followed = 0;; ++followed) {
    web_request once = r;
    auto answer = co_await ask_once(std::move(once));
    if (!answer || !is_redirect(answer->status) || r.on_redirect == web_request::redirects::answer)
      co_return answer;
    const std::string location(answer->fields.get("Location"));
    if (location.empty()) co_return answer;
    if (followed == redirects_limit)
      co_return reactor::make_fault(reactor::errc::refused, "follow redirects",
                                    "stopped after 10 redirects");
    const auto next = follow_location(r.url, location);
    if (!next)
      co_return reactor::make_fault(reactor::errc::malformed, "follow a redirect",
                                    next.error().text);
    if (r.url.starts_with("https:") && !next->starts_with("https:"))
      co_return reactor::make_fault(reactor::errc::refused, "follow a redirect",
                                    "it leads from https to " + without_user(*next));
    r.url = without_user(*next);  // a server chooses no login
  }
}

awaitable<result<web_answer>> web::ask(web_request r) {
  const auto deadline = loop_.now() + r.timeout;
  auto whole = converse(std::move(r));
  auto answer = co_await reactor::with_deadline(loop_, std::move(whole), deadline, "download");
  // A cancelled caller must not make a sentence of it: this wait unwinds.
  if (!answer && reactor::is_cancelled(answer.error().code)) co_await loop_.yield();
  co_return answer;
}

std::string status_text(int status) {
  return std::to_string(status) + " " + std::string(reactor::http::reason_phrase(status));
}

problem problem_of(const reactor::fault& f, const std::string& method, const std::string& where) {
  const std::string verb =
      method.empty() ? method : method.substr(0, 1) + lower(std::string_view(method).substr(1));
  return {verb + " " + quote(without_user(where)) + ": " + reactor::redact(f.message())};
}

}  // namespace registry
