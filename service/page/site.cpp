#include "service/page/site.hpp"

#include "reactor/http/message.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "reactor/system/files.hpp"
#include "service/page/files.hpp"

#include <algorithm>
#include <utility>

namespace web {
namespace {

using namespace std::chrono_literals;
using reactor::awaitable;
namespace http = reactor::http;

constexpr std::size_t piece_bytes = 64 * 1024, longest_path = 200;

/// What a browser must hold to, whatever a text of the page says.
void add_rules(http::headers& to) {
  to.add("Content-Security-Policy",
         "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
         "'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
         "require-trusted-types-for 'script'; trusted-types 'none'");
  to.add("X-Content-Type-Options", "nosniff");
  to.add("X-Frame-Options", "DENY");
  // "no-referrer" would make the Origin of our own form "null".
  to.add("Referrer-Policy", "same-origin");
  to.add("Cross-Origin-Opener-Policy", "same-origin");
  to.add("Cross-Origin-Resource-Policy", "same-origin");
}

http::response plain(int status, std::string_view sentence) {
  http::response out;
  out.status = status;
  out.fields.add("Content-Type", "text/plain; charset=utf-8");
  out.fields.add("Cache-Control", "no-store");
  add_rules(out.fields);
  out.body = reactor::printable(sentence) + "\n";
  return out;
}

/// What a browser is told of an address that leads nowhere.
bool is_read_by_person(const http::request& r) {
  return r.fields.get("Accept").find("text/html") != std::string_view::npos;
}

std::string escaped_for_html(std::string_view sentence) {
  std::string out;
  for (const char c : reactor::printable(sentence)) switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  return out;
}

/// The way back from "/a/b/c" to the page, whatever path a proxy has put before: "../../".
std::string way_home(std::string_view path) {
  std::string out;
  for (std::size_t i = 1; i < path.size(); ++i)
    if (path[i] == '/') out += "../";
  return out.empty() ? "./" : out;
}

/// 404 in the form that the caller reads.
http::response missing(const http::request& r, const std::string& path,
                       const std::string& sentence) {
  http::response out = plain(404, sentence);
  const file* page = is_read_by_person(r) ? find_file("missing.html") : nullptr;
  if (!page) return out;
  std::string text(page->text);
  const auto put = [&text](std::string_view mark, const std::string& value) {
    for (std::size_t at = 0; (at = text.find(mark, at)) != text.npos; at += value.size())
      text.replace(at, mark.size(), value);
  };
  put("{home}", way_home(path));
  put("{sentence}", escaped_for_html(sentence));
  out.fields.set("Content-Type", std::string(page->type));
  out.body = std::move(text);
  return out;
}

/// "token=…" of a form.
std::string field_of_form(std::string_view body, std::string_view name) {
  while (!body.empty()) {
    const std::size_t end = std::min(body.find('&'), body.size());
    const std::string_view one = body.substr(0, end);
    body.remove_prefix(std::min(end + 1, body.size()));
    if (one.starts_with(name) && one.substr(name.size()).starts_with('=')) {
      std::string value(one.substr(name.size() + 1));
      std::ranges::replace(value, '+', ' ');
      std::string decoded = http::decode_component(value);
      reactor::wipe(value);
      return decoded;
    }
  }
  return {};
}

/// Counts for as long as it lives.
class counted {
public:
  explicit counted(std::size_t& n) noexcept : n_(n) { ++n_; }
  ~counted() { --n_; }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

private:
  std::size_t& n_;
};

}  // namespace

site::site(reactor::loop& l, site_options options, board& of, document_maker documents,
           reactor::logger log)
    : loop_(l),
      options_(std::move(options)),
      board_(of),
      documents_(std::move(documents)),
      log_(std::move(log)),
      wrong_tokens_(l, "the page", log_),
      unusable_told_(l, token_is_told_every),
      tasks_(l) {}

site::~site() = default;

awaitable<reactor::result<reactor::secret>> site::load_token() {
  const auto load = [](const std::string& path) { return reactor::load_secret(path, 4'096); };
  reactor::result<reactor::secret> file = co_await loop_.offload(load, options_.token_file);
  if (!file) co_return file.error();
  auto token = read_token(*file);
  if (!token) co_return reactor::while_doing("use " + options_.token_file, token.error());
  co_return token;
}

awaitable<reactor::result<void>> site::start() {
  std::optional<reactor::secret> token;
  if (!options_.token_file.empty()) {
    auto loaded = co_await load_token();
    if (!loaded) co_return loaded.error();
    token = std::move(*loaded);
  }
  door_.emplace(loop_.random(), std::move(token));
  http::server_options o;
  o.at = options_.at;
  o.max_connections = 256;
  o.header_timeout = 5s;
  o.write_timeout = 10s;
  o.idle_timeout = 60s;
  o.header_limit_bytes = 16 * 1024;
  o.body_limit_bytes = 8 * 1024;
  server_ = std::make_unique<http::server>(
      loop_, std::move(o),
      [this](http::request r, http::responder& to) { return answer(std::move(r), to); });
  auto started = server_->start();
  if (!started) {
    server_.reset();
    co_return reactor::while_doing("serve the page", started.error());
  }
  log_.info("listening", {{"for", "the page"}, {"at", server_->local().text()}});
  if (!door_->is_open()) tasks_.start("token of the page", follow_token());
  co_return reactor::result<void>();
}

awaitable<void> site::follow_token() {
  for (;;) {
    co_await loop_.sleep_for(token_is_read_every);
    auto token = co_await load_token();
    // The last good one goes on: a mounted Secret may be away for a moment.
    if (!token) {
      if (unusable_told_.pass("token"))
        log_.warning("the token of the page cannot be read again, the former one still opens it",
                     {{"why", token.error().message()}});
      continue;
    }
    door_->change_token(std::move(*token));
    board_.wake_readers();
  }
}

bool site::holds(const admission& by) const {
  return door_->holds(by, loop_.now());
}

awaitable<void> site::stop() {
  co_await tasks_.cancel_and_join();
  if (server_) co_await server_->stop();
}

reactor::endpoint site::local() const {
  return server_ ? server_->local() : options_.at;
}

awaitable<void> site::answer(http::request r, http::responder& to) {
  const std::string host(r.fields.get("Host"));
  if (!is_our_host(host, options_.hosts)) {
    http::response no = plain(421, "this is not what the page is called; --ui-host NAME allows it");
    (void)co_await to.send(std::move(no));
    co_return;
  }
  const http::target_parts asked = http::split_target(r.target);
  const bool posted = r.method == "POST";
  if (posted && (asked.path == "/login" || asked.path == "/logout")) {
    co_await log_in(std::move(r), to);
    co_return;
  }
  if (r.method != "GET" && (r.method != "HEAD" || asked.path == "/events")) {
    http::response no = plain(405, "only GET");
    no.fields.add("Allow", "GET");
    (void)co_await to.send(std::move(no));
    co_return;
  }
  const std::string_view authorization = r.fields.get("authorization");
  std::optional<admission> known =
      door_->lets_in(authorization, r.fields.get("Cookie"), loop_.now());
  if (!known && door_->is_wrong_token(authorization)) {
    const bool waited = co_await wrong_tokens_.wait(to.peer());
    if (!waited) {
      co_await refuse_wrong_tokens(to);
      co_return;
    }
  }
  std::string tag(r.fields.get("If-None-Match"));
  std::string name = asked.path == "/" ? "index.html" : asked.path.substr(1);
  if (!known && name == "index.html") {
    co_await answer_file("login.html", 401, {}, to);
    co_return;
  }
  const bool for_all = name == "page.css" || name == "login.js" || name == "icon.svg";
  if (!known && !for_all) {
    co_await ask_for_token(to);
    co_return;
  }
  if (asked.path == "/events") {
    std::string last(r.fields.get("Last-Event-ID"));
    if (last.empty()) last = asked.get("since").value_or("");
    co_await stream(std::move(*known), std::move(last), to);
  } else if (asked.path.starts_with("/data/")) {
    co_await answer_document(std::move(*known), asked, to);
  } else if (asked.path.starts_with("/cluster/")) {
    co_await answer_place(std::move(*known), std::move(r), asked, to);
  } else if (!find_file(name) || name == "login.html" || name == "missing.html") {
    http::response no =
        missing(r, asked.path, "this page has nothing at " + asked.path.substr(0, longest_path));
    (void)co_await to.send(std::move(no));
  } else {
    co_await answer_file(std::move(name), 200, std::move(tag), to);
  }
}

/// Addresses that people send to each other: the page itself keeps what is open behind the '#',
/// which no server sees.
awaitable<void> site::answer_place(admission by, http::request r, http::target_parts asked,
                                   http::responder& to) {
  if (documents_asked_ >= most_documents) {
    http::response no = plain(503, "too many documents are asked for at this moment");
    (void)co_await to.send(std::move(no));
    co_return;
  }
  const counted one(documents_asked_);
  const std::string path = asked.path;
  auto route = co_await documents_("place", std::move(asked));
  if (!holds(by)) {
    co_await ask_for_token(to);
    co_return;
  }
  if (!route) {
    const bool absent = route.error().code == reactor::errc::not_found;
    http::response no =
        absent ? missing(r, path, route.error().message()) : plain(503, route.error().message());
    (void)co_await to.send(std::move(no));
    co_return;
  }
  http::response out;
  out.status = 303;
  add_rules(out.fields);
  out.fields.add("Location", way_home(path) + **route);
  out.fields.add("Cache-Control", "no-store");
  (void)co_await to.send(std::move(out));
}

awaitable<void> site::ask_for_token(http::responder& to) {
  http::response no = plain(401, "show the token: by the form of / or as a bearer");
  no.fields.add("WWW-Authenticate", "Bearer");
  (void)co_await to.send(std::move(no));
}

awaitable<void> site::refuse_wrong_tokens(http::responder& to) {
  http::response no = plain(429, "too many requests show a wrong token at this moment");
  (void)co_await to.send(std::move(no));
}

awaitable<void> site::answer_file(std::string name, int status, std::string known,
                                  http::responder& to) {
  const file* found = find_file(name);
  http::response out;
  out.status = status;
  add_rules(out.fields);
  if (status == 200) {
    out.fields.add("ETag", found->tag);
    out.fields.add("Cache-Control", "no-cache");
    if (known == found->tag) out.status = 304;
  } else {
    out.fields.add("WWW-Authenticate", "Bearer");
    out.fields.add("Cache-Control", "no-store");
  }
  out.fields.add("Content-Type", std::string(found->type));
  if (out.status != 304) out.body = found->text;
  (void)co_await to.send(std::move(out));
}

awaitable<void> site::stream(admission by, std::string last, http::responder& to) {
  if (readers_ >= most_readers) {
    http::response no = plain(503, "as many readers as may be follow the fleet already");
    (void)co_await to.send(std::move(no));
    co_return;
  }
  const counted reader(readers_);
  if (on_reader) on_reader();
  http::response_head head{200, {}};
  head.fields.add("Content-Type", "text/event-stream");
  head.fields.add("Cache-Control", "no-store");
  head.fields.add("X-Accel-Buffering", "no");
  add_rules(head.fields);
  auto sent = co_await to.start(std::move(head));
  std::optional<std::uint64_t> cursor = board_.cursor_of(last);
  std::uint64_t began = cursor.value_or(board_.revision()), at = cursor.value_or(0);
  bool full = !cursor;
  while (sent && holds(by)) {
    if (board_.forgot_after(std::max(began, at))) {
      began = board_.revision();
      at = 0;
      full = true;
    }
    const std::optional<board::piece> piece = board_.next(at);
    if (piece) at = piece->cursor;
    std::string event =
        "id: " + board_.id_of(at) +
        "\ndata: {\"apiVersion\":\"windlass.dev/v1alpha1\",\"kind\":\"FleetChange\"";
    event += ",\"at\":\"" + reactor::format_rfc3339(loop_.wall()) + "\"";
    if (std::exchange(full, false)) event += ",\"full\":true";
    if (piece) event += "," + piece->text;
    const bool more = piece && piece->more;
    if (more) event += ",\"more\":true";
    event += "}\n\n";
    sent = co_await to.write(std::move(event));
    co_await loop_.yield();
    if (!sent || more) continue;
    const auto looks_at = std::min(loop_.now() + heartbeat, by.until);
    const bool changed = co_await board_.changed(at, looks_at);
    // What changes now is often not alone.
    if (changed) co_await loop_.sleep_for(coalesced);
  }
  if (sent) (void)co_await to.finish();
}

awaitable<void> site::answer_document(admission by, http::target_parts asked, http::responder& to) {
  if (documents_asked_ >= most_documents) {
    http::response no = plain(503, "too many documents are asked for at this moment");
    (void)co_await to.send(std::move(no));
    co_return;
  }
  const counted one(documents_asked_);
  constexpr std::string_view data = "/data/";
  std::string name = asked.path.substr(data.size());
  auto made = co_await documents_(std::move(name), std::move(asked));
  if (!holds(by)) {
    co_await ask_for_token(to);
    co_return;
  }
  if (!made) {
    const bool absent = made.error().code == reactor::errc::not_found;
    http::response no = plain(absent ? 404 : 503, made.error().message());
    (void)co_await to.send(std::move(no));
    co_return;
  }
  const text all = std::move(*made);
  http::response_head head{200, {}};
  head.fields.add("Content-Type", "application/json");
  head.fields.add("Cache-Control", "no-store");
  add_rules(head.fields);
  auto sent = co_await to.start(std::move(head));
  for (std::size_t at = 0; sent && at < all->size(); at += piece_bytes) {
    if (!holds(by)) co_return to.abandon();
    std::string piece = all->substr(at, piece_bytes);
    sent = co_await to.write(std::move(piece));
    co_await loop_.yield();
  }
  if (sent) (void)co_await to.finish();
}

awaitable<void> site::log_in(http::request r, http::responder& to) {
  const bool ours = is_our_origin(r.fields.get("Origin"), r.fields.get("Host"));
  const reactor::secret shown(field_of_form(r.body, "token"));
  reactor::wipe(r.body);
  if (!ours) {
    http::response no = plain(403, "that form is not ours");
    (void)co_await to.send(std::move(no));
    co_return;
  }
  http::response back;
  back.status = 303;
  add_rules(back.fields);
  back.fields.add("Location", "/");
  back.fields.add("Cache-Control", "no-store");
  if (http::split_target(r.target).path == "/logout") {
    back.fields.add("Set-Cookie", door_->log_out(r.fields.get("Cookie")));
    board_.wake_readers();
    (void)co_await to.send(std::move(back));
    co_return;
  }
  const transport by = http::same_name(r.fields.get("X-Forwarded-Proto"), "https")
                           ? transport::tls
                           : transport::plain;
  if (auto cookie = door_->log_in(shown, by, loop_.now())) {
    back.fields.add("Set-Cookie", std::move(*cookie));
  } else if (!door_->is_open()) {
    const bool waited = co_await wrong_tokens_.wait(to.peer());
    if (!waited) {
      co_await refuse_wrong_tokens(to);
      co_return;
    }
    back.fields.set("Location", "/?refused");
  }
  (void)co_await to.send(std::move(back));
}

}  // namespace web
