#include "releases/release_pools.hpp"

#include "bootc/kinds/names.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/events.hpp"
#include "k8s/fleet/cluster.hpp"
#include "policies/moment.hpp"
#include "policies/subject_labels.hpp"
#include "policies/versions.hpp"
#include "reactor/loop.hpp"
#include "releases/events.hpp"
#include "releases/hold.hpp"
#include "releases/names.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace releases {

namespace docs = policies::releases;
namespace json = boost::json;
using namespace std::chrono_literals;
using units::plan_row;

namespace {

constexpr std::size_t most_pools = 1'000;  // as the mover of pools has
constexpr reactor::nanoseconds not_live_retry = 5s, policy_retry = 1min;
constexpr reactor::nanoseconds patience_for_home = 10s, look_again_for_home = 50ms;
constexpr std::string_view api_of_pools = "bootc", word_for_none = "unknown";

k8s::controller_options controller_of(reactor::metrics* metrics, const reactor::logger& log) {
  k8s::controller_options o;
  o.name = "release_pool";
  o.concurrency = 1;
  o.metrics = metrics;
  o.log = log;
  return o;
}

docs::pool_facts facts_of(const bootc::node_pool& p) {
  const k8s::string_map& noted = p.meta.annotations;
  docs::pool_facts f;
  f.name = p.meta.name.str();
  f.kind = noted.get(names::kind);
  f.architecture = noted.get(names::architecture);
  f.channel = noted.get(names::channel);
  f.suffix = noted.get(names::suffix);
  return f;
}

/// Every node runs what the pool asks for, as the mover of pools has said of this very pool.
bool is_settled(const bootc::node_pool& p) {
  const k8s::condition* c =
      k8s::find_condition(p.status.conditions, bootc::pool_condition::up_to_date);
  return c && c->is_true() && p.status.observed_generation >= p.meta.generation;
}

/// What its tag was resolved to, also while the pool is back on the image before.
std::string digest_in(const bootc::node_pool_status& s) {
  return s.failed_digest.empty() ? s.target_digest : s.failed_digest;
}

double unix_seconds(const std::string& date) {
  const auto at = reactor::parse_rfc3339(date);
  return at ? policies::unix_seconds(*at) : 0;
}

units::standing standing_of(pool_decision::standing s) {
  return s == pool_decision::standing::arrived ? units::standing::done : units::standing::moving;
}

/// "flatcar-…-a → flatcar-…-b, rolls nodes"
std::string step_of(const pool_decision& o) {
  const std::string from = !o.image.empty() ? o.image : o.ref;
  const std::string to = !o.target_image.empty() ? o.target_image : "?";
  if (o.is == pool_decision::standing::arrived) return "stays at " + to;
  std::string text = (from.empty() ? "nothing" : from) + " → " + to;
  if (o.rolls == "yes") text += ", rolls nodes";
  if (o.rolls == "chart") text += ", the chart decides whether nodes roll";
  if (o.rolls == "no") text += ", rolls no node";
  if (o.is == pool_decision::standing::moving) text += ", under way";
  return text;
}

units::unit shown(const pool_decision& o) {
  units::unit u;
  u.name = o.pool;
  u.state = text(o.is);
  u.is = standing_of(o.is);
  std::string findings;
  for (const std::string& id : o.findings) findings += (findings.empty() ? "" : ", ") + id;
  u.details = {
      {.key = "fromRelease", .value = o.at, .column = "FROM", .label = "from"},
      {.key = "toRelease", .value = o.release, .label = "to"},
      {.key = "content", .value = o.content, .label = "content hash"},
      {.key = "ref", .value = o.ref, .label = "now"},
      {.key = "targetRef", .value = o.target_ref, .label = "target"},
      {.key = "rolls", .value = o.rolls, .column = "ROLLS", .label = "rolls"},
      {.key = "level", .value = o.level, .column = "LEVEL"},
      {.key = "findings", .value = findings, .label = "findings"},
      {.key = "step", .value = step_of(o), .label = "step"},
  };
  return u;
}

/// Which Kubernetes the Release names; empty: none, or one that is no single word.
std::string kubernetes_in(const std::shared_ptr<library>& books, const std::string& release) {
  const auto b = books ? books->find(release) : nullptr;
  if (!b || !b->content) return {};
  const auto& all = b->content->components;
  const auto found = std::ranges::find(all, "kubernetes", &docs::entry::name);
  if (found == all.end() || found->version.find(' ') != std::string::npos) return {};
  return found->version;
}

/// One that would be written waits for the brake, or for the speed limit until its time.
void hold_back(pool_decision& o, units::hold why) {
  o.is = pool_decision::standing::held;
  why.asked_again.clear();  // look() says it
  why.unit = o.pool;
  o.hold = std::move(why);
}

std::string row_of(const pool_decision& o) {
  return o.release.empty() ? std::string(word_for_none) : o.release;
}

}  // namespace

