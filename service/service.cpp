// The life of a process in one place: its APIs start and stop in an order that home, fleet, Leases,
// packs and ports share.
#include "service/service.hpp"

#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "service/home_brake.hpp"
#include "service/metrics/metric_table.hpp"
#include "service/metrics/own_metrics.hpp"
#include "service/own_pod.hpp"
#include "service/page/access.hpp"
#include "signals/keeper.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace cli {
namespace {

constexpr reactor::nanoseconds first_word_of_brake = std::chrono::seconds(5);

using config_maps = std::map<std::string, std::shared_ptr<config_map_packs>>;

config_maps config_maps_of(reactor::loop& l, const service_options& from,
                           const reactor::logger& log) {
  config_maps all;
  for (const std::string& one : from.policies)
    if (auto which = config_map_named(one, from.ns))
      all.emplace(one, std::make_shared<config_map_packs>(l, std::move(*which), log));
  return all;
}

policies::host::options pack_options(const service_options& from, const config_maps& feeds) {
  policies::host::options o;
  o.folders = from.policies;
  o.feeds = {feeds.begin(), feeds.end()};
  o.run_tests = !from.packs_are_tested;
  o.record = from.record;
  o.shelf = from.shelf;
  o.watch = from.policy_watch;
  o.limits.hooks = from.hooks;
  return o;
}

/// What every API has on the cluster.
template <class F>
void each_part(const k8s::cluster& c, F f) {
  for (const auto& e : c.engagements())
    if (units::cluster_controller* p = units::part_of(*e)) f(*p);
}

reactor::fault sentence(reactor::errc code, std::string text) {
  return reactor::make_fault(code, "", text);
}

}  // namespace

service::service(reactor::loop& l, service_options options, reactor::logger log)
    : loop_(l),
      options_(std::move(options)),
      log_(std::move(log)),
      wrong_tokens_(l, "/metrics or /clusters", log_),
      speed_(options_.max_changes),
      config_maps_(config_maps_of(l, options_, log_)),
      packs_(l, pack_options(options_, config_maps_)),
      leases_moved_(l),
      tasks_(l) {
  k8s::fleet_options f;
  f.ns = options_.ns;
  f.label = options_.label;
  f.key = options_.key;
  f.identity = options_.reporter;
  f.metrics = &metrics_;
  f.tokens = options_.does == units::mode::act ? k8s::token_care::ours : k8s::token_care::others;
  f.home = options_.home;
  f.programs = options_.programs;
  f.on_recovered = [](k8s::cluster& c) {
    each_part(c, [](units::cluster_controller& p) { p.recover(); });
  };
  // Another policy may apply now.
  f.on_labels = [](k8s::cluster& c) {
    each_part(c, [](units::cluster_controller& p) { p.reconsider(); });
  };
  f.on_names = [](k8s::cluster& c) {
    each_part(c, [](units::cluster_controller& p) { p.reconsider(); });
  };
  f.describe = [](const k8s::cluster& c, boost::json::object& entry) {
    each_part(c, [&](const units::cluster_controller& p) { p.describe(entry); });
  };
  f.on_event = [this](const std::string& cluster, const k8s::event_note& e) {
    if (on_event) on_event(cluster, e);
  };
  if (options_.does == units::mode::act) {
    signals::keeper::options s;
    s.origins = options_.signal_origins;
    s.ca_file = options_.signal_ca_file;
    s.read_secret = [this](std::string name) { return signal_secret(std::move(name)); };
    signals_ = std::make_unique<signals::keeper>(loop_, k8s::environment::of_process().variable,
                                                 metrics_, log_, std::move(s));
    metrics_.on_collect([this] { signals_->refresh(); });
  }
  fleet_ = std::make_unique<k8s::fleet>(loop_, std::move(f), log_);
  for (const units::api& what : options_.apis) {
    apis_.push_back(std::make_unique<running>());
    apis_.back()->what = &what;
    units::api_environment environment{loop_,   log_,          metrics_,       packs_,
                                       *fleet_, options_.does, options_.limits};
    if (options_.leader_elect) {
      units::extra_leases::options o{lease_of(what).ns, options_.identity};
      apis_.back()->turns = std::make_unique<units::extra_leases>(
          loop_, [this]() -> k8s::client& { return home_->api(); }, std::move(o), log_);
      environment.extra_leases = apis_.back()->turns.get();
    }
    environment.shows = options_.shows;
    environment.give_up = [this](const std::string& why) { fail(why); };
    environment.own_image = [this] { return own_image_; };
    environment.own_pod_uid = [this] { return own_pod_uid_; };
    environment.brake = &brake_;
    environment.signals = [this](const policies::subject& about, const std::string& cluster) {
      return signals_for(about, cluster);
    };
    if (options_.does == units::mode::act) {
      environment.speed = &speed_;
      environment.gates = what.gates;
    }
    apis_.back()->works = what.make(environment);
  }
  packs_.on_event = [this](const policies::pack_event& e) { pack_changed(e); };
  packs_.on_looked = [this](const std::string& from) { tell_refusals(from); };
  packs_.on_log = [this](const std::string& pack, const std::string& line) {
    log_.info("policy says", {{"pack", pack}, {"line", line}});
  };
}

