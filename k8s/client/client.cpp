// One class: every request goes through the same few steps (limiter, credentials, deadline,
// answer), kept beside them.
#include "k8s/client/client.hpp"

#include "formats/json/values.hpp"
#include "k8s/client/answer.hpp"
#include "k8s/client/apart.hpp"
#include "k8s/client/credentials.hpp"
#include "k8s/client/wiping_json.hpp"
#include "k8s/pace/pace.hpp"
#include "reactor/http/date.hpp"
#include "reactor/http/gzip.hpp"
#include "reactor/http/warnings.hpp"
#include "reactor/limiter.hpp"
#include "reactor/loop.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace k8s {
namespace {

/// Requests that may go at once after a pause.
constexpr double burst = 400;

namespace json = boost::json;
namespace http = reactor::http;
using namespace std::chrono_literals;

constexpr std::size_t object_limit_bytes = 4 * 1024 * 1024;  // etcd refuses objects above 1.5 MB
// list_pages asks for smaller ones where this is not enough
constexpr std::size_t page_limit_bytes = 16 * 1024 * 1024;
constexpr std::size_t unpacked_on_loop_bytes = 512;                // gzip makes a thousand of one
constexpr std::size_t refusal_limit_bytes = 64 * 1024;             // a Status; read on the loop
constexpr std::size_t plain_list_limit_bytes = 512 * 1024 * 1024;  // read piece by piece

constexpr std::string_view any_json = "application/json";
constexpr std::string_view metadata_list =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
constexpr std::string_view metadata_alone =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// Behind a media type: answers come without metadata.managedFields (KEP-5958). Servers before
/// v1.37, and those with the gate ManagedFieldsOptOut off, ignore it.
constexpr std::string_view without_managers = ";drop=metadata.managedFields";

/// Asks for that no more. False: it was not asked for.
bool accept_managers(http::request& r) {
  std::string accept(r.fields.get("Accept"));
  if (!accept.ends_with(without_managers)) return false;
  accept.resize(accept.size() - without_managers.size());
  r.fields.set("Accept", std::move(accept));
  return true;
}

/// "/path?a=b&c=d" from pieces; empty values are left out. Without a path it stays empty, and
/// nothing is sent.
class target {
public:
  explicit target(std::optional<std::string> path) : text_(std::move(path).value_or("")) {}
  target& add(std::string_view name, std::string_view value) {
    if (value.empty() || text_.empty()) return *this;
    text_ += first_ ? '?' : '&';
    first_ = false;
    text_ += name;
    text_ += '=';
    text_ += http::encode_component(value);
    return *this;
  }
  std::string take() { return std::move(text_); }

private:
  std::string text_;
  bool first_ = true;
};

/// What may be asked for as it is: "/apis/apps/v1", of which a chart or a server may have named the
/// parts.
bool is_plain_path(std::string_view path) {
  if (!path.starts_with('/')) return false;
  path.remove_prefix(1);
  for (;;) {
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    const bool printable =
        std::all_of(part.begin(), part.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    if (!printable || !problem_of_name(part).empty()) return false;
    if (end == path.size()) return true;
    path.remove_prefix(end + 1);
  }
}

std::string naming(const resource& r, const std::string& subresource) {
  return subresource.empty() ? r.plural : r.plural + "/" + subresource;
}

std::string in_namespace(const std::string& ns) {
  return ns.empty() ? "" : " in " + ns;
}

http::client_options transport_options(reactor::loop& l, const credentials& who,
                                       const std::string& server) {
  http::client_options out;
  out.origin = http::parse_origin(server).value();
  out.tls = who.tls();
  out.how = who.to().precedence;
  if (!who.to().proxy_url.empty()) {
    out.proxy.url = who.to().proxy_url;
  } else if (!l.simulated()) {
    out.proxy = http::proxy_from_environment(out.origin, [](std::string_view name) {
      const char* value = std::getenv(std::string(name).c_str());
      return std::string(value ? value : "");
    });
  }
  return out;
}

std::string path_prefix(const std::string& server) {
  std::string path;
  (void)http::parse_origin(server, &path);
  while (path.ends_with('/')) path.pop_back();
  return path;
}

void fill_identity(json::object& body, const resource& r) {
  if (!body.contains("apiVersion")) body["apiVersion"] = r.api_version();
  if (!body.contains("kind")) body["kind"] = r.kind;
}

json::object& metadata_of(json::object& body) {
  json::value& metadata = body["metadata"];
  if (!metadata.is_object()) metadata.emplace_object();
  return metadata.get_object();
}

result<json::object> as_object(result<json::value> got, const std::string& doing) {
  if (!got) return got.error();
  json::object* object = got->if_object();
  const json::value* kind = object ? object->if_contains("kind") : nullptr;
  if (!kind || !kind->is_string()) {
    fault f;
    f.code = errc::malformed;
    f.http_status = 200;
    f.doing = doing;
    f.detail = "the server does not speak the Kubernetes API: its answer is no object with a kind";
    return f;
  }
  return std::move(*object);
}

}  // namespace

namespace {

/// API priority and fairness is on: the server queues what is too much for it, and tells.
bool names_priority_level(const http::headers& fields) {
  return !fields.get("X-Kubernetes-PF-PriorityLevel-UID").empty();
}

/// What the body of a good answer is taken for.
enum class body_form : std::uint8_t {
  json,
  part,  // json of which less may be asked for
  text,
  object_text  // of an object, which the caller parses
};

/// Of a list smaller pages may be asked for; one object of that size is not what a server stores.
fault too_much(std::string doing, body_form form, const std::string& what) {
  fault f;
  f.code = form == body_form::part ? errc::over_budget : errc::malformed;
  f.http_status = 200;
  f.doing = std::move(doing);
  f.detail = "the answer has more than " + what;
  return f;
}

fault too_long(std::string doing, body_form form, std::size_t limit_bytes) {
  return too_much(std::move(doing), form, std::to_string(limit_bytes / 1024) + " KiB");
}

/// Secrets, and tokens of service accounts: what is sent and what is answered holds credentials.
bool is_of_secrets(std::string_view target) {
  const auto has_part = [&](std::string_view part) {
    const std::size_t at = target.find(part);
    return at != target.npos &&
           (at + part.size() == target.size() ||
            std::string_view("/?").find(target[at + part.size()]) != std::string_view::npos);
  };
  return has_part("/secrets") || (has_part("/serviceaccounts") && has_part("/token"));
}

/// An answer's body as what it stands for; pure, so that a long one is read off the loop.
struct body_reader {
  int status = 0;
  http::headers fields;
  std::string body;
  std::size_t limit_bytes = 0;
  body_form form = body_form::json;
  std::string doing;
  json::storage_ptr storage;