bool follows(const bootc::node_pool& p) noexcept {
  return p.follows_release() && !p.meta.deleting();
}

struct release_pools::looking {
  bootc::node_pool pool;
  releases_at_home home;
  k8s::string_map labels;  // of the cluster
  requested_release wanted;
  followed_pool found;
  reactor::nanoseconds look_again{0};
};

release_pools::release_pools(k8s::engagement& on, policies::host& packs, options o)
    : on_(on),
      packs_(packs),
      options_(std::move(o)),
      pools_(on.loop(), on.api(),
             k8s::all_of(bootc::node_pools(), options_.limits, on.log(), most_pools)),
      figures_(options_.metrics && options_.rows && options_.does == units::mode::act
                   ? std::make_unique<units::row_figures>(*options_.metrics, *options_.rows,
                                                          "releases", on.on().name())
                   : nullptr),
      controller_(on.loop(), *this, controller_of(options_.metrics, on.log()),
                  [](const std::string& pool) { return pool; }),
      patient_until_(on.loop().now() + patience_for_home),
      overviews_(on.loop()),
      tasks_(on.loop()) {
  on.follow(pools_);
  pools_.on_change([this](const bootc::node_pool* before, const bootc::node_pool* now) {
    const bool was = before && follows(*before), is = now && follows(*now);
    if (!was && !is) return;
    ++revision_;
    controller_.add((now ? now : before)->meta.name.str());
  });
  pools_.start();
  if (options_.does == units::mode::look) return;
  tasks_.start("Releases of " + on.on().name(), [this]() -> awaitable<void> {
    (void)co_await pools_.synced();
    controller_.start();
  });
}

release_pools::~release_pools() = default;

awaitable<void> release_pools::stop() {
  stopping_ = true;
  if (options_.on_stop) options_.on_stop(this);
  co_await tasks_.cancel_and_join();
  co_await controller_.stop();
  co_await pools_.stop();
  co_await overviews_.empty();
  co_await pools_.forget();
}

awaitable<bool> release_pools::synced(reactor::steady_time deadline) {
  return pools_.synced(deadline);
}

void release_pools::count_digests(const std::string& ref,
                                  std::map<std::string, std::size_t>& into) const {
  pools_.objects().each([&](const bootc::node_pool& p) {
    const std::string digest = digest_in(p.status);
    if (follows(p) && p.spec.image_ref == ref && p.status.resolved_ref == ref && !digest.empty())
      ++into[digest];
  });
}

void release_pools::reconsider() {
  ++revision_;
  if (const releases_at_home home = options_.home(); home.index) {
    requested_release now = requested_release_of(on_.on().labels(), options_.labels, *home.index);
    if (std::exchange(requested_release_, now) != now && options_.on_request) options_.on_request();
  }
  pools_.objects().each([&](const bootc::node_pool& p) {
    if (follows(p)) controller_.add(p.meta.name.str());
  });
}

std::optional<std::uint64_t> release_pools::revision() const {
  const releases_at_home home = options_.home();
  return revision_ + (home.index ? home.index->revision() : 0);
}