service::~service() = default;

policies::signal_facts service::signals_for(const policies::subject& about,
                                            const std::string& cluster) {
  const auto wanted = policies::signals_wanted(packs_, about);
  if (signals_) return signals_->facts(wanted, cluster, about.cluster_labels);
  return policies::unknown_signals(wanted, "this process fetches no signals; `windlass run` does");
}

reactor::awaitable<reactor::result<boost::json::object>> service::signal_secret(std::string name) {
  if (!home_) co_return sentence(reactor::errc::not_found, "there is no home cluster");
  k8s::object_key key{options_.lease_ns.empty() ? options_.ns : options_.lease_ns, std::move(name)};
  auto got = co_await home_->api().get(k8s::resources::secrets(), std::move(key),
                                       k8s::request_options().within(std::chrono::seconds(5)));
  if (!got) co_return sentence(reactor::errc::refused, got.error().message());
  co_return std::move(*got);
}

std::size_t service::connections_wanted() const {
  std::size_t of_one = 1;
  for (const units::api& a : options_.apis) of_one += a.kinds.size() + 1;
  return fleet_->clusters().size() * of_one;
}

void service::make_home() {
  k8s::cluster_options h;
  h.name = options_.home_name;
  h.identity = options_.reporter;
  h.needs_uid = k8s::cluster_options::uid::where_allowed;
  h.on_recovered = [](k8s::cluster& c) {
    each_part(c, [](units::cluster_controller& p) { p.recover(); });
  };
  h.on_uid = [this](const std::string&) { fleet_->recognise(*home_); };
  h.on_event = [this](const std::string& cluster, const k8s::event_note& e) {
    if (on_event) on_event(cluster, e);
  };
  k8s::connection to = options_.home;
  to.precedence = reactor::precedence::essential;
  home_ = std::make_unique<k8s::cluster>(loop_, std::move(to), std::move(h), log_);
  fleet_->also_tell_of(*home_);
}

/// Packs of a ConfigMap need the home cluster, so that one is reached first.
reactor::awaitable<reactor::result<void>> service::load_packs() {
  if (!config_maps_.empty()) {
    if (options_.home.server.empty())
      co_return sentence(
          reactor::errc::refused,
          "--policies " + config_maps_.begin()->first +
              " needs a home cluster, and clusters that are named by contexts have none");
    make_home();
    auto reached = co_await reach_home();
    if (!reached) co_return reached;
    for (const auto& [name, feed] : config_maps_) feed->follow(home_->api());
  }
  co_return co_await packs_.load();
}