  bool is_long() const {
    const bool packed = !fields.get("Content-Encoding").empty();
    return body.size() > (packed ? unpacked_on_loop_bytes : parsed_on_loop_bytes);
  }
  result<json::value> read() {
    auto plain = http::decoded(fields, std::exchange(body, {}), limit_bytes);
    if (!plain && plain.error().code == reactor::errc::limit)
      return too_long(doing, form, limit_bytes);
    if (!plain) return from_transport(plain.error(), doing);
    struct wiping {
      std::string& text;
      ~wiping() { reactor::wipe(text); }
    } const afterwards{*plain};
    const bool good = status / 100 == 2;
    if (form == body_form::object_text && good) {
      if (auto why = no_object_in(status, fields, *plain, doing)) return *std::move(why);
      // It may be one that failed.
      if (plain->find("\"Status\"") != std::string::npos)
        if (auto said = read_answer(status, fields, *plain, doing); !said) return said;
    }
    const bool is_json = form == body_form::json || form == body_form::part;
    if (!is_json && good) return json::value(json::string(*plain));
    if (good && plain->size() > parsed_on_loop_bytes &&
        formats::json_values_in(*plain) > formats::most_json_values)
      return too_much(doing, form, std::to_string(formats::most_json_values) + " values");
    // A refusal is a sentence; what is longer is not read for one.
    if (!good && plain->size() > parsed_on_loop_bytes) plain->resize(parsed_on_loop_bytes);
    return read_answer(status, fields, *plain, doing, storage);
  }
};

}  // namespace

struct client::impl {
  impl(reactor::loop& l, connection to, std::string manager)
      : loop(l),
        who(l, std::move(to)),
        field_manager(std::move(manager)),
        prefix(path_prefix(who.to().server)),
        transport(l, transport_options(l, who, who.to().server)),
        speed(l.now()),
        limiter(l, {speed.rate(), burst}),
        off_loop(l) {}