awaitable<void> release_pools::find_current(looking& at) {
  library& books = *at.home.index;
  const docs::pool_facts facts = facts_of(at.pool);
  const std::string& ref = at.pool.spec.image_ref;
  if (ref.empty()) co_return;
  std::vector<std::string> candidates;
  const std::string noted(at.pool.meta.annotations.get(names::at));
  if (!noted.empty()) candidates.push_back(noted);
  // A pool that opts in has no note yet, and an edit of the image by hand leaves the note
  // behind.
  std::vector<std::shared_ptr<const book>> all = books.of(at.wanted.provider);
  for (auto b = all.rbegin(); b != all.rend(); ++b)
    if ((*b)->content && (*b)->name != noted) candidates.push_back((*b)->name);
  for (const std::string& name : candidates) {
    auto answer = co_await books.image(name, facts);
    if (!answer) continue;
    if (!answer->images.empty() && answer->images.front().ref == ref) {
      at.found.at = name;
      co_return;
    }
  }
}

/// Asks `versions.resolve`, whose catalogue is what home has of the provider.
awaitable<void> release_pools::find_release(looking& at) {
  followed_pool& e = at.found;
  if (!at.wanted.problem.empty()) {
    e.why_none = at.wanted.problem;
    co_return;
  }
  auto question = std::make_shared<policies::versions_question>();
  question->api = api_of_pools;
  question->cluster = on_.on().name();
  question->name = e.pool;
  question->cluster_labels = at.labels;
  question->labels = at.pool.meta.labels;
  question->annotations = at.pool.meta.annotations;
  question->wanted = at.wanted.version;
  if (const auto now = at.home.index->find(e.at)) question->running = now->version;
  for (const auto& b : at.home.index->of(at.wanted.provider)) {
    policies::catalogue_entry one;
    one.version = b->version;
    one.reference = b->name;
    if (b->content) {
      one.channel = b->content->state;
      one.released = unix_seconds(b->content->date);
    }
    question->catalogue.push_back(std::move(one));
  }
  policies::subject about;
  about.api = api_of_pools;
  about.cluster_labels = policies::as_labels(at.labels);
  about.object_labels = policies::as_labels(at.pool.meta.labels);
  about.pack = at.pool.policy();
  // The pack that a pool names may be there for its rollout alone.
  if (!about.pack.empty() && !packs_.select("versions.resolve", about)) about.pack.clear();
  auto answer = co_await policies::resolve_version(packs_, std::move(about), std::move(question),
                                                   on_.loop().wall());
  if (!answer) {
    e.fault = answer.error().message();
    co_return;
  }
  at.look_again = answer->look_again;
  if (answer->version.empty()) {
    e.why_none = at.wanted.version.empty()
                     ? "label " + options_.labels.release +
                           " of the cluster names no Release: " + answer->reason
                     : answer->reason;
    co_return;
  }
  e.release = answer->reference;
  const auto b = at.home.index->find(e.release);
  if (b && b->content) e.content = b->content->hash;
  e.consent_problem = at.home.index->consent_problem();
  if (b && !b->content) e.why_none = e.release + " cannot be read: " + b->problem;
}

/// What policies say of the Release, and of the steps to it from what nodes run.
awaitable<void> release_pools::ask_about(looking& at) {
  followed_pool& e = at.found;
  library& books = *at.home.index;
  const docs::pool_facts facts = facts_of(at.pool);
  auto image = co_await books.image(e.release, facts);
  if (!image) {
    e.fault = image.error().message();
    co_return;
  }
  e.image = std::move(*image);
  auto own = co_await books.step(std::string(), e.release, facts);
  if (!own) {
    e.fault = own.error().message();
    co_return;
  }
  e.own = std::move(own->findings);
  std::vector<std::string> from;
  const std::string left(at.pool.meta.annotations.get(names::from));
  // Nodes that have not moved yet run what the pool had before.
  if (!e.settled && !left.empty() && left != e.at && left != e.release && books.find(left))
    from.push_back(left);
  if (!e.at.empty() && e.at != e.release) from.push_back(e.at);
  for (const std::string& base : from) {
    auto step = co_await books.step(base, e.release, facts);
    if (!step) {
      e.fault = step.error().message();
      co_return;
    }
    e.steps.push_back({base, std::move(*step)});
  }
}