reactor::awaitable<reactor::result<void>> service::start() {
  auto loaded = co_await load_packs();
  if (!loaded) co_return loaded.error();
  packs_.start();
  packs_started_ = true;
  if (!config_maps_.empty()) tasks_.start("refused policies", tell_refusals_again());
  if (!options_.metrics_token_file.empty()) {
    auto token = co_await metrics_token();
    if (!token) co_return token.error();
  }
  if (options_.metrics_at) {
    own_ = std::make_unique<own_metrics>(loop_, metrics_, packs_);
    metrics_.on_collect([this] { own_->refresh(); });
    auto bound = listen(
        *options_.metrics_at,
        [this](reactor::http::request r, reactor::http::responder& to) {
          return answer_metrics(std::move(r), to);
        },
        "metrics");
    if (!bound) co_return bound.error();
  }
  if (options_.health_at) {
    auto bound = listen(
        *options_.health_at,
        [this](reactor::http::request r, reactor::http::responder& to) {
          return answer_health(std::move(r), to);
        },
        "health");
    if (!bound) co_return bound.error();
  }
  if (options_.home.server.empty()) {
    if (options_.memory) tasks_.start("memory limit", watch_memory());
    co_await leave_out_unserved();
    for (const auto& a : apis_) start_api(*a);
    for (named_connection& c : options_.clusters) fleet_->add(c.name, c.to);
    fleet_started_ = true;
    co_return reactor::result<void>();
  }
  if (!home_) {
    make_home();
    auto reached = co_await reach_home();
    if (!reached) co_return reached.error();
  }
  co_await read_own_pod();
  // Only now: its first word is an Event about the pod.
  if (options_.memory) tasks_.start("memory limit", watch_memory());
  co_await read_brake();
  co_await leave_out_unserved();
  if (options_.leader_elect) {
    for (const auto& a : apis_) elect(*a);
    co_return reactor::result<void>();
  }
  for (const auto& a : apis_) start_api(*a);
  co_return co_await start_fleet();
}

/// Of those that want to be there only where home serves their kinds; who has none at home has to
/// be named. A home that does not say keeps them.
reactor::awaitable<void> service::leave_out_unserved() {
  std::vector<std::string> out;
  for (const units::api& a : options_.apis) {
    if (!a.where_served) continue;
    bool missing = !home_ || a.home_kinds.empty();
    for (const k8s::resource& kind : a.home_kinds) {
      if (missing) break;
      k8s::resource wanted = kind;
      auto served = co_await home_->discovery().serves(std::move(wanted));
      missing = served && !*served;
    }
    if (!missing) continue;
    out.push_back(a.name);
    if (!a.home_kinds.empty())
      log_.info("home does not serve the kinds of an API; it is left out", {{"api", a.name}});
  }
  if (out.empty()) co_return;
  const auto is_out = [&](const std::string& name) {
    return std::ranges::find(out, name) != out.end();
  };
  for (const policies::pack_status& p : packs_.status()) {
    if (p.stock || p.hooks.empty()) continue;
    const std::string family = p.hooks.front().substr(0, p.hooks.front().find('.'));
    if (is_out(family))
      log_.warning("a pack is not asked: --apis does not name its API",
                   {{"pack", p.name}, {"hook", p.hooks.front()}, {"api", family}});
  }
  std::erase_if(apis_, [&](const auto& a) { return is_out(a->what->name); });
  std::erase_if(options_.apis, [&](const units::api& a) { return is_out(a.name); });
  // Both lists have the same order; those in the second have moved.
  for (std::size_t i = 0; i < apis_.size(); ++i) apis_[i]->what = &options_.apis[i];
}

k8s::object_key service::lease_of(const units::api& a) const {
  return {options_.lease_ns.empty() ? a.lease_ns : options_.lease_ns, a.lease};
}

void service::elect(running& a) {
  k8s::leader_election::options e;
  e.lease = lease_of(*a.what);
  e.identity = options_.identity;
  e.on_started = [this, &a] { want(a, true); };
  e.on_lost = [this, &a] {
    log_.error("lost the lease; its API is stopped, so that the new holder acts alone",
               {{"api", a.what->name}, {"lease", a.what->lease}});
    want(a, false);
  };
  a.leads = metrics_.get_gauge(service_metrics::leader, {{"api", a.what->name}});
  a.leads.set(0);
  a.election = std::make_unique<k8s::leader_election>(loop_, home_->api(), std::move(e), log_);
  a.election->start();
  tasks_.start("lease of " + a.what->name, follow_lease(a));
}