  /// Common header fields; `body` decides whether there is a Content-Type.
  http::request make(std::string method, std::string path_and_query,
                     const json::value* body = nullptr,
                     std::string content_type = "application/json") const {
    http::request r;
    r.method = std::move(method);
    r.target = path_and_query.empty() ? "" : prefix + path_and_query;
    r.fields.add("Accept", std::string(any_json).append(body ? without_managers : ""));
    r.fields.add("User-Agent", "windlass/" WINDLASS_VERSION);
    if (body) {
      r.fields.add("Content-Type", std::move(content_type));
      r.body = is_of_secrets(path_and_query) ? text_of_secret(*body) : json::serialize(*body);
    }
    return r;
  }

  const std::string& manager_or(const std::string& given) const {
    return given.empty() ? field_manager : given;
  }
  void authorize(http::request& r) const { r.authorization = who.authorization(); }

  /// A name, a namespace or a kind that would make the request another one.
  static fault unsendable(std::string doing) {
    fault f;
    f.code = errc::invalid;
    f.doing = std::move(doing);
    f.detail = "nothing was sent: a name in it is empty or cannot be a part of a path";
    return f;
  }

  awaitable<reactor::result<bool>> refresh(credentials::look how, std::uint64_t refused = 0) {
    const auto changed = co_await who.refresh(how, refused);
    if (!changed) co_return changed.error();
    if (changed->tls) transport.set_tls(who.tls());
    co_return changed->token || changed->tls;
  }

  /// The program that gives the credentials gave none, so nothing was sent.
  fault without_credentials(const reactor::fault& why, std::string doing) {
    fault f = from_transport(why, std::move(doing));
    f.code = errc::unauthorized;
    f.detail = why.message();
    who.hide_in(f);
    observe(&f, {});
    return f;
  }

  /// A transport's fault, with the likely reason when it is ours to know.
  fault failed(const reactor::fault& f, std::string doing,
               std::optional<reactor::nanoseconds> took = std::nullopt) {
    paced_answer about;
    if (f.code == reactor::errc::timed_out) about.took = took;
    fault out = from_transport(f, std::move(doing));
    who.hide_in(out);
    if (!out.cancelled) add_certificate_problem(out);
    observe(&out, about);
    return out;
  }

  void add_certificate_problem(fault& f) const {
    if (f.code != errc::unauthorized && f.http_status != 0) return;
    if (const std::string why = who.certificate_problem(); !why.empty()) f.detail += "; " + why;
  }

  /// What is asked of one request, and what its answer is taken for.
  struct call_shape {
    std::string doing;
    std::size_t limit_bytes = object_limit_bytes;
    body_form form = body_form::json;
    bool of_secrets = false;
  };
  /// What came of sending a request once.
  template <class T>
  struct attempt {
    result<T> got;
    paced_answer about = {};
    bool refused = false;  // the server answered, and `got` is its refusal
  };

  /// Sends a request and its credentials by `once(request, deadline)`. A 401 is tried once more
  /// when the credentials' files have changed, or their program gave others. `within`: from when
  /// the credentials are there, which has a deadline of its own; 0: of a stream, which has none.
  template <class T, class Once>
  awaitable<result<T>> authorized(http::request r, std::string doing, reactor::nanoseconds within,
                                  Once once) {
    if (r.target.empty()) co_return unsendable(std::move(doing));
    struct wiping {
      http::request& r;
      ~wiping() {
        if (is_of_secrets(r.target)) reactor::wipe(r.body);
      }
    } const afterwards{r};
    const auto ready = co_await refresh(credentials::look::when_due);
    if (!ready) co_return without_credentials(ready.error(), std::move(doing));
    const reactor::steady_time deadline = loop.now() + within;
    if (knows_no_drop) (void)accept_managers(r);
    for (int tried = 0;;) {
      const reactor::steady_time turn_by =
          within.count() > 0 ? deadline : loop.now() + request_deadline;
      const bool turn = co_await limiter.acquire_until(turn_by);
      if (!turn) co_return held_back(doing);
      http::request sent = r;
      authorize(sent);
      const std::uint64_t login = who.login_number();
      attempt<T> came = co_await once(std::move(sent), deadline);
      if (!came.refused) co_return std::move(came.got);
      fault why = came.got.error();
      if (why.http_status == 406 && accept_managers(r)) {
        knows_no_drop = true;
        continue;
      }
      const bool again = co_await refused(why, came.about, tried++, login);
      if (!again) co_return why;
    }
  }

