#include "k8s/fleet/cluster.hpp"

#include "k8s/fleet/metric_table.hpp"
#include "reactor/loop.hpp"

#include <boost/json/object.hpp>

#include <algorithm>

namespace k8s {
namespace {

namespace json = boost::json;

constexpr reactor::nanoseconds version_patience = 5s;
std::string uid_of(const json::object& object) {
  const json::value* metadata = object.if_contains("metadata");
  if (!metadata || !metadata->is_object()) return {};
  const json::value* uid = metadata->get_object().if_contains("uid");
  return uid && uid->is_string() ? std::string(uid->get_string()) : std::string();
}

}  // namespace

cluster::cluster(reactor::loop& l, connection to, cluster_options options, reactor::logger log)
    : loop_(l),
      options_(std::move(options)),
      log_(log.with({{"cluster", options_.name}})),
      api_(l, std::move(to), options_.field_manager),
      discovery_(api_),
      health_(l.now(), l.wall()),
      views_(std::make_shared<view_budget>(options_.views)),
      backoff_(retry),
      engaged_(l),
      changed_(l),
      leaving_(l),
      tasks_(l) {
  for (cluster_api& a : options_.apis)
    engagements_.push_back(std::make_unique<engagement>(*this, std::move(a)));
  options_.apis.clear();
  api_.on_outcome([this](const fault* why) { requested(why); });
  if (!options_.metrics) return;
  const auto counted = [&](const char* outcome) {
    return options_.metrics->get_counter(fleet_metrics::api_requests,
                                         {{"cluster", options_.name}, {"result", outcome}});
  };
  requests_ = counted("success");
  failures_ = counted("failure");
}

cluster::~cluster() = default;

event_recorder& cluster::events() {
  if (!events_) {
    event_options o;
    o.reporting_instance = options_.identity;
    if (options_.on_event)
      o.on_record = [this](const event_note& e) { options_.on_event(options_.name, e); };
    events_ = std::make_unique<event_recorder>(loop_, api_, std::move(o), log_);
  }
  return *events_;
}

/// The API whose state is the cluster's: the best of them, of equal ones the first.
const engagement* cluster::best() const noexcept {
  const auto rank = [](cluster_state s) {
    return s == cluster_state::live      ? 0
           : s == cluster_state::stale   ? 1
           : s == cluster_state::syncing ? 2
           : s == cluster_state::twin    ? 3
                                         : 4;
  };
  const auto found = std::min_element(
      engagements_.begin(), engagements_.end(),
      [&](const auto& a, const auto& b) { return rank(a->state()) < rank(b->state()); });
  return found == engagements_.end() || !is_connected() ? nullptr : found->get();
}

cluster_state cluster::state() const noexcept {
  const engagement* of = best();
  return of ? of->state() : health_.state();
}
const std::string& cluster::last_error() const noexcept {
  const engagement* of = best();
  return of ? of->last_error() : health_.last_error();
}
std::string cluster::says() const {
  if (const engagement* of = best()) return of->says();
  if (state() != cluster_state::syncing || !last_error().empty()) return last_error();
  return "its kube-system namespace and the kinds that it serves are being read";
}
reactor::wall_time cluster::since_wall() const noexcept {
  const engagement* of = best();
  return of ? of->since_wall() : health_.since_wall();
}

void cluster::note() {
  for (const auto& e : engagements_) e->note(options_.metrics, engagements_.size() == 1);
  const cluster_state now = state();
  const cluster_state before = std::exchange(shown_, now);
  if (now == before) return;
  if (options_.metrics) {
    // A state gets its series when it is first seen: most clusters never see more than two.
    const auto show = [&](cluster_state s, double value) {
      reactor::metric_labels labels{{"cluster", options_.name}, {"state", std::string(name_of(s))}};
      options_.metrics->get_gauge(fleet_metrics::cluster_state, std::move(labels)).set(value);
    };
    if (std::exchange(has_series_, true)) show(before, 0);
    show(now, 1);
  }
  log_.write(is_failure(now) ? reactor::log_level::warning : reactor::log_level::info,
             "cluster state",
             {{"state", name_of(now)},
              {"before", name_of(before)},
              {"server", api_.server()},
              {"error", says()}});
  if (options_.on_state) options_.on_state(*this, before);
  if (now != cluster_state::live || engaged_.is_set()) return;
  engaged_.set();
  if (options_.on_engaged) options_.on_engaged(*this);
}

void cluster::start() {
  tasks_.start("cluster " + options_.name, run());
}

awaitable<void> cluster::run() {
  for (;;) {
    auto done = co_await connect();
    if (done) break;
    const fault why = done.error();
    if (why.cancelled) co_return;
    health_.failed(why, loop_.now(), loop_.wall());
    note();
    co_await wait_before_retry();
  }
  backoff_.reset();
  health_.engaged(loop_.now(), loop_.wall());
  note();
  for (const auto& e : engagements_) e->start();
  is_started_ = true;
  for (;;) {
    if (probe_wanted_) co_await probe_until_answered();
    look();
    (void)co_await changed_.wait(next_look());
  }
}

reactor::steady_time cluster::next_look() const noexcept {
  reactor::steady_time at = reactor::never;
  for (const auto& e : engagements_) at = std::min(at, e->next_look());
  return at;
}

awaitable<void> cluster::wait_before_retry() {
  const reactor::nanoseconds delay = backoff_.next(loop_.random());
  co_await loop_.sleep_for(delay);
}

awaitable<result<void>> cluster::connect() {
  health_.dialling(loop_.now(), loop_.wall());
  note();
  auto version = co_await discovery_.read_version(version_patience);
  if (!version) co_return version.error();
  health_.answered(loop_.now(), loop_.wall());
  note();
  object_key kube_system{"", "kube-system"};
  auto found = co_await api_.get(resources::namespaces(), std::move(kube_system));
  const bool does_without = !found && found.error().code == errc::forbidden &&
                            options_.needs_uid == cluster_options::uid::where_allowed;
  if (!found && !does_without) {
    fault why = found.error();
    // A server without it is no cluster we know how to name.
    if (why.code == errc::not_found) why.code = errc::malformed;
    co_return why;
  }
  std::string uid = found ? uid_of(*found) : std::string();
  if (uid != uid_) {
    const std::string before = std::exchange(uid_, std::move(uid));
    if (options_.on_uid) options_.on_uid(before);
  }
  auto known = co_await discovery_.refresh();
  if (!known) co_return known.error();
  co_return result<void>();
}

awaitable<void> cluster::connected() {
  while (!is_connected()) (void)co_await changed_.wait();
}

/// Called within any request's completion: only notes what happened.
void cluster::requested(const fault* why) {
  (why ? failures_ : requests_).add();
  const cluster_health::verdict v = health_.outcome(why, loop_.now(), loop_.wall());
  note();
  if (v != cluster_health::verdict::probe) return;
  probe_wanted_ = true;
  changed_.wake_all();
}

awaitable<void> cluster::probe_until_answered() {
  backoff_.reset();
  for (;;) {
    co_await wait_before_retry();
    auto version = co_await discovery_.read_version(version_patience);
    if (version) break;
    const fault why = version.error();
    if (why.cancelled) co_return;
    health_.failed(why, loop_.now(), loop_.wall());
    note();
  }
  backoff_.reset();
  probe_wanted_ = false;
  const cluster_health::verdict v = health_.probed(loop_.now(), loop_.wall());
  note();
  wake();
  if (v == cluster_health::verdict::recovered && options_.on_recovered) {
    options_.on_recovered(*this);
  }
}

/// Whether what the APIs keep is current.
void cluster::look() {
  health_.current(loop_.now(), loop_.wall());
  for (const auto& e : engagements_) {
    e->look();
    if (options_.metrics) e->count(*options_.metrics);
  }
  note();
}

void cluster::engage(cluster_api api) {
  engagements_.push_back(std::make_unique<engagement>(*this, std::move(api)));
  if (is_started_) engagements_.back()->start();
  note();
}

void cluster::withdraw(std::string_view api, std::function<void()> done) {
  const auto found = std::find_if(engagements_.begin(), engagements_.end(),
                                  [&](const auto& e) { return e->name() == api; });
  if (found == engagements_.end()) {
    if (done) done();
    return;
  }
  std::unique_ptr<engagement> leaving = std::move(*found);
  engagements_.erase(found);
  leaving->hide(options_.metrics);
  std::string task = "withdraw " + leaving->name();
  leaving_.start(std::move(task), close(std::move(leaving), std::move(done)));
  note();
}

void cluster::start_again(std::string_view api, std::function<void()> done) {
  const engagement* of = find(api);
  if (!of) return withdraw(api, std::move(done));
  cluster_api again = of->api_;
  withdraw(api, std::move(done));
  engage(std::move(again));
}

awaitable<void> cluster::close(std::unique_ptr<engagement> leaving, std::function<void()> done) {
  co_await leaving->stop();
  leaving.reset();
  if (done) done();
}

engagement* cluster::find(std::string_view api) const noexcept {
  const auto found = std::find_if(engagements_.begin(), engagements_.end(),
                                  [&](const auto& e) { return e->name() == api; });
  return found == engagements_.end() ? nullptr : found->get();
}

std::optional<reactor::steady_time> cluster::refused_at(std::string_view api) const noexcept {
  const auto found = refused_.find(api);
  return found == refused_.end() ? std::nullopt : std::optional(found->second);
}

void cluster::note_refused(const std::string& api, std::optional<reactor::steady_time> at) {
  if (!at && !refused_.contains(api)) return;
  if (at)
    refused_.insert_or_assign(api, *at);
  else
    refused_.erase(api);
  if (options_.on_refused) options_.on_refused(*this);
}

cluster_controller* cluster::part(std::string_view api) const noexcept {
  const engagement* of = find(api);
  return of ? of->part() : nullptr;
}

void cluster::set_freshness(freshness how) {
  for (const auto& e : engagements_) e->set_freshness(how);
}

void cluster::renew_token(object_key account, std::chrono::seconds life,
                          std::function<void(result<issued_token>)> done) {
  tasks_.start("renew token", ask_for_token(std::move(account), life, std::move(done)));
}

awaitable<void> cluster::ask_for_token(object_key account, std::chrono::seconds life,
                                       std::function<void(result<issued_token>)> done) {
  auto got = co_await request_token(api_, std::move(account), life, loop_.wall());
  done(std::move(got));
}

void cluster::read_object(resource kind, object_key key,
                          std::function<void(result<json::object>)> done) {
  tasks_.start("read an object", get_object(std::move(kind), std::move(key), std::move(done)));
}

awaitable<void> cluster::get_object(resource kind, object_key key,
                                    std::function<void(result<json::object>)> done) {
  auto got = co_await api_.get(std::move(kind), std::move(key));
  done(std::move(got));
}

void cluster::exchange_proof(std::string event, std::optional<std::string> text,
                             std::function<void(result<std::string>)> done) {
  tasks_.start("exchange a proof", exchange(std::move(event), std::move(text), std::move(done)));
}

/// Every account of ours may create and patch Events, and no other kind in kube-system. A patch
/// that changes nothing answers with the Event.
awaitable<void> cluster::exchange(std::string event, std::optional<std::string> text,
                                  std::function<void(result<std::string>)> done) {
  const std::string ns = "kube-system";
  const resource events{"", "v1", "events", "Event", true};
  result<json::object> got = json::object();
  if (text) {
    json::object body, metadata, about, source;
    metadata["name"] = event;
    metadata["namespace"] = ns;
    about["apiVersion"] = "v1";
    about["kind"] = "Namespace";
    about["name"] = ns;
    about["namespace"] = ns;
    source["component"] = "windlass";
    body["apiVersion"] = "v1";
    body["kind"] = "Event";
    body["metadata"] = std::move(metadata);
    body["involvedObject"] = std::move(about);
    body["source"] = std::move(source);
    body["type"] = "Normal";
    body["reason"] = "SameCluster";
    body["message"] = *text;
    got = co_await api_.create(events, ns, std::move(body));
  } else {
    object_key at{ns, event};
    json::object nothing;
    got = co_await api_.merge_patch(events, std::move(at), std::move(nothing));
  }
  if (!got && !text && got.error().code == errc::not_found) got = json::object();
  if (!got) {
    done(got.error());
    co_return;
  }
  const json::value* said = got->if_contains("message");
  done(said && said->is_string() ? std::string(said->get_string()) : std::string());
}

void cluster::note_token(std::optional<reactor::wall_time> expires, std::string problem) {
  token_expires_ = expires;
  token_problem_ = std::move(problem);
}

awaitable<bool> cluster::engaged(reactor::steady_time deadline) {
  return engaged_.wait(deadline);
}

void cluster::forget_observers() {
  options_.metrics = nullptr;
  options_.on_engaged = {};
  options_.on_state = {};
  options_.on_recovered = {};
  options_.on_uid = {};
  options_.on_refused = {};
  options_.acts_elsewhere = {};
}

awaitable<void> cluster::stop() {
  co_await tasks_.cancel_and_join();
  while (!engagements_.empty()) {
    const std::unique_ptr<engagement> newest = std::move(engagements_.back());
    engagements_.pop_back();
    co_await newest->stop();
  }
  co_await leaving_.join();
  if (events_) co_await events_->stop();
  co_await api_.stop();
}

json::object cluster::to_json() const {
  json::object o;
  o["name"] = options_.name;
  o["state"] = name_of(state());
  o["server"] = api_.server();
  o["uid"] = uid_;
  o["hash"] = options_.hash;
  o["since"] = reactor::format_rfc3339(since_wall());
  o["lastError"] = says();
  if (token_expires_) o["tokenExpires"] = reactor::format_rfc3339(*token_expires_);
  if (!token_problem_.empty()) o["tokenProblem"] = token_problem_;
  json::object apis;
  for (const auto& e : engagements_) apis[e->name()] = e->to_json();
  o["apis"] = std::move(apis);
  if (const auto pause = api_.paused_until() - loop_.now(); pause > reactor::nanoseconds::zero())
    o["pausedUntil"] = reactor::format_rfc3339(loop_.wall() + pause);
  return o;
}

}  // namespace k8s