void service::want(running& a, bool lead) {
  a.wanted = lead;
  a.leads.set(lead ? 1 : 0);
  leases_moved_.wake_all();
}

/// Brings the API to where its Lease says, one step after the other: it never starts before it has
/// stopped.
reactor::awaitable<void> service::follow_lease(running& a) {
  for (;;) {
    while (a.wanted == a.on) (void)co_await leases_moved_.wait();
    if (!a.wanted) {
      co_await stop_api(a);
      continue;
    }
    start_api(a);
    if (std::exchange(fleet_asked_, true)) continue;
    // The first that leads; who only stands by needs no connection to any cluster.
    auto started = co_await start_fleet();
    if (started) continue;
    fail(started.error().message());
    co_return;
  }
}

void service::fail(const std::string& why) {
  log_.error("could not start", {{"error", why}});
  if (on_failure) on_failure();
}

void service::start_api(running& a) {
  using place = units::api::place;
  const units::api& what = *a.what;
  a.on = true;
  // What another process began for this API in the last minute is not known here.
  speed_.starts_empty(loop_.now());
  if (what.runs_on != place::home)
    fleet_->engage(units::engaging(what, what.kinds,
                                   [&a](k8s::engagement& on) { return a.works->on_cluster(on); }));
  if (what.runs_on == place::clusters || !home_) return;
  home_->engage(units::engaging(what, what.home_kinds,
                                [&a](k8s::engagement& on) { return a.works->at_home(on); }));
  if (!std::exchange(home_started_, true)) home_->start();
}

reactor::awaitable<void> service::stop_api(running& a) {
  co_await fleet_->withdraw(a.what->name);
  co_await leave_home(a.what->name);
  a.on = false;
}

reactor::awaitable<void> service::leave_home(std::string api) {
  if (!home_) co_return;
  const auto left = std::make_shared<reactor::event>(loop_);
  home_->withdraw(api, [left] { left->set(); });
  (void)co_await left->wait();
}

bool service::leads_anything() const noexcept {
  return std::ranges::any_of(apis_, [](const auto& a) { return a->wanted; });
}

std::vector<k8s::cluster*> service::clusters() const {
  std::vector<k8s::cluster*> all = fleet_->clusters();
  if (home_ && !home_->engagements().empty()) all.push_back(home_.get());
  return all;
}

std::vector<std::string> service::cluster_names() const {
  std::vector<std::string> names;
  for (const k8s::cluster* c : clusters())
    if (std::ranges::find(names, c->name()) == names.end()) names.push_back(c->name());
  return names;
}

k8s::cluster* service::cluster_named(std::string_view name) const {
  for (k8s::cluster* c : clusters())
    if (c->name() == name) return c;
  return nullptr;
}

reactor::awaitable<reactor::result<void>> service::reach_home() {
  auto version = co_await home_->discovery().read_version(std::chrono::seconds(5));
  if (!version) {
    const std::string where =
        home_->api().server() + " (" + options_.home.source +
        (options_.home.context.empty() ? "" : ", context " + options_.home.context) + ")";
    co_return sentence(reactor::errc::closed,
                       "cannot use the home cluster at " + where + ": " +
                           version.error().message() +
                           "\n  Is it running, and is this the right --kubeconfig and --context?");
  }
  log_.info("home cluster answers", {{"server", home_->api().server()},
                                     {"source", options_.home.source},
                                     {"context", options_.home.context},
                                     {"version", version->git_version}});
  co_return reactor::result<void>();
}

/// Without the right to read it, or the pod, the process goes on: only an API that needs the image
/// of this process says what is missing.
reactor::awaitable<void> service::read_own_pod() {
  if (options_.pod.name.empty()) co_return;
  k8s::object_key key = options_.pod;
  auto pod = co_await home_->api().get(k8s::resources::pods(), std::move(key));
  if (pod) own_image_ = own_image(*pod), own_pod_uid_ = own_uid(*pod);
  if (own_image_.empty())
    log_.warning(
        "the image of this process is not known",
        {{"pod", options_.pod.ns + "/" + options_.pod.name},
         {"why", pod ? "none of its containers is called manager" : pod.error().message()}});
}

