#include "bootc/bootc_cluster.hpp"

#include "app/api/assumed_targets.hpp"
#include "bootc/kinds/cluster_node.hpp"
#include "bootc/kinds/conditions.hpp"
#include "bootc/pool/event_filter.hpp"
#include "bootc/tags/image_versions.hpp"
#include "bootc/tags/tag_watcher.hpp"
#include "k8s/client/client.hpp"

#include <algorithm>

namespace bootc {
namespace {

using namespace std::chrono_literals;

/// Beyond what a cluster is tested for (5,000 nodes); a change of a node is matched against every
/// pool, and some steps of a pass over all nodes cannot be divided.
constexpr std::size_t most_nodes = 10'000, most_pools = 1'000;

/// Its name stays known as long as it is there; a copy does not outlive a change.
template <class View>
void note_change(copies<View>& known, const View* before, const View* now) {
  if (now)
    known[now->meta.name.str()].reset();
  else
    known.erase(before->meta.name.str());
}

}  // namespace

namespace {

node_figures figures_of_nodes(const bootc_cluster::options& o) {
  return o.metrics && o.does == units::mode::act ? node_figures(*o.metrics, o.name)
                                                 : node_figures();
}

}  // namespace

bootc_cluster::bootc_cluster(reactor::loop& l, k8s::client& api, options o)
    : loop_(l),
      options_(std::move(o)),
      pools_(l, api, k8s::all_of(node_pools(), options_.limits, options_.log, most_pools)),
      bootc_nodes_(l, api, k8s::all_of(bootc_nodes(), options_.limits, options_.log, most_nodes)),
      nodes_(l, api,
             k8s::all_of(k8s::resources::nodes(), options_.limits, options_.log, most_nodes)),
      figures_(options_.metrics && options_.rows && options_.does == options::mode::act
                   ? std::make_unique<units::row_figures>(*options_.metrics, *options_.rows,
                                                          "bootc", options_.name)
                   : nullptr),
      node_figures_(figures_of_nodes(options_)),
      drains_(
          l, api, [this](const std::string& node) { wake_owner_of(node); }, options_.log,
          node_figures_, options_.own_pod_uid),
      secrets_(options_.operator_ns.empty() ? std::nullopt
                                            : std::make_optional<pull_secrets>(
                                                  l, api, options_.operator_ns, options_.limits,
                                                  [this] { reconsider(); }, options_.log)),
      other_(options_.lease_ns.empty() ? std::nullopt
                                       : std::make_optional<other_operator>(
                                             l, api, options_.lease_ns, options_.identity)),
      servers_(options_.discovery
                   ? std::make_optional<k8s::skew::server_versions>(l, *options_.discovery, api)
                   : std::nullopt),
      reconciler_(l, api,
                  cluster_views{pools_.objects(), bootc_nodes_.objects(), nodes_.objects(),
                                copied_bootc_nodes_, copied_nodes_},
                  drains_,
                  [this] {
                    reconciler_settings s;
                    s.cluster = options_.name;
                    s.policy = options_.policy;
                    s.is_current = [this] { return is_current(); };
                    s.set_freshness = [this](k8s::freshness how) { set_freshness(how); };
                    s.may_act = [this] {
                      return is_current() && pools_.may_be_acted_upon() &&
                             bootc_nodes_.may_be_acted_upon() && nodes_.may_be_acted_upon();
                    };
                    s.on_plan = [this](const std::string& pool, const rollout_plan& plan) {
                      ++revision_;
                      if (options_.on_plan) options_.on_plan(pool, plan);
                    };
                    s.events = options_.events;
                    s.assumed = options_.assumed;
                    s.tags = options_.tags;
                    s.images = options_.images;
                    s.servers = servers_ ? &*servers_ : nullptr;
                    s.gate = options_.gate.get();
                    s.start = [this](std::string name, awaitable<void> question) {
                      if (!stopping_) tasks_.start(std::move(name), std::move(question));
                    };
                    s.secrets = secrets_ ? &*secrets_ : nullptr;
                    s.other = other_ ? &*other_ : nullptr;
                    s.wake = [this](const std::string& pool) { controller_.add(pool); };
                    s.brake = options_.brake;
                    s.only_looks = options_.does == units::mode::look;
                    s.rows = figures_.get();
                    s.figures = node_figures_;
                    s.log = options_.log;
                    return s;
                  }()),
      controller_(
          l, reconciler_,
          [this] {
            k8s::controller_options c;
            c.name = "bootc_node_pool";
            c.concurrency = 1;  // quorum rules span the pools of a cluster
            c.metrics = options_.metrics;
            c.log = options_.log;
            return c;
          }(),
          [](const std::string& pool) { return pool; }),
      waves_(l, api,
             {.may_act = [this] { return is_current(); },
              .say_nodes = [this](wave_facts& to) { say_nodes(to); },
              .brake = options_.brake,
              .events = options_.events,
              .older = node_figures_.daemons_older,
              .log = options_.log}),
      overviews_(l),
      tasks_(l) {
  pools_.on_change(
      [this](const node_pool* before, const node_pool* now) { pool_changed(before, now); });
  bootc_nodes_.on_change(
      [this](const bootc_node* before, const bootc_node* now) { bootc_node_changed(before, now); });
  nodes_.on_change(
      [this](const k8s::node* before, const k8s::node* now) { node_changed(before, now); });
}

bootc_cluster::~bootc_cluster() = default;

void bootc_cluster::start() {
  pools_.start();
  bootc_nodes_.start();
  nodes_.start();
  if (options_.does == options::mode::look) return;
  // Before all three are complete, a node without its object would look like a new one.
  tasks_.start("bootc cluster " + options_.name, [this]() -> awaitable<void> {
    (void)co_await synced();
    controller_.start();
    co_await waves_.run();
  });
}

awaitable<void> bootc_cluster::stop() {
  stopping_ = true;
  co_await tasks_.cancel_and_join();
  co_await controller_.stop();
  if (options_.gate) co_await options_.gate->stop();
  if (options_.images) options_.images->leave_all(options_.name + "/");
  if (options_.tags) co_await options_.tags->leave_all(options_.name + "/");
  if (secrets_) co_await secrets_->stop();
  co_await drains_.stop();
  co_await pools_.stop();
  co_await bootc_nodes_.stop();
  co_await nodes_.stop();
  co_await overviews_.empty();
  for (k8s::informer_base* i : informers()) co_await i->forget();
}

awaitable<bool> bootc_cluster::synced(reactor::steady_time deadline) {
  const bool pools = co_await pools_.synced(deadline);
  const bool objects = co_await bootc_nodes_.synced(deadline);
  const bool nodes = co_await nodes_.synced(deadline);
  co_return pools&& objects&& nodes;
}

bool bootc_cluster::is_current() const {
  const bool complete = pools_.is_synced() && bootc_nodes_.is_synced() && nodes_.is_synced();
  return complete && (!options_.is_current || options_.is_current());
}

void bootc_cluster::say_nodes(wave_facts& to) const {
  bootc_nodes_.objects().each([&](const bootc_node& b) {
    const condition* idle = find_condition(b.status.conditions, node_condition::idle);
    const std::string& node = b.meta.name.str();
    if (b.in_slot())
      to.busy[node] = "holds a slot";
    else if (idle && idle->reason == node_reason::staging)
      to.busy[node] = "fetches an image";
  });
  nodes_.objects().each([&](const k8s::node& n) {
    if (n.ready == k8s::condition_status::unknown) to.silent.insert(n.meta.name.str());
  });
}

void bootc_cluster::set_freshness(k8s::freshness how) {
  if (options_.set_freshness) return options_.set_freshness(how);
  for (k8s::informer_base* i : informers()) i->set_freshness(how);
}

std::string bootc_cluster::sync_problem() const {
  for (const k8s::informer_base* i :
       std::initializer_list<const k8s::informer_base*>{&pools_, &bootc_nodes_, &nodes_})
    if (!i->sync_problem().empty()) return i->sync_problem();
  return {};
}

std::vector<std::string> bootc_cluster::pools() const {
  std::vector<std::string> out;
  pools_.objects().each([&](const node_pool& p) { out.push_back(p.meta.name.str()); });
  std::sort(out.begin(), out.end());
  return out;
}

awaitable<std::optional<rollout_plan>> bootc_cluster::preview(std::string pool, plan_view of) {
  return reconciler_.preview(std::move(pool), of);
}

awaitable<k8s::result<std::vector<std::string>>> bootc_cluster::differences() {
  std::vector<std::string> all;
  for (k8s::informer_base* i : informers()) {
    auto some = co_await i->differences();
    if (!some) co_return some.error();
    for (std::string& d : *some) all.push_back(i->collection().plural + " " + std::move(d));
  }
  co_return all;
}

void bootc_cluster::reconsider() {
  ++revision_;
  pools_.objects().each([&](const node_pool& p) { controller_.add(p.meta.name.str()); });
}

void bootc_cluster::pool_changed(const node_pool* before, const node_pool* now) {
  ++revision_;
  const node_pool& any = now ? *now : *before;
  if (!before || !now || reconciler_.is_news(*before, *now)) controller_.add(any.meta.name.str());
  if (!now && figures_) figures_->forget(before->meta.name.str());
  // A pool that let go, or stopped matching, may leave nodes to others.
  if (!now || (before && !(before->spec.node_selector == now->spec.node_selector))) reconsider();
}

std::size_t bootc_cluster::slotted(const std::string& pool) const {
  const auto found = slotted_.find(pool);
  return found == slotted_.end() ? 0 : found->second;
}

void bootc_cluster::count_slot(const bootc_node* b, int by) {
  if (!b || !b->in_slot() || !b->meta.owner) return;
  const auto counted = slotted_.try_emplace(b->meta.owner.name.str(), 0).first;
  counted->second += static_cast<std::size_t>(by);
  if (counted->second == 0) slotted_.erase(counted);
}

/// Idle's time is when the fetch began: it changes with the status alone, and that is False in
/// both.
void bootc_cluster::count_stage(const bootc_node* before, const bootc_node* now) {
  const auto idle_of = [](const bootc_node* b) {
    return b ? find_condition(b->status.conditions, node_condition::idle) : nullptr;
  };
  const condition *was = idle_of(before), *is = idle_of(now);
  if (!was || !is || was->reason != node_reason::staging || is->reason != node_reason::staged)
    return;
  const auto began = reactor::parse_rfc3339(is->last_transition_time);
  if (began)
    node_figures_.stage_seconds.observe(
        std::chrono::duration<double>(loop_.wall() - *began).count());
}

void bootc_cluster::bootc_node_changed(const bootc_node* before, const bootc_node* now) {
  ++revision_;
  note_change(copied_bootc_nodes_, before, now);
  if (!now) reconciler_.gone(*before);
  count_slot(before, -1);
  count_slot(now, +1);
  count_stage(before, now);
  if (before && now && !reconciler_.is_news(*before, *now)) return;
  for (const bootc_node* b : {before, now})
    if (b && b->meta.owner) controller_.add(b->meta.owner.name.str());
  const bootc_node& any = now ? *now : *before;
  const k8s::node* node = nodes_.find({"", any.meta.name.str()});
  if (!node) return;
  // Foreign objects and those that go concern each pool that selects the node.
  if (!before || !now || !(before->meta.owner == now->meta.owner)) wake_matching(node->meta.labels);
  const bool slot_moved = (before && before->in_slot()) != (now && now->in_slot());
  if (slot_moved && is_control_plane(*node)) reconsider();
}

void bootc_cluster::node_changed(const k8s::node* before, const k8s::node* now) {
  note_change(copied_nodes_, before, now);
  if (!now) reconciler_.gone(*before);
  if (before && now && !is_news(*before, *now)) return;
  ++revision_;
  const k8s::node& any = now ? *now : *before;
  if (is_control_plane(any)) return reconsider();
  if (now) wake_matching(now->meta.labels);
  wake_owner_of(any.meta.name.str());
}

void bootc_cluster::wake_matching(const k8s::string_map& labels) {
  pools_.objects().each([&](const node_pool& p) {
    if (p.spec.selector_problem.empty() && p.spec.node_selector.matches(labels))
      controller_.add(p.meta.name.str());
  });
}

void bootc_cluster::wake_owner_of(const std::string& node) {
  const bootc_node* b = bootc_nodes_.find({"", node});
  if (b && b->meta.owner) controller_.add(b->meta.owner.name.str());
}

std::unique_ptr<bootc_cluster> start_on(k8s::engagement& on, bootc_cluster::options o) {
  o.name = on.on().name();
  o.log = on.log();
  if (o.does == units::mode::act) {
    o.events = &on.on().events();
  } else {
    // A command that looks asks a registry for nothing but the images that it was told to assume,
    // reads no Secret, and takes no service of ours for another operator.
    if (!o.assumed || o.assumed->by_row.empty()) {
      o.tags = nullptr;
      o.images = nullptr;
    }
    o.operator_ns.clear(), o.lease_ns.clear();
  }
  o.discovery = &on.discovery();
  o.is_current = [&on] { return on.is_live(); };
  o.set_freshness = [&on](k8s::freshness how) { on.set_freshness(how); };
  auto part = std::make_unique<bootc_cluster>(on.loop(), on.api(), std::move(o));
  on.follow(part->pool_informer());
  on.follow(part->bootc_node_informer());
  on.follow(part->node_informer());
  part->start();
  return part;
}

}  // namespace bootc