  /// One request and its whole answer.
  awaitable<result<json::value>> call(http::request r, call_shape how,
                                      reactor::nanoseconds within = request_deadline) {
    how.of_secrets = is_of_secrets(r.target);
    std::string doing = how.doing;
    auto once = [this, how = std::move(how)](http::request sent, reactor::steady_time deadline) {
      return call_once(std::move(sent), how, deadline);
    };
    return authorized<json::value>(std::move(r), std::move(doing), within, std::move(once));
  }

  awaitable<attempt<json::value>> call_once(http::request sent, call_shape how,
                                            reactor::steady_time deadline) {
    const reactor::steady_time began = loop.now();
    auto got = co_await transport.fetch(std::move(sent), how.limit_bytes, deadline);
    paced_answer about;
    about.took = loop.now() - began;
    if (!got && how.form == body_form::part && got.error().code == reactor::errc::limit) {
      const fault why = too_long(how.doing, how.form, how.limit_bytes);
      observe(&why, about);
      co_return attempt<json::value>{why};
    }
    if (!got) co_return attempt<json::value>{failed(got.error(), how.doing, about.took)};
    about.fairness = names_priority_level(got->fields);
    if (on_warning)
      for (const std::string& text : reactor::http::warnings_in(got->fields)) on_warning(text);
    if (const auto said = http::parse_date(got->fields.get("Date")))
      clock_ahead = *said - loop.wall();
    body_reader reader{got->status,
                       std::move(got->fields),
                       std::move(got->body),
                       how.limit_bytes,
                       how.form,
                       how.doing,
                       how.of_secrets ? wiping_storage() : json::storage_ptr()};
    const bool long_body = reader.is_long();
    std::optional<result<json::value>> read;
    if (long_body) {
      const auto job = [](body_reader& all) { return all.read(); };
      auto done = co_await off_loop.run(job, std::move(reader));
      read.emplace(std::move(done));
    } else {
      read.emplace(reader.read());
    }
    if (*read) observe(nullptr, about);
    const bool refused = !*read;
    co_return attempt<json::value>{std::move(*read), about, refused};
  }

  /// What every refusal means for the next request. True where this one is to be sent once more:
  /// the server did not know the credentials, and their files have others now.
  awaitable<bool> refused(fault& why, paced_answer about, int attempt,  // borrowed
                          std::uint64_t login) {
    who.hide_in(why);
    observe(&why, about);
    if (why.code == errc::unauthorized && attempt == 0) {
      const auto changed = co_await refresh(credentials::look::now, login);
      // Another request's refusal may have brought them.
      if (changed && (*changed || who.login_number() != login)) co_return true;
      if (!changed) why.detail += "; " + changed.error().message();
    }
    add_certificate_problem(why);
    co_return false;
  }

  /// The limiter gave no permission in time.
  fault held_back(std::string doing) const {
    fault f;
    f.code = errc::throttled;
    f.doing = std::move(doing);
    f.detail = "the server asked for a pause that lasts longer than the request may wait";
    f.retry_after = std::max<reactor::nanoseconds>(speed.paused_until() - loop.now(), 1s);
    return f;
  }

  /// Every answer, and every failure to get one; null: a success.
  void observe(const fault* why, paced_answer about) {
    if (!why) who.accepted();
    if (why && why->code == errc::throttled && !is_budget_refusal(*why)) {
      about.throttled = true;
      about.retry_after = why->retry_after;
    }
    about.held_others = limiter.waiting() > 0;
    // A failure without an answer says nothing of the server's speed, unless the deadline passed.
    if (!why || why->http_status != 0 || about.took) {
      speed.answered(about, loop.now());
      limiter.set_rate(speed.rate());
      limiter.hold_until(speed.paused_until());
    }
    if (on_outcome && !(why && why->cancelled)) on_outcome(why);
  }

  using stream = std::unique_ptr<http::exchange>;
  awaitable<result<stream>> open(http::request r, std::string doing) {
    auto once = [this, doing](http::request sent, reactor::steady_time) {
      return open_once(std::move(sent), doing);
    };
    return authorized<stream>(std::move(r), std::move(doing), {}, std::move(once));
  }