/// Before the first API starts. Without an answer in time the process goes on, and begins nothing
/// until there is one.
reactor::awaitable<void> service::read_brake() {
  home_brake::options o;
  o.ns = options_.ns;
  o.apis = options_.known_apis;
  if (o.apis.empty())
    for (const units::api& a : options_.apis) o.apis.push_back(a.name);
  o.acts = options_.does == units::mode::act;
  o.on_change = [this] { brake_changed(); };
  o.log = log_;
  braked_ = metrics_.get_gauge(service_metrics::brake);
  braked_.set(0);
  home_brake_ = std::make_unique<home_brake>(loop_, home_->api(), brake_, std::move(o));
  home_brake_->start();
  (void)co_await home_brake_->known(loop_.now() + first_word_of_brake);
}

void service::brake_changed() {
  braked_.set(brake_.order().is_on ? 1 : 0);
  reconsider_all();
}

/// Whether home has kubeconfig Secrets; its refusal to say is a fault of kind `forbidden`.
reactor::awaitable<k8s::result<bool>> service::secrets_exist() {
  k8s::list_options o;
  o.ns = options_.ns;
  o.label_selector = options_.label + "=true";
  o.limit = 1;
  auto page = co_await home_->api().list(k8s::resources::secrets(), std::move(o));
  if (!page) co_return page.error();
  const boost::json::value* items = page->if_contains("items");
  co_return items && items->is_array() && !items->get_array().empty();
}

/// A failure is told and nothing more: all other clusters are served.
reactor::awaitable<void> service::keep_self_cluster() {
  const std::string name(k8s::self_cluster_options::name);
  if (options_.does == units::mode::act) {
    k8s::self_cluster self(loop_, home_->api(), options_.home, *options_.self_cluster, log_);
    auto kept = co_await self.ensure();
    if (kept) co_return;
    log_.error("the Secret self-cluster cannot be kept",
               {{"namespace", options_.ns}, {"error", kept.error().message()}});
  } else {
    k8s::object_key key{options_.ns, name};
    auto there = co_await home_->api().get(k8s::resources::secrets(), std::move(key));
    if (there || there.error().code != k8s::errc::not_found) co_return;
    fleet_->add(name, options_.home);  // as it will be called
  }
}

reactor::awaitable<reactor::result<void>> service::start_fleet() {
  for (named_connection& c : options_.clusters) fleet_->add(c.name, c.to);
  if (options_.discover && options_.self_cluster) co_await keep_self_cluster();
  if (options_.discover) {
    auto found = co_await secrets_exist();
    const bool forbidden = !found && found.error().code == k8s::errc::forbidden;
    // It is told of under the name that its Secret would give it.
    const std::string alone =
        options_.self_cluster ? std::string(k8s::self_cluster_options::name) : options_.home_name;
    const bool there = fleet_->find(alone) != nullptr;
    const std::string advice = "\n  `--fleet secrets` needs a Role in namespace " + options_.ns +
                               " that lets it list and watch secrets.";
    if (!found && !(forbidden && options_.home_alone_is_a_fleet))
      co_return sentence(reactor::errc::refused,
                         "cannot look for kubeconfig Secrets at home: " + found.error().message() +
                             (forbidden ? advice : ""));
    if (forbidden) {
      // No fleet was asked for, and an account that may not even list its Secrets has none. Asking
      // again would be refused again.
      log_.warning("kubeconfig Secrets may not be listed: home itself is the fleet",
                   {{"namespace", options_.ns},
                    {"label", options_.label},
                    {"error", found.error().message()}});
      if (!there) fleet_->add(alone, options_.home);
    } else {
      if (!*found && options_.home_alone_is_a_fleet) {
        log_.info("no kubeconfig Secret at home: home itself is the fleet",
                  {{"namespace", options_.ns}, {"label", options_.label}});
        if (!there) fleet_->add(alone, options_.home);
      }
      // Who only looks writes nothing, events included.
      const bool acts = options_.does == units::mode::act;
      fleet_->discover(home_->api(), acts ? &home_->events() : nullptr);
    }
  } else if (options_.clusters.empty()) {
    fleet_->add(options_.home_name, options_.home);
  }
  fleet_started_ = true;
  co_return reactor::result<void>();
}

