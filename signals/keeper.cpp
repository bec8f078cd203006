#include "signals/keeper.hpp"

#include "reactor/http/message.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"
#include "signals/hosts.hpp"
#include "signals/metric_table.hpp"

#include <boost/json/object.hpp>

#include <algorithm>
#include <utility>

namespace signals {
namespace {

using namespace std::chrono_literals;
using policies::signal_declaration;
using policies::signal_fact;
using reactor::awaitable;
using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::size_t most_reason = 200;
constexpr reactor::nanoseconds login_serves = 1min, longest_pause = 5min;
constexpr double jitter = 0.1;

/// Where the question is sent.
std::string address_of(signal_declaration::source from, std::string url, const std::string& query) {
  if (from == signal_declaration::source::http) return url;
  while (url.ends_with('/')) url.pop_back();
  return url + "/api/v1/query?query=" + reactor::http::encode_component(query);
}

std::string reason_of(const reactor::fault& f) {
  return reactor::printable(f.message(), most_reason);
}

}  // namespace

keeper::keeper(reactor::loop& l, registry::environment env, reactor::metrics& metrics,
               reactor::logger log, options o)
    : loop_(l),
      log_(std::move(log)),
      options_(std::move(o)),
      web_(l, std::move(env)),
      free_(l),
      tasks_(l) {
  if (options_.origins.empty()) return;
  const char* names[] = {"value", "no_value", "no_answer", "refused"};
  for (std::size_t i = 0; i < std::size(names); ++i)
    fetches_[i] = metrics.get_counter(signal_metrics::fetches, {{"result", names[i]}});
  known_ = metrics.get_gauge(signal_metrics::series, {{"state", "known"}});
  unknown_ = metrics.get_gauge(signal_metrics::series, {{"state", "unknown"}});
  oldest_ = metrics.get_gauge(signal_metrics::oldest);
}

keeper::~keeper() = default;

awaitable<void> keeper::stop() {
  co_await tasks_.cancel_and_join();
  co_await web_.stop();
}

void keeper::refresh() {
  const reactor::steady_time now = loop_.now();
  std::size_t known = 0;
  reactor::nanoseconds oldest{0};
  for (const auto& [q, s] : series_) {
    if (s.values.at(now).unknown.empty()) ++known;
    if (const auto last = s.values.last_value()) oldest = std::max(oldest, now - *last);
  }
  known_.set(static_cast<double>(known));
  unknown_.set(static_cast<double>(series_.size() - known));
  oldest_.set(std::chrono::duration<double>(oldest).count());
}

policies::signal_facts keeper::facts(const std::vector<policies::wanted_signal>& wanted,
                                     const std::string& cluster,
                                     const std::map<std::string, std::string>& labels) {
  policies::signal_facts out;
  for (const policies::wanted_signal& w : wanted) out[w.as.name] = fact(w, cluster, labels);
  return out;
}

signal_fact keeper::fact(const policies::wanted_signal& w, const std::string& cluster,
                         const std::map<std::string, std::string>& labels) {
  const auto none = [](std::string why) {
    signal_fact out;
    out.unknown = std::move(why);
    return out;
  };
  if (!w.problem.empty()) return none(w.problem);
  const signal_declaration& as = w.as;
  auto url = policies::fill_placeholders(as.url, policies::filled_for::address, cluster, labels);
  if (!url) return none(url.error().detail);
  auto query = policies::fill_placeholders(as.query, policies::filled_for::query, cluster, labels);
  if (!query) return none(query.error().detail);
  if (auto may = is_allowed(*url, options_.origins); !may) return none(may.error().detail);
  question q{as.from,  std::move(*url), std::move(*query), as.secret,
             as.every, as.window,       as.stale_after};
  auto found = series_.find(q);
  if (found == series_.end()) {
    if (series_.size() >= most_series)
      return none("more than " + std::to_string(most_series) + " signals are fetched already");
    found = series_.emplace(q, one_series{history(q.window, q.stale_after)}).first;
    found->second.wanted_at = loop_.now();
    tasks_.start("signal " + as.name, follow(std::move(q)));
    return found->second.values.at(loop_.now());
  }
  found->second.wanted_at = loop_.now();
  return found->second.values.at(loop_.now());
}

awaitable<void> keeper::follow(question q) {
  struct place {
    keeper& of;
    explicit place(keeper& k) : of(k) { ++of.busy_; }
    ~place() {
      --of.busy_;
      of.free_.wake_one();
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
  };
  // After the first wait: the caller still holds the map's entry.
  co_await loop_.yield();
  for (;;) {
    while (busy_ >= most_at_once) (void)co_await free_.wait();
    asked a;
    {
      const place mine(*this);
      question now = q;
      a = co_await ask(std::move(now));
    }
    const auto found = series_.find(q);
    if (found == series_.end()) co_return;
    const reactor::nanoseconds pause = take(q, found->second, std::move(a));
    if (loop_.now() - found->second.wanted_at > forgotten_after) {
      series_.erase(found);
      co_return;
    }
    co_await loop_.sleep_for(loop_.random().jitter(pause, jitter));
  }
}

/// Keeps what came, and answers how long until the next question.
reactor::nanoseconds keeper::take(const question& q, one_series& s, asked a) {
  fetches_[static_cast<std::size_t>(a.is)].add();
  const bool failed = a.is != outcome::value;
  if (failed && s.failures == 0)
    log_.warning("a signal has no value",
                 {{"at", q.url}, {"query", q.query}, {"why", a.read.unknown}});
  if (!failed && s.failures > 0)
    log_.info("a signal has a value again", {{"at", q.url}, {"query", q.query}});
  s.failures = failed ? std::min(s.failures + 1, 4u) : 0;
  if (a.is == outcome::no_answer)
    s.values.no_answer(std::move(a.read.unknown));
  else
    s.values.add(a.read, loop_.now());
  if (!failed) return q.every;
  return std::max(q.every, std::min(q.every * (1 << (s.failures - 1)), longest_pause));
}

awaitable<keeper::asked> keeper::ask(question q) {
  registry::web_request r;
  r.url = address_of(q.from, q.url, q.query);
  r.fields.set("Accept", "application/json");
  r.limit_bytes = most_answer_bytes;
  r.timeout = std::min(q.every, longest_question);
  r.on_redirect = registry::web_request::redirects::answer;
  registry::tls_choice tls;
  tls.ca_file = options_.ca_file;
  reactor::secret authorization;
  std::string given_for;
  asked out;
  if (!q.secret.empty()) {
    auto login = co_await login_of(q.secret);
    if (login) {
      // A login is shown to no other server, so a question without it would only be refused.
      auto same = is_allowed(r.url, {login->origin});
      if (!same)
        login = make_fault(errc::refused, "Secret " + q.secret, "it is for " + login->origin);
    }
    if (!login) {
      out.is = outcome::refused;
      out.read.unknown = reason_of(login.error());
      co_return out;
    }
    given_for = login->origin;
    authorization = std::move(login->authorization);
  }
  r.with = registry::credentials(given_for, std::move(authorization), std::move(tls));
  auto answer = co_await web_.ask(std::move(r));
  if (!answer) {
    // A server that sends too much has answered.
    out.is = answer.error().code == errc::limit ? outcome::no_value : outcome::no_answer;
    out.read.unknown = reason_of(answer.error());
    co_return out;
  }
  if (answer->status >= 300 && answer->status < 400)
    out.read.unknown = "the server redirects to \"" +
                       reactor::printable(answer->fields.get("Location"), most_reason) +
                       "\"; a signal follows no redirect";
  else if (q.from == signal_declaration::source::prometheus)
    out.read = read_prometheus(answer->status, answer->body, loop_.wall(), q.stale_after);
  else
    out.read = read_number(answer->status, answer->body);
  out.is = out.read.value ? outcome::value : outcome::no_value;
  co_return out;
}

awaitable<result<login>> keeper::login_of(std::string secret) {
  if (const auto known = logins_.find(secret);
      known != logins_.end() && loop_.now() - known->second.at < login_serves)
    co_return known->second.is;
  result<login> fresh = make_fault(errc::refused, {}, "there is no home cluster");
  if (options_.read_secret) {
    std::string name = secret;
    auto object = co_await options_.read_secret(std::move(name));
    if (object)
      fresh = read_login(*object);
    else
      fresh = object.error();
  }
  if (!fresh) fresh = reactor::while_doing("Secret " + secret, fresh.error());
  logins_.insert_or_assign(secret, kept_login{fresh, loop_.now()});
  co_return fresh;
}

}  // namespace signals