  awaitable<attempt<stream>> open_once(http::request sent, std::string doing) {
    auto got = co_await transport.send(std::move(sent));
    if (!got) co_return attempt<stream>{failed(got.error(), doing)};
    auto plain = http::decoded(std::move(*got), plain_list_limit_bytes);
    if (!plain) co_return attempt<stream>{failed(plain.error(), doing)};
    stream under_way = std::move(*plain);
    const int status = under_way->head().status;
    const bool json_body =
        under_way->head().fields.get("Content-Type").starts_with("application/json");
    paced_answer about;
    about.fairness = names_priority_level(under_way->head().fields);
    if (status == 200 && json_body) {
      observe(nullptr, about);
      co_return attempt<stream>{std::move(under_way)};
    }
    const http::headers fields = under_way->head().fields;
    auto body = co_await http::read_body(under_way, refusal_limit_bytes, request_deadline);
    if (!body) co_return attempt<stream>{failed(body.error(), doing)};
    auto answer = read_answer(status, fields, *body, doing);
    if (!answer) co_return attempt<stream>{answer.error(), about, true};
    fault why;
    why.code = errc::malformed;
    why.http_status = status;
    why.doing = doing;
    why.detail = "the server does not speak the Kubernetes API: its answer is not application/json";
    co_return attempt<stream>{why};
  }

  awaitable<result<json::object>> object_call(http::request r, std::string doing,
                                              reactor::nanoseconds within = request_deadline,
                                              std::size_t limit_bytes = object_limit_bytes,
                                              body_form form = body_form::json) {
    call_shape how;
    how.doing = doing;
    how.form = form;
    how.limit_bytes = limit_bytes;
    auto got = co_await call(std::move(r), std::move(how), within);
    co_return as_object(std::move(got), doing);
  }

  awaitable<result<std::string>> text_call(http::request r, std::string doing,
                                           body_form form = body_form::object_text,
                                           std::size_t limit_bytes = object_limit_bytes) {
    call_shape how;
    how.doing = std::move(doing);
    how.form = form;
    how.limit_bytes = limit_bytes;
    auto got = co_await call(std::move(r), std::move(how));
    if (!got) co_return got.error();
    co_return std::string(got->get_string());
  }

  /// A request and what it is called in a sentence.
  struct named_request {
    http::request what;
    std::string doing;
  };
  named_request to_create(const resource& r, const std::string& ns, json::object body,
                          const request_options& options) const;
  named_request to_patch(const resource& r, const object_key& key, patch_kind kind,
                         json::object patch, const request_options& options) const;