reactor::result<void> service::listen(const reactor::endpoint& at, reactor::http::handler h,
                                      const char* purpose) {
  reactor::http::server_options o;
  o.at = at;
  // Probes and scrapes: short requests without a body.
  o.max_connections = 200;
  o.header_timeout = std::chrono::seconds(5);
  o.write_timeout = std::chrono::seconds(10);
  o.header_limit_bytes = 16 * 1024;
  o.body_limit_bytes = 16 * 1024;
  auto server = std::make_unique<reactor::http::server>(loop_, std::move(o), std::move(h));
  auto started = server->start();
  if (!started) return reactor::while_doing(std::string("serve ") + purpose, started.error());
  log_.info("listening", {{"for", purpose}, {"at", server->local().text()}});
  servers_.push_back(std::move(server));
  return {};
}

namespace {

/// What a fleet has to say is a megabyte: it is made and sent in pieces, between which everything
/// else runs.
template <class Reading>
reactor::awaitable<void> send_pieces(reactor::loop& l, reactor::http::responder& to,
                                     std::string content_type, Reading all) {  // borrowed
  reactor::http::response_head head{200, {}};
  head.fields.add("Content-Type", std::move(content_type));
  auto sent = co_await to.start(std::move(head));
  const reactor::steady_time until = l.now() + std::chrono::seconds(30);
  while (sent) {
    std::optional<std::string> piece = all.next();
    if (!piece) break;
    if (l.now() > until) co_return to.abandon();
    sent = co_await to.write(std::move(*piece));
    co_await l.yield();
  }
  if (sent) (void)co_await to.finish();
}

}  // namespace

/// A page of a stranger whose name was made to resolve to our address (DNS rebinding) sends that
/// name, and is told nothing of the fleet. True: it was answered.
reactor::awaitable<bool> service::refuse_foreign_host(std::string host,
                                                      reactor::http::responder& to) {  // borrowed
  if (web::is_inner_host(host, options_.hosts)) co_return false;
  reactor::http::response no;
  no.status = 421;
  no.fields.add("Content-Type", "text/plain; charset=utf-8");
  no.body = "this is not what we are called; --ui-host NAME allows it\n";
  (void)co_await to.send(std::move(no));
  co_return true;
}