awaitable<std::optional<release_pools::seen>> release_pools::look_closely(std::string pool) {
  const bootc::node_pool* p = pools_.find({"", pool});
  if (!p || !follows(*p)) co_return std::nullopt;
  looking at;
  at.pool = *p;
  at.home = options_.home();
  at.labels = on_.on().labels();
  at.found.pool = pool;
  at.found.ref = p->spec.image_ref;
  at.found.settled = is_settled(*p);
  at.found.digest = digest_in(p->status);
  if (p->status.resolved_ref == p->spec.image_ref) at.found.moved_to = p->status.available_digest;
  if (!at.home.index || !at.home.live || !at.home.index->is_read()) {
    at.found.why_none = "the Releases at home are not known at the moment";
  } else {
    at.wanted = requested_release_of(at.labels, options_.labels, *at.home.index);
    co_await find_current(at);
    co_await find_release(at);
    if (at.found.fault.empty() && at.found.why_none.empty()) co_await ask_about(at);
  }
  seen out;
  out.last = decide(at.found);
  out.look_again = at.look_again;
  if (out.last.is != pool_decision::standing::due) co_return out;
  if (const auto held = units::ask(options_.brake, out.last.pool)) {
    hold_back(out.last, *held);
    if (held->again_in) out.look_again = *held->again_in;
  }
  co_return out;
}

awaitable<std::optional<pool_decision>> release_pools::look(std::string pool) {
  auto found = co_await look_closely(std::move(pool));
  if (!found) co_return std::nullopt;
  if (found->last.hold && found->look_again > 0s)
    found->last.hold->asked_again = reactor::format_rfc3339(on_.loop().wall() + found->look_again);
  co_return std::move(found->last);
}

void release_pools::count() {
  if (!figures_) return;
  std::map<std::string, std::pair<units::row_figures::counts, units::row_figures::counts>> rows;
  for (const auto& [pool, s] : known_) {
    auto& [states, held] = rows[row_of(s.last)];
    ++states[std::string(text(s.last.is))];
    if (s.last.hold) ++held[s.last.hold->code];
  }
  for (const std::string& gone : shown_rows_)
    if (!rows.contains(gone)) figures_->forget(gone);
  shown_rows_.clear();
  for (auto& [row, counts] : rows) {
    figures_->show(row, std::move(counts.first), counts.second);
    shown_rows_.insert(row);
  }
}

awaitable<k8s::result<k8s::next>> release_pools::reconcile(std::string pool) {
  if (!on_.is_live()) co_return k8s::requeue_after(not_live_retry);
  auto found = co_await look_closely(pool);
  if (!found) {
    known_.erase(pool);
    count();
    co_return k8s::await_change();
  }
  const pool_decision o = found->last;
  const reactor::nanoseconds again = found->look_again;
  if (const auto before = known_.find(pool);
      o.hold && (before == known_.end() || before->second.last.hold != o.hold))
    on_.log().warning("a pool waits for its Release",
                      {{"pool", pool}, {"code", o.hold->code}, {"why", o.hold->sentence}});
  known_.insert_or_assign(pool, std::move(*found));
  count();
  if (o.is == pool_decision::standing::due) {
    const bootc::node_pool* now = pools_.find({"", pool});
    if (!now || !follows(*now) || now->spec.image_ref != o.ref) co_return k8s::await_change();
    if (units::begin(options_.brake, pool)) {  // since it was looked at; it is looked at again
      controller_.add(pool);
      co_return k8s::await_change();
    }
    bootc::node_pool copy = *now;
    auto written = co_await write(std::move(copy), o);
    if (!written) co_return written.error();
  }
  // What home has is told by its reader; a policy that failed tells nothing.
  if (o.hold && o.hold->code == units::hold_code::policy_fault.code)
    co_return k8s::requeue_after(policy_retry);
  if (!options_.home().live) co_return k8s::requeue_after(not_live_retry);
  if (again > 0s) co_return k8s::requeue_after(again);
  co_return k8s::await_change();
}

