#include "cli/service.hpp"

#include "reactor/loop.hpp"

#include <boost/json.hpp>

namespace cli {
namespace {

policies::host::options pack_options(const std::string& folder) {
  policies::host::options o;
  if (!folder.empty()) o.folders.push_back(folder);
  return o;
}

reactor::fault sentence(reactor::errc code, std::string text) {
  return reactor::make_fault(code, "", text);
}

}  // namespace

service::service(reactor::loop& l, service_options options, reactor::logger log)
    : loop_(l),
      options_(std::move(options)),
      log_(std::move(log)),
      packs_(l, pack_options(options_.policies)),
      policy_(packs_,
              {.labels_of = [this](const std::string& name) { return labels_of(name); },
               .clusters = [this](const std::string& pool) { return what_clusters_do(pool); }}),
      tasks_(l) {
  k8s::fleet_options f;
  f.ns = options_.ns;
  f.label = options_.label;
  f.key = options_.key;
  f.metrics = &metrics_;
  const auto ask_again = [](k8s::cluster& c) {
    if (auto* part = bootc::bootc_part(c)) part->reconsider();
  };
  f.on_recovered = ask_again;
  f.on_labels = ask_again;  // another policy may apply now
  bootc::bootc_cluster::options b;
  b.policy = &policy_;
  b.metrics = &metrics_;
  b.log = log_;
  b.does = options_.does;
  b.limits = options_.limits;
  f.steps.push_back(bootc::engage_bootc(std::move(b)));
  fleet_ = std::make_unique<k8s::fleet>(loop_, std::move(f), log_);
  packs_.on_event = [this](const policies::pack_event& e) { pack_changed(e); };
  packs_.on_log = [this](const std::string& pack, const std::string& line) {
    log_.info("policy says", {{"pack", pack}, {"line", line}});
  };
}

service::~service() = default;

reactor::awaitable<reactor::result<void>> service::start() {
  auto loaded = co_await packs_.load();
  if (!loaded) co_return loaded.error();
  packs_.start();
  packs_started_ = true;
  if (options_.metrics_at) {
    metrics_.on_collect(
        [this,
         stall = metrics_.get_gauge("windlass_loop_longest_stall_seconds",
                                    "Longest callback since the last look."),
         callbacks = metrics_.get_counter("windlass_loop_callbacks_total",
                                          "Callbacks that the loop ran.")]() mutable {
          const reactor::loop_health health = loop_.take_health();
          stall.set(std::chrono::duration<double>(health.longest_stall).count());
          callbacks.add(static_cast<double>(health.callbacks));
        });
    auto bound = listen(
        *options_.metrics_at,
        [this](reactor::http::request, reactor::http::responder& to) { return answer_metrics(to); },
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
    for (named_connection& c : options_.clusters) fleet_->add(c.name, c.to);
    fleet_started_ = true;
    co_return reactor::result<void>();
  }
  home_ = std::make_unique<k8s::client>(loop_, options_.home);
  events_ = std::make_unique<k8s::event_recorder>(
      loop_, *home_, k8s::event_options{.reporting_instance = options_.identity}, log_);
  auto reached = co_await reach_home();
  if (!reached) co_return reached.error();
  if (!options_.lease) co_return co_await start_fleet();
  k8s::leader_election::options e;
  e.lease = *options_.lease;
  e.identity = options_.identity;
  e.on_started = [this] {
    tasks_.start("start fleet", [this]() -> reactor::awaitable<void> {
      auto started = co_await start_fleet();
      if (!started) {
        log_.error("could not start", {{"error", started.error()}});
        if (on_leadership_lost) on_leadership_lost();
      }
    });
  };
  e.on_lost = [this] {
    log_.error("lost the lease; stopping, so that its new holder acts alone");
    if (on_leadership_lost) on_leadership_lost();
  };
  election_ = std::make_unique<k8s::leader_election>(loop_, *home_, std::move(e), log_);
  election_->start();
  co_return reactor::result<void>();
}

reactor::awaitable<reactor::result<void>> service::reach_home() {
  k8s::discovery d(*home_);
  auto version = co_await d.read_version(std::chrono::seconds(5));
  if (!version) {
    const std::string where =
        home_->server() + " (" + options_.home.source +
        (options_.home.context.empty() ? "" : ", context " + options_.home.context) + ")";
    co_return sentence(reactor::errc::closed,
                       "cannot use the home cluster at " + where + ": " +
                           version.error().message() +
                           "\n  Is it running, and is this the right --kubeconfig and --context?");
  }
  log_.info("home cluster answers", {{"server", home_->server()},
                                     {"source", options_.home.source},
                                     {"context", options_.home.context},
                                     {"version", version->git_version}});
  co_return reactor::result<void>();
}

reactor::awaitable<reactor::result<bool>> service::secrets_exist() {
  k8s::list_options o;
  o.ns = options_.ns;
  o.label_selector = options_.label + "=true";
  o.limit = 1;
  auto page = co_await home_->list(k8s::resources::secrets(), std::move(o));
  if (!page)
    co_return sentence(reactor::errc::refused,
                       "cannot look for kubeconfig Secrets at home: " + page.error().message());
  const boost::json::value* items = page->if_contains("items");
  co_return items && items->is_array() && !items->get_array().empty();
}

reactor::awaitable<reactor::result<void>> service::start_fleet() {
  for (named_connection& c : options_.clusters) fleet_->add(c.name, c.to);
  if (options_.discover) {
    auto found = co_await secrets_exist();
    if (!found) co_return found.error();
    if (!*found && options_.home_alone_is_a_fleet) {
      log_.info("no kubeconfig Secret at home: home itself is the fleet",
                {{"namespace", options_.ns}, {"label", options_.label}});
      fleet_->add(options_.home_name, options_.home);
    }
    fleet_->discover(*home_, events_.get());
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

/// What a fleet has to say is a megabyte: it is made and sent in pieces, between which everything else runs.
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

reactor::awaitable<void> service::answer_metrics(reactor::http::responder& to) {
  co_await send_pieces(loop_, to, std::string(reactor::metrics::content_type),
                       reactor::metrics::reading(metrics_));
}

reactor::awaitable<void> service::answer_health(reactor::http::request r,
                                                reactor::http::responder& to) {
  const std::string path = reactor::http::split_target(r.target).path;
  if (path == "/clusters") {
    co_await send_pieces(loop_, to, "application/json", k8s::fleet::reading(*fleet_));
    co_return;
  }
  reactor::http::response answer;
  answer.fields.add("Content-Type", "text/plain; charset=utf-8");
  if (path == "/healthz") {
    answer.body = "ok\n";
  } else if (path == "/readyz") {
    const bool ready =
        (fleet_started_ && fleet_->is_discovered()) || (election_ && !election_->leading());
    answer.status = ready ? 200 : 503;
    answer.body = ready ? "ok\n" : "the clusters are not known yet\n";
  } else {
    answer.status = 404;
    answer.body = "not here: /healthz, /readyz and /clusters are\n";
  }
  (void)co_await to.send(std::move(answer));
}

k8s::string_map service::labels_of(const std::string& cluster) const {
  const k8s::cluster* c = fleet_->find(cluster);
  return c ? c->labels() : k8s::string_map();
}

const std::vector<policies::rollout_cluster>& service::what_clusters_do(const std::string& pool) {
  // Policies are asked often and a fleet is large: a summary serves for a second.
  if (loop_.now() - summarised_at_ >= std::chrono::seconds(1)) {
    summarised_at_ = loop_.now();
    pool_summaries_.clear();
  }
  const auto [summary, fresh] = pool_summaries_.try_emplace(pool);
  if (!fresh) return summary->second;
  for (k8s::cluster* c : fleet_->clusters()) {
    const bootc::bootc_cluster* part = bootc::bootc_part(*c);
    const bootc::node_pool* found = part ? part->pool(pool) : nullptr;
    if (!found) continue;
    policies::rollout_cluster one;
    one.name = c->name();
    one.cluster_labels = c->labels();
    one.nodes = static_cast<std::uint64_t>(found->status.node_count);
    one.updated = static_cast<std::uint64_t>(found->status.updated_count);
    one.degraded = static_cast<std::uint64_t>(found->status.degraded_count);
    one.slotted = part->slotted(pool);
    summary->second.push_back(std::move(one));
  }
  return summary->second;
}

void service::reload() {
  tasks_.start("reload policies", packs_.reload());
}

void service::pack_changed(const policies::pack_event& e) {
  metrics_
      .get_counter("windlass_policy_events_total", "Packs loaded, reloaded, refused and removed.",
                   {{"what", std::string(policies::to_string(e.what))}})
      .add();
  if (e.what == policies::pack_event::kind::refused) {
    log_.error("policy refused, the last good one stays",
               {{"pack", e.folder}, {"file", e.file}, {"line", e.line}, {"reason", e.reason}});
  } else {
    log_.info("policy", {{"what", policies::to_string(e.what)},
                         {"pack", e.name},
                         {"version", e.version},
                         {"folder", e.folder}});
  }
  if (on_pack_event) on_pack_event(e);
  if (e.what == policies::pack_event::kind::reloaded ||
      e.what == policies::pack_event::kind::removed)
    reconsider_all();
}

void service::reconsider_all() {
  for (k8s::cluster* c : fleet_->clusters())
    if (auto* part = bootc::bootc_part(*c)) part->reconsider();
}

reactor::awaitable<void> service::stop() {
  co_await tasks_.cancel_and_join();
  co_await fleet_->stop();
  if (packs_started_) co_await packs_.stop();
  if (election_) co_await election_->stop();
  if (events_) co_await events_->stop();
  if (home_) co_await home_->stop();
  for (const auto& server : servers_) co_await server->stop();
  servers_.clear();
}

}  // namespace cli