reactor::awaitable<reactor::result<reactor::secret>> service::metrics_token() {
  const auto load = [](const std::string& path) { return reactor::load_secret(path, 4'096); };
  reactor::result<reactor::secret> file = co_await loop_.offload(load, options_.metrics_token_file);
  if (!file) co_return file.error();
  auto token = web::read_token(*file);
  if (!token) co_return reactor::while_doing("use " + options_.metrics_token_file, token.error());
  co_return token;
}

/// What names clusters is for those who show the token, where there is one. True: it was answered.
reactor::awaitable<bool> service::refuse_without_token(std::string shown,
                                                       reactor::http::responder& to) {  // borrowed
  if (options_.metrics_token_file.empty()) co_return false;
  reactor::http::response no;
  no.status = 401;
  if (!shown.empty()) {
    auto token = co_await metrics_token();
    const bool is_readable = token.has_value();
    web::doorkeeper door(loop_.random(), is_readable ? std::move(*token) : reactor::secret());
    if (is_readable && door.lets_in(shown, {}, loop_.now())) co_return false;
    const bool waited = co_await wrong_tokens_.wait(to.peer());
    if (!waited) no.status = 429;
  }
  if (no.status == 401) no.fields.add("WWW-Authenticate", "Bearer");
  no.fields.add("Content-Type", "text/plain; charset=utf-8");
  no.body = no.status == 401 ? "show the token of --metrics-token-file as a bearer\n"
                             : "too many requests show a wrong token at this moment\n";
  (void)co_await to.send(std::move(no));
  co_return true;
}

/// False: the request was answered.
reactor::awaitable<bool> service::may_see_fleet(const reactor::http::request& r,
                                                reactor::http::responder& to) {  // borrowed
  std::string host(r.fields.get("Host")), shown(r.fields.get("authorization"));
  const bool is_foreign = co_await refuse_foreign_host(std::move(host), to);
  if (is_foreign) co_return false;
  const bool refused = co_await refuse_without_token(std::move(shown), to);
  co_return !refused;
}

reactor::awaitable<void> service::answer_metrics(reactor::http::request r,
                                                 reactor::http::responder& to) {
  const bool may = co_await may_see_fleet(r, to);
  if (!may) co_return;
  const std::string_view accept = r.fields.get("Accept");
  const auto format = reactor::metrics::wanted(accept);
  std::string type(reactor::metrics::content_type(format));
  reactor::metrics::reading all(metrics_, format);
  co_await send_pieces(loop_, to, std::move(type), std::move(all));
}

reactor::awaitable<void> service::answer_health(reactor::http::request r,
                                                reactor::http::responder& to) {
  const std::string path = reactor::http::split_target(r.target).path;
  if (path == "/clusters") {
    const bool may = co_await may_see_fleet(r, to);
    if (!may) co_return;
    co_await send_pieces(loop_, to, "application/json", k8s::fleet::reading(*fleet_));
    co_return;
  }
  reactor::http::response answer;
  answer.fields.add("Content-Type", "text/plain; charset=utf-8");
  if (path == "/healthz") {
    answer.body = "ok\n";
  } else if (path == "/readyz") {
    const bool ready =
        (fleet_started_ && fleet_->is_discovered()) || (options_.leader_elect && !leads_anything());
    answer.status = ready ? 200 : 503;
    answer.body = ready ? "ok\n" : "the clusters are not known yet\n";
  } else {
    answer.status = 404;
    answer.body = "not here: /healthz, /readyz and /clusters are\n";
  }
  (void)co_await to.send(std::move(answer));
}

void service::reload() {
  tasks_.start("reload policies", packs_.reload());
  for (const auto& a : apis_) tasks_.start("reload " + a->what->name, a->works->reload());
}

/// A series for each pack that is in force, with what it is.
void service::show_packs() {
  std::map<std::vector<std::string>, reactor::gauge> now;
  const auto labels = [](const std::vector<std::string>& of) {
    return reactor::metric_labels{{"pack", of[0]}, {"version", of[1]}, {"digest", of[2]}};
  };
  for (const policies::pack_status& p : packs_.status()) {
    if (p.digest.empty() || p.hidden) continue;
    std::vector<std::string> of{p.name, p.version, p.digest};
    reactor::gauge series = metrics_.get_gauge(service_metrics::policy_pack_info, labels(of));
    series.set(1);
    now.emplace(std::move(of), series);
  }
  for (auto& [of, series] : pack_series_)
    if (!now.contains(of)) metrics_.drop(service_metrics::policy_pack_info, labels(of), series);
  pack_series_ = std::move(now);
}

void service::pack_changed(const policies::pack_event& e) {
  metrics_
      .get_counter(service_metrics::policy_events,
                   {{"what", std::string(policies::to_string(e.what))}})
      .add();
  if (e.what == policies::pack_event::kind::refused) {
    log_.error("policy refused, the last good one stays",
               {{"pack", e.folder}, {"file", e.file}, {"line", e.line}, {"reason", e.reason}});
  } else {
    log_.info("policy", {{"what", policies::to_string(e.what)},
                         {"pack", e.name},
                         {"version", e.version},
                         {"digest", e.digest},
                         {"folder", e.folder}});
  }
  show_packs();
  if (on_pack_event) on_pack_event(e);
  // A new pack may come before the one that answered so far.
  if (e.what != policies::pack_event::kind::refused) reconsider_all();
}

/// Events on the ConfigMap that the packs come from. A command that only looks writes none.
void service::tell_refusals(const std::string& from) {
  const auto feed = config_maps_.find(from);
  if (feed == config_maps_.end() || options_.does != units::mode::act || !home_) return;
  const config_map_name& name = feed->second->which();
  const config_map_view* seen = feed->second->seen();
  refusal_teller::state is;
  is.about = {"v1", "ConfigMap", name.ns, name.name, seen ? seen->meta.uid.text() : std::string()};
  is.content = content_of(seen);
  for (const policies::pack_status& p : packs_.status())
    if (p.from == from && !p.refused.empty()) is.why.insert(p.refused);
  for (k8s::event_note& e : refusals_.on(from, std::move(is), loop_.now()))
    home_->events().record(std::move(e));
}

reactor::awaitable<void> service::tell_refusals_again() {
  for (;;) {
    co_await loop_.sleep_for(refusals_told_again);
    for (const auto& [from, feed] : config_maps_) tell_refusals(from);
  }
}

void service::tell_memory(const k8s::event_kind& what, const std::string& words) {
  if (!home_ || options_.does != units::mode::act) return;
  k8s::object_reference about{"v1", "Pod", options_.pod.ns, options_.pod.name, own_pod_uid_};
  if (options_.pod.name.empty() && !options_.apis.empty()) {
    const k8s::object_key lease = lease_of(options_.apis.front());
    about = {"coordination.k8s.io/v1", "Lease", lease.ns, lease.name, ""};
  }
  if (about.name.empty()) return;
  home_->events().record(k8s::tell_of(what, std::move(about), words));
}

reactor::awaitable<void> service::watch_memory() {
  constexpr reactor::nanoseconds without_limit = std::chrono::minutes(1);
  memory_judge judge;
  std::optional<std::pair<reactor::gauge, reactor::gauge>> shown;
  bool gave_back = false;
  for (;;) {
    const std::optional<reactor::memory_use> use = options_.memory();
    if (!use) {
      co_await loop_.sleep_for(without_limit);
      continue;
    }
    if (!shown)
      shown.emplace(metrics_.get_gauge(service_metrics::memory_limit),
                    metrics_.get_gauge(service_metrics::memory_used));
    shown->first.set(static_cast<double>(use->limit_bytes));
    shown->second.set(static_cast<double>(use->used_bytes));
    const std::string words = memory_words(*use);
    const memory_judge::step step = judge.on(*use, loop_.now());
    if (step == memory_judge::step::end && !std::exchange(gave_back, true)) {
      reactor::give_back_free_memory();
      continue;
    }
    if (step == memory_judge::step::end) {
      log_.error(
          "the memory limit is reached; the process ends before the kernel kills it, and goes on "
          "where it was when it is started again with a higher limit",
          {{"limit", use->limit_bytes}, {"used", use->used_bytes}});
      if (on_failure) on_failure();
      co_return;
    }
    gave_back = false;
    const bool was_near = !memory_problem_.empty();
    memory_problem_ = judge.is_near() ? words : std::string();
    if (step == memory_judge::step::tell_near) {
      if (!was_near)
        log_.warning("the memory limit is near; raise it, or split the fleet",
                     {{"limit", use->limit_bytes}, {"used", use->used_bytes}});
      tell_memory(memory_event::near_limit, words);
    } else if (step == memory_judge::step::tell_recovered) {
      log_.info("the memory limit is no longer near",
                {{"limit", use->limit_bytes}, {"used", use->used_bytes}});
      tell_memory(memory_event::recovered, words);
    }
    co_await loop_.sleep_for(next_memory_look(*use));
  }
}

void service::reconsider_all() {
  for (k8s::cluster* c : clusters())
    each_part(*c, [](units::cluster_controller& p) { p.reconsider(); });
}

reactor::awaitable<void> service::stop() {
  co_await tasks_.cancel_and_join();
  co_await fleet_->stop();
  for (const auto& a : apis_) co_await leave_home(a->what->name);
  if (signals_) co_await signals_->stop();
  if (packs_started_) co_await packs_.stop();
  for (const auto& [name, feed] : config_maps_) co_await feed->stop();
  for (const auto& a : apis_)
    if (a->election) co_await a->election->stop();
  for (const auto& a : apis_)
    if (a->turns) co_await a->turns->stop();
  if (home_brake_) co_await home_brake_->stop();
  if (home_) co_await home_->stop();
  for (const auto& server : servers_) co_await server->stop();
  servers_.clear();
}

}  // namespace cli