awaitable<k8s::result<void>> release_pools::write(bootc::node_pool pool, pool_decision o) {
  json::object annotations;
  annotations[names::at] = o.release;
  // While nodes still run what was before, that stays the one that every step is judged from.
  const std::string left(pool.meta.annotations.get(names::from));
  const std::string leaves = !is_settled(pool) && !left.empty() ? left : o.at;
  annotations[names::from] = leaves.empty() ? json::value(nullptr) : json::value(leaves);
  // Where another pool has the image already, this one gets the same, whatever the name is by now.
  const std::string known = options_.digest_of ? options_.digest_of(o.target_ref) : std::string();
  annotations[bootc::names::approve_digest] =
      known.empty() ? json::value(nullptr) : json::value(known);
  const std::string kubernetes = kubernetes_in(options_.home().index, o.release);
  annotations[bootc::names::kubernetes] =
      kubernetes.empty() ? json::value(nullptr) : json::value(kubernetes + " " + o.target_ref);
  json::object metadata;
  metadata["resourceVersion"] = pool.meta.resource_version.text();
  metadata["annotations"] = std::move(annotations);
  json::object image{{"ref", o.target_ref}};
  json::object spec{{"image", std::move(image)}};
  json::object patch;
  patch["metadata"] = std::move(metadata);
  patch["spec"] = std::move(spec);
  auto written =
      co_await on_.api().merge_patch(bootc::node_pools(), pool.meta.key(), std::move(patch),
                                     k8s::request_options().by(std::string(names::field_manager)));
  if (!written) co_return written.error();
  on_.log().info("the image of a Release was written to its pool",
                 {{"pool", o.pool}, {"release", o.release}, {"from", o.at}, {"ref", o.target_ref}});
  const k8s::object_reference about{"node.bootc.dev/v1alpha1", "BootcNodePool", "", o.pool,
                                    pool.meta.uid.text()};
  on_.on().events().record(k8s::tell_of(release_event::applied, about,
                                        (o.at.empty() ? std::string("another image") : o.at) +
                                            " → " + o.release + ": " + o.target_ref));
  co_return k8s::result<void>();
}

awaitable<std::vector<plan_row>> release_pools::overview() {
  const reactor::gate::visit here(overviews_);
  // Who looks once has just come; home is not there before every cluster.
  while (!stopping_ && on_.loop().now() < patient_until_) {
    const releases_at_home home = options_.home();
    if (home.live && home.index->is_read()) break;
    co_await on_.loop().sleep_for(look_again_for_home);
  }
  std::vector<std::string> names;
  pools_.objects().each([&](const bootc::node_pool& p) {
    if (follows(p)) names.push_back(p.meta.name.str());
  });
  std::ranges::sort(names);
  std::map<std::string, plan_row> rows;
  for (const std::string& name : names) {
    if (stopping_) break;
    auto o = co_await look(name);
    if (!o) continue;
    plan_row& row = rows[row_of(*o)];
    row.name = row_of(*o);
    if (row.target.empty()) row.target = o->target_image;
    row.units.push_back(shown(*o));
    ++row.capacity;
    row.updated += o->is == pool_decision::standing::arrived;
    row.updating += o->is != pool_decision::standing::arrived;
    row.occupied += o->is == pool_decision::standing::moving;
    if (o->is == pool_decision::standing::due) {
      row.start.push_back(name);
      row.actions.push_back({"write spec.image.ref " + o->target_ref, name});
    }
    if (o->hold) {
      row.holds.push_back(*o->hold);
      row.forecast.push_back(std::move(*o->hold));
    }
  }
  std::vector<plan_row> all;
  for (auto& [name, row] : rows) all.push_back(std::move(row));
  co_return all;
}

}  // namespace releases