  reactor::loop& loop;
  credentials who;
  std::string field_manager;
  std::string prefix;
  http::client transport;
  pace speed;
  reactor::limiter limiter;
  apart off_loop;
  newest_version newest;
  std::optional<reactor::nanoseconds> clock_ahead;
  bool knows_no_drop = false;  // it answered 406 to without_managers
  std::function<void(const fault*)> on_outcome;
  std::function<void(const std::string&)> on_warning;
};

client::client(reactor::loop& l, connection to, std::string field_manager)
    : impl_(std::make_unique<impl>(l, std::move(to), std::move(field_manager))) {}

client::~client() = default;

void client::hide_credentials(fault& f) const {
  impl_->who.hide_in(f);
}

awaitable<result<json::object>> client::get(resource r, object_key key, request_options options) {
  std::string doing = "get " + naming(r, options.subresource) + " " + key.text();
  http::request request =
      impl_->make("GET", target(r.object_path(key.ns, key.name, options.subresource)).take());
  return impl_->object_call(std::move(request), std::move(doing), options.deadline);
}

awaitable<result<json::object>> client::get_within(resource r, object_key key,
                                                   std::uint64_t most_bytes) {
  std::string doing = "get " + naming(r, {}) + " " + key.text();
  http::request request = impl_->make("GET", target(r.object_path(key.ns, key.name, {})).take());
  const bool is_part = most_bytes < object_limit_bytes;
  const std::size_t most = is_part ? most_bytes : object_limit_bytes;
  return impl_->object_call(std::move(request), std::move(doing), request_deadline, most,
                            is_part ? body_form::part : body_form::json);
}

namespace {

/// The Accept header of a list: which parts of its objects come.
std::string accepted(const list_options& o) {
  std::string accept(o.metadata_only ? metadata_list : any_json);
  if (!o.managed_fields) accept += without_managers;
  return accept;
}

target list_target(const resource& r, const list_options& o) {
  target t(r.collection_path(o.ns));
  if (o.limit > 0) t.add("limit", std::to_string(o.limit));
  t.add("continue", o.continue_token)
      .add("labelSelector", o.label_selector)
      .add("fieldSelector", o.field_selector);
  // A continue token carries its version; servers refuse both.
  if (o.continue_token.empty()) {
    t.add("resourceVersion", o.resource_version)
        .add("resourceVersionMatch", o.resource_version_match);
  }
  return t;
}

}  // namespace

awaitable<result<json::object>> client::list(resource r, list_options options) {
  std::string doing = "list " + r.plural + in_namespace(options.ns);
  http::request request = impl_->make("GET", list_target(r, options).take());
  request.fields.add("Accept-Encoding", http::accepted_encoding);
  request.fields.set("Accept", accepted(options));
  const std::size_t most = std::min<std::uint64_t>(options.most_bytes, page_limit_bytes);
  auto page = co_await impl_->object_call(std::move(request), std::move(doing), request_deadline,
                                          most, body_form::part);
  // Servers say null where a list of PartialObjectMetadata has none.
  json::value* items = page ? page->if_contains("items") : nullptr;
  if (items && items->is_null()) items->emplace_array();
  co_return page;
}

client::impl::named_request client::impl::to_create(const resource& r, const std::string& ns,
                                                    json::object body,
                                                    const request_options& options) const {
  fill_identity(body, r);
  const json::value* metadata = body.if_contains("metadata");
  const json::value* named =
      metadata && metadata->is_object() ? metadata->get_object().if_contains("name") : nullptr;
  const bool has_name = named && named->is_string();
  std::string doing =
      "create " + r.plural +
      (has_name ? " " + object_key{ns, std::string(named->get_string())}.text() : in_namespace(ns));
  target t(r.collection_path(ns));
  t.add("fieldManager", manager_or(options.field_manager));
  const json::value document(std::move(body));
  return {make("POST", t.take(), &document), std::move(doing)};
}

awaitable<result<json::object>> client::create(resource r, std::string ns, json::object body,
                                               request_options options) {
  auto [request, doing] = impl_->to_create(r, ns, std::move(body), options);
  return impl_->object_call(std::move(request), std::move(doing), options.deadline);
}

awaitable<result<std::string>> client::create_text(resource r, std::string ns, json::object body,
                                                   request_options options) {
  auto [request, doing] = impl_->to_create(r, ns, std::move(body), options);
  return impl_->text_call(std::move(request), std::move(doing));
}

awaitable<result<json::object>> client::create_subresource(resource r, object_key key,
                                                           std::string subresource,
                                                           json::object body) {
  std::string doing = "create " + naming(r, subresource) + " " + key.text();
  target t(r.object_path(key.ns, key.name, subresource));
  t.add("fieldManager", impl_->field_manager);
  const json::value document(std::move(body));
  return impl_->object_call(impl_->make("POST", t.take(), &document), std::move(doing));
}

awaitable<result<json::object>> client::apply(resource r, object_key key, json::object body,
                                              request_options options) {
  std::string doing = "apply " + naming(r, options.subresource) + " " + key.text();
  fill_identity(body, r);
  json::object& metadata = metadata_of(body);
  metadata["name"] = key.name;
  if (!key.ns.empty()) metadata["namespace"] = key.ns;
  target t(r.object_path(key.ns, key.name, options.subresource));
  t.add("fieldManager", impl_->manager_or(options.field_manager));
  if (options.conflicts == apply_conflicts::force) t.add("force", "true");
  const json::value document(std::move(body));
  http::request request = impl_->make("PATCH", t.take(), &document, "application/apply-patch+yaml");
  return impl_->object_call(std::move(request), std::move(doing));
}

awaitable<result<json::object>> client::rehearse(resource r, object_key key, json::object body) {
  std::string doing = "apply (dry run) " + r.plural + " " + key.text();
  fill_identity(body, r);
  target t(r.object_path(key.ns, key.name));
  t.add("fieldManager", impl_->field_manager).add("force", "true").add("dryRun", "All");
  const json::value document(std::move(body));
  http::request request = impl_->make("PATCH", t.take(), &document, "application/apply-patch+yaml");
  return impl_->object_call(std::move(request), std::move(doing));
}

awaitable<result<json::object>> client::merge_patch(resource r, object_key key, json::object patch,
                                                    request_options options) {
  return this->patch(std::move(r), std::move(key), patch_kind::merge, std::move(patch),
                     std::move(options));
}

client::impl::named_request client::impl::to_patch(const resource& r, const object_key& key,
                                                   patch_kind kind, json::object patch,
                                                   const request_options& options) const {
  std::string doing = "patch " + naming(r, options.subresource) + " " + key.text();
  target t(r.object_path(key.ns, key.name, options.subresource));
  t.add("fieldManager", manager_or(options.field_manager));
  const json::value document(std::move(patch));
  return {make("PATCH", t.take(), &document,
               kind == patch_kind::merge ? "application/merge-patch+json"
                                         : "application/strategic-merge-patch+json"),
          std::move(doing)};
}

awaitable<result<json::object>> client::patch(resource r, object_key key, patch_kind kind,
                                              json::object patch, request_options options) {
  auto [request, doing] = impl_->to_patch(r, key, kind, std::move(patch), options);
  return impl_->object_call(std::move(request), std::move(doing));
}

awaitable<result<std::string>> client::merge_patch_text(resource r, object_key key,
                                                        json::object patch,
                                                        request_options options) {
  auto [request, doing] = impl_->to_patch(r, key, patch_kind::merge, std::move(patch), options);
  return impl_->text_call(std::move(request), std::move(doing));
}

awaitable<result<json::object>> client::replace(resource r, object_key key, json::object body,
                                                request_options options) {
  std::string doing = "update " + naming(r, options.subresource) + " " + key.text();
  fill_identity(body, r);
  target t(r.object_path(key.ns, key.name, options.subresource));
  t.add("fieldManager", impl_->field_manager);
  const json::value document(std::move(body));
  http::request request = impl_->make("PUT", t.take(), &document);
  return impl_->object_call(std::move(request), std::move(doing), options.deadline);
}

awaitable<result<void>> client::remove(resource r, object_key key) {
  return remove(std::move(r), std::move(key), {});
}

awaitable<result<void>> client::remove(resource r, object_key key, delete_options options) {
  std::string doing = "delete " + r.plural + " " + key.text();
  json::object body{{"kind", "DeleteOptions"}, {"apiVersion", "v1"}};
  json::object preconditions;
  if (!options.uid.empty()) preconditions["uid"] = options.uid;
  if (!options.resource_version.empty())
    preconditions["resourceVersion"] = options.resource_version;
  if (!preconditions.empty()) body["preconditions"] = std::move(preconditions);
  if (options.grace_period_seconds) body["gracePeriodSeconds"] = *options.grace_period_seconds;
  if (!options.propagation.empty()) body["propagationPolicy"] = options.propagation;
  const json::value document(std::move(body));
  http::request request =
      impl_->make("DELETE", target(r.object_path(key.ns, key.name)).take(), &document);
  auto done = co_await impl_->text_call(std::move(request), std::move(doing));
  if (!done) co_return done.error();
  co_return result<void>();
}

awaitable<result<void>> client::evict(object_key pod, std::string uid) {
  std::string doing = "evict pod " + pod.text();
  json::object metadata{{"name", pod.name}, {"namespace", pod.ns}};
  json::object body{{"apiVersion", "policy/v1"}, {"kind", "Eviction"}};
  body["metadata"] = std::move(metadata);
  if (!uid.empty()) {
    json::object options;
    options["preconditions"] = json::object{{"uid", uid}};
    body["deleteOptions"] = std::move(options);
  }
  const json::value document(std::move(body));
  http::request request = impl_->make(
      "POST", target(resources::pods().object_path(pod.ns, pod.name, "eviction")).take(),
      &document);
  auto done = co_await impl_->text_call(std::move(request), std::move(doing));
  if (!done) co_return done.error();
  co_return result<void>();
}

awaitable<result<json::object>> client::get_table(resource r, object_key key,
                                                  std::string label_selector) {
  std::string doing =
      "get table of " + r.plural + (key.name.empty() ? in_namespace(key.ns) : " " + key.text());
  target t(key.name.empty() ? r.collection_path(key.ns) : r.object_path(key.ns, key.name));
  t.add("labelSelector", label_selector);
  http::request request = impl_->make("GET", t.take());
  request.fields.set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json");
  return impl_->object_call(std::move(request), std::move(doing), request_deadline);
}

awaitable<result<json::value>> client::get_path(std::string path, reactor::nanoseconds within) {
  impl::call_shape how;
  how.doing = "get " + path;
  http::request request = impl_->make("GET", is_plain_path(path) ? std::move(path) : "");
  return impl_->call(std::move(request), std::move(how), within);
}

awaitable<result<std::string>> client::get_text(std::string path, std::size_t limit_bytes) {
  std::string doing = "get " + path;
  http::request request = impl_->make("GET", is_plain_path(path) ? std::move(path) : "");
  return impl_->text_call(std::move(request), std::move(doing), body_form::text, limit_bytes);
}

awaitable<result<std::string>> client::pod_log(object_key pod, std::string container,
                                               std::size_t limit_bytes) {
  std::string doing = "get log of pod " + pod.text();
  target t(resources::pods().object_path(pod.ns, pod.name, "log"));
  t.add("container", container).add("limitBytes", std::to_string(limit_bytes));
  http::request request = impl_->make("GET", t.take());
  return impl_->text_call(std::move(request), std::move(doing), body_form::text,
                          limit_bytes + 4096);
}

awaitable<result<std::unique_ptr<http::exchange>>> client::open_list(resource r,
                                                                     list_options options) {
  std::string doing = "list " + r.plural + in_namespace(options.ns);
  http::request request = impl_->make("GET", list_target(r, options).take());
  // API servers compress what is longer than 128 KiB; a watch is never compressed, because it would
  // come in batches.
  request.fields.add("Accept-Encoding", http::accepted_encoding);
  request.fields.set("Accept", accepted(options));
  return impl_->open(std::move(request), std::move(doing));
}

awaitable<result<std::unique_ptr<http::exchange>>> client::open_watch(resource r,
                                                                      watch_options options) {
  std::string doing = "watch " + r.plural + in_namespace(options.ns);
  target t(r.collection_path(options.ns));
  t.add("watch", "true")
      .add("allowWatchBookmarks", options.bookmarks ? "true" : "")
      .add("labelSelector", options.label_selector)
      .add("fieldSelector", options.field_selector)
      .add("resourceVersion", options.resource_version);
  if (options.send_initial_events) {
    t.add("sendInitialEvents", "true").add("resourceVersionMatch", "NotOlderThan");
  }
  if (options.timeout > reactor::nanoseconds::zero()) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(options.timeout);
    t.add("timeoutSeconds", std::to_string(std::max<std::int64_t>(seconds.count(), 1)));
  }
  http::request request = impl_->make("GET", t.take());
  request.answer = http::request::lasts::as_a_stream;
  request.fields.set(
      "Accept",
      std::string(options.metadata_only ? metadata_alone : any_json).append(without_managers));
  return impl_->open(std::move(request), std::move(doing));
}

reactor::loop& client::loop() const noexcept {
  return impl_->loop;
}

apart& client::off_loop() noexcept {
  return impl_->off_loop;
}
newest_version& client::newest() noexcept {
  return impl_->newest;
}
std::string client::server() const {
  return impl_->who.to().server;
}
std::string client::default_namespace() const {
  return impl_->who.to().ns;
}
const std::string& client::field_manager() const noexcept {
  return impl_->field_manager;
}
std::string client::certificate_problem() const {
  return impl_->who.certificate_problem();
}
std::size_t client::connections() const noexcept {
  return impl_->transport.connections();
}
void client::on_outcome(std::function<void(const fault*)> seen) {
  impl_->on_outcome = std::move(seen);
}
void client::on_warning(std::function<void(const std::string&)> seen) {
  impl_->on_warning = std::move(seen);
}
double client::rate() const noexcept {
  return impl_->speed.rate();
}
reactor::steady_time client::paused_until() const noexcept {
  return impl_->speed.paused_until();
}
std::optional<reactor::nanoseconds> client::clock_ahead() const noexcept {
  return impl_->clock_ahead;
}
awaitable<void> client::stop() {
  return impl_->transport.stop();
}

}  // namespace k8s
