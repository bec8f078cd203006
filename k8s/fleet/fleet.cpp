#include "k8s/fleet/fleet.hpp"

#include "formats/digest.hpp"
#include "k8s/fleet/kubeconfig_secret.hpp"
#include "k8s/fleet/metric_table.hpp"
#include "k8s/fleet/self_cluster.hpp"
#include "k8s/fleet/token_expiry.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <utility>

namespace k8s {
namespace {

namespace json = boost::json;

/// Where a piece of what all clusters are ends; an entry beyond it is at most a server's words
/// long.
constexpr std::size_t piece_bytes = 16 * 1024;

}  // namespace

fleet::fleet(reactor::loop& l, fleet_options options, reactor::logger log)
    : loop_(l),
      options_(std::move(options)),
      log_(std::move(log)),
      names_changed_(l),
      changed_(l),
      tokens_changed_(l),
      discovered_(l),
      closing_(l),
      tasks_(l) {
  discovered_.set();  // until discovery is asked for
}

fleet::~fleet() = default;

void fleet::add(std::string name, reactor::result<connection> to) {
  entry& e = entries_[name];
  disengage(name, e);
  e = entry{};
  if (to) {
    engage(name, e, std::move(*to));
    return;
  }
  e.invalid = to.error().message();
  e.since = loop_.wall();
  log_.warning("kubeconfig invalid", {{"cluster", name}, {"error", e.invalid}});
}

void fleet::discover(client& home, event_recorder* events) {
  events_ = events;
  home_api_ = &home;
  discovered_.reset();
  informer_options wanted;
  wanted.collection = resources::secrets();
  wanted.ns = options_.ns;
  wanted.label_selector = options_.label + "=true";
  wanted.log = log_;
  secrets_ = std::make_unique<informer<secret>>(loop_, home, std::move(wanted));
  secrets_->on_change([this](const secret* before, const secret* now) {
    touch((now ? now : before)->meta.name.str());
  });
  secrets_->start();
  tasks_.start("discover clusters", supervise());
  if (options_.tokens == token_care::ours) tasks_.start("renew tokens", keep_tokens());
}

awaitable<bool> fleet::discovered(reactor::steady_time deadline) {
  return discovered_.wait(deadline);
}

void fleet::touch(const std::string& name) {
  touched_.insert(name);
  changed_.wake_all();
}

/// Handles one name at a time, apart from the informer that reports them.
awaitable<void> fleet::supervise() {
  (void)co_await secrets_->synced();
  for (;;) {
    // While the Secrets are not known to be all there, none that seems to be gone is believed.
    if (!secrets_->is_synced()) (void)co_await secrets_->synced();
    while (!touched_.empty() && secrets_->is_synced()) {
      std::string name = *touched_.begin();
      touched_.erase(touched_.begin());
      co_await consider(std::move(name));
      co_await loop_.yield();
    }
    if (!discovered_.is_set()) {
      log_.info("clusters discovered", {{"namespace", options_.ns}, {"count", entries_.size()}});
      discovered_.set();
    }
    if (touched_.empty()) (void)co_await changed_.wait();
  }
}

/// Brings one name in line with its Secret as it is now.
awaitable<void> fleet::consider(std::string name) {
  const auto found = entries_.find(name);
  const secret* wanted = secrets_->find(object_key{options_.ns, name});
  if (found != entries_.end() && found->second.secret.kind.empty()) co_return;  // added by hand
  if (!wanted || wanted->meta.deleting()) {
    if (found == entries_.end()) co_return;
    log_.info("cluster disengaged", {{"cluster", name}});
    const object_reference about = found->second.secret;
    disengage(name, found->second);
    entries_.erase(found);
    tell(about, fleet_event::disengaged, "the kubeconfig Secret is gone or lost its label");
    co_return;
  }
  const reactor::secret* bytes = wanted->find(options_.key);
  reactor::secret raw = bytes ? *bytes : reactor::secret();
  const std::string hash = raw.empty() ? std::string("-") : formats::sha256_hex(raw.reveal());
  if (found != entries_.end() && found->second.hash == hash) {
    log_.debug("kubeconfig unchanged", {{"cluster", name}});
    relabel(found->second, wanted->meta.labels);
    note_member(name, found->second, *wanted);
    co_return;
  }
  const bool existed = found != entries_.end() && found->second.running;
  {
    entry& changing = entries_[name];
    disengage(name, changing);
    changing.invalid.clear();
    changing.member.reset();
    changing.token_problem.clear();
    changing.hash = hash;
    changing.since = loop_.wall();
    changing.secret = {"v1", "Secret", options_.ns, name, wanted->meta.uid.text()};
  }
  kubeconfig_options reading;
  reading.source = kubeconfig_source(options_.ns, name, options_.key);
  reading.programs = options_.programs;
  std::vector<std::string> keys;
  for (const auto& [key, data] : wanted->data) keys.emplace_back(key.str());
  reactor::result<connection> to = no_kubeconfig(reading.source, options_.key, keys);
  if (!raw.empty()) {
    auto read = load_kubeconfig_aside(loop_, std::move(raw), std::move(reading));
    to = co_await std::move(read);
  }
  // Its Secret may have changed meanwhile: it is touched again then, and this reading is void.
  const auto still = entries_.find(name);
  wanted = secrets_->find(object_key{options_.ns, name});
  if (still == entries_.end() || still->second.hash != hash || still->second.running || !wanted)
    co_return;
  entry& e = still->second;
  if (!to) {
    e.invalid = to.error().message();
    count_reload(name, "failure");
    log_.warning("kubeconfig invalid", {{"cluster", name}, {"error", e.invalid}});
    tell(e.secret, fleet_event::kubeconfig_invalid, e.invalid);
    co_return;
  }
  if (options_.home && name == self_cluster_options::name && stands_for_home(*to))
    *to = *options_.home;
  count_reload(name, "success");
  log_.info(existed ? "cluster reconnects" : "cluster found",
            {{"cluster", name}, {"server", to->server}, {"context", to->context}});
  if (existed) tell(e.secret, fleet_event::reconnected, "the kubeconfig changed");
  engage(name, e, *std::move(to), wanted->meta.labels);
  note_member(name, e, *wanted);
}

void fleet::relabel(entry& e, const string_map& labels) {
  if (!e.running || e.running->labels() == labels) return;
  e.running->set_labels(labels);
  if (options_.on_labels) options_.on_labels(*e.running);
}

void fleet::engage(const std::string& name, entry& e, connection to, string_map labels) {
  if (to.login && !to.login->has_dialogue()) to.login->talk(logged_dialogue(log_, name));
  cluster_options o;
  o.name = name;
  o.field_manager = options_.field_manager;
  o.hash = e.hash;
  o.labels = std::move(labels);
  o.identity = options_.identity;
  o.apis = apis_;
  o.metrics = options_.metrics;
  if (const auto ends = token_expiry(to.token.bytes.reveal()); ends && options_.metrics)
    options_.metrics->get_gauge(fleet_metrics::token_expiry, {{"cluster", name}})
        .set(std::chrono::duration<double>(ends->time_since_epoch()).count());
  o.on_engaged = [this](cluster& c) {
    if (const auto it = entries_.find(c.name()); it != entries_.end()) {
      tell(it->second.secret, fleet_event::engaged, "engaged " + c.api().server());
    }
    if (options_.on_engaged) options_.on_engaged(c);
  };
  o.on_state = [this](cluster& c, cluster_state before) {
    note_state(c, before);
    if (options_.on_state) options_.on_state(c, before);
  };
  o.on_recovered = options_.on_recovered;
  o.on_event = options_.on_event;
  o.on_uid = [this, name](const std::string& before) { note_uid(name, before); };
  o.on_refused = [this](cluster& c) {
    if (has_other_name(c, sameness::asked)) names_changed_.set();
  };
  o.acts_elsewhere = [this, name](const engagement& api) {
    const cluster* c = find(name);
    return c ? acts_elsewhere(*c, api) : std::string();
  };
  if (!std::exchange(seats_, true)) tasks_.start("let one name act", seat_all());
  names_changed_.set();
  e.since = loop_.wall();
  e.running = std::make_unique<cluster>(loop_, std::move(to), std::move(o), log_);
  note_address(*e.running);
  e.running->start();
}

void fleet::engage(cluster_api api) {
  apis_.push_back(std::move(api));
  for (cluster* c : clusters()) c->engage(apis_.back());
}

awaitable<void> fleet::withdraw(std::string api) {
  std::erase_if(apis_, [&](const cluster_api& a) { return a.name == api; });
  // A cluster may leave meanwhile; what it was asked to stop it stops before.
  struct leaving {
    explicit leaving(reactor::loop& l) : none(l) {}
    std::size_t still = 1;
    reactor::event none;
    void less() {
      if (--still == 0) none.set();
    }
  };
  const auto all = std::make_shared<leaving>(loop_);
  for (cluster* c : clusters()) {
    ++all->still;
    c->withdraw(api, [all] { all->less(); });
  }
  all->less();
  (void)co_await all->none.wait();
}

/// The cluster goes its way to the end by itself; its name is free at once.
void fleet::disengage(const std::string& name, entry& e) {
  if (!e.running) return;
  if (options_.on_disengaged) options_.on_disengaged(*e.running);
  e.running->forget_observers();
  servers_.reset();
  if (options_.metrics) options_.metrics->drop("cluster", name);
  std::string identity = e.running->uid();
  forget_proofs(*e.running);
  closing_.start("close cluster " + name, close(std::move(e.running), std::move(identity)));
  names_changed_.set();
}

awaitable<void> fleet::close(std::unique_ptr<cluster> leaving, std::string identity) {
  const auto still = stopping_.insert(
      stopping_.end(), {std::move(identity), leaving->api().server(), "", leaving->name()});
  co_await leaving->stop();
  stopping_.erase(still);
  names_changed_.set();
}

void fleet::tell(const object_reference& secret, const event_kind& what, std::string note) {
  if (!events_ || secret.kind.empty()) return;
  events_->record(tell_of(what, secret, std::move(note)));
}

void fleet::tell(std::string_view name, const event_kind& what, std::string note) {
  const auto it = entries_.find(std::string(name));
  if (it != entries_.end()) tell(it->second.secret, what, std::move(note));
}

void fleet::count_reload(const std::string& name, const char* outcome) {
  if (!options_.metrics) return;
  for (const auto& family : {fleet_metrics::reloads, fleet_metrics::reloads_elsewhere})
    options_.metrics->get_counter(family, {{"cluster", name}, {"result", outcome}}).add();
}

void fleet::note_state(cluster& c, cluster_state before) {
  const auto it = entries_.find(c.name());
  if (it == entries_.end()) return;
  const cluster_state now = c.state();
  const bool may_matter = can_act(c) != it->second.could_act || now == cluster_state::unreachable;
  if (may_matter && has_other_name(c, sameness::asked)) names_changed_.set();
  if (is_failure(now) && !is_failure(before)) {
    tell(it->second.secret, fleet_event::unreachable,
         std::string(name_of(now)) + ": " + c.last_error());
  } else if (is_failure(before) && !is_failure(now) && c.was_engaged() &&
             now == cluster_state::stale) {
    tell(it->second.secret, fleet_event::recovered, "the server answers again");
  }
}

cluster* fleet::find(std::string_view name) const noexcept {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : found->second.running.get();
}

std::vector<cluster*> fleet::clusters() const {
  std::vector<cluster*> out;
  for (const auto& [name, e] : entries_) {
    if (e.running) out.push_back(e.running.get());
  }
  return out;
}

std::vector<fleet::unusable> fleet::without_connection() const {
  std::vector<unusable> out;
  for (const auto& [name, e] : entries_)
    if (!e.running) out.push_back({name, e.invalid, e.since});
  return out;
}

json::object fleet::to_json(const std::string& name, const entry& e) const {
  json::object o;
  if (e.running) {
    o = e.running->to_json();
    if (options_.describe) options_.describe(*e.running, o);
    return o;
  }
  o["name"] = name;
  o["state"] = name_of(cluster_state::invalid);
  o["server"] = "";
  o["uid"] = "";
  o["hash"] = e.hash;
  o["since"] = reactor::format_rfc3339(e.since);
  o["lastError"] = e.invalid;
  return o;
}

bool fleet::is_home(const entry& e) const {
  if (!e.running || !home_ || home_->engagements().empty()) return false;
  return compare(*e.running, *home_) == sameness::same;
}

json::object fleet::home_as_json() const {
  json::object home = home_->to_json();
  home["home"] = true;
  if (options_.describe) options_.describe(*home_, home);
  return home;
}

std::optional<std::string> fleet::reading::next() {
  if (ended_) return std::nullopt;
  std::optional<std::string> made(std::in_place);
  std::string& out = *made;
  if (!last_) out += '[';
  auto at = last_ ? of_.entries_.upper_bound(*last_) : of_.entries_.begin();
  for (; at != of_.entries_.end() && out.size() < piece_bytes; ++at) {
    if (last_) out += ',';
    json::object one = of_.to_json(at->first, at->second);
    if (!home_is_told_ && of_.is_home(at->second)) {
      home_is_told_ = true;
      const json::object home = of_.home_as_json();
      for (const auto& api : home.at("apis").as_object())
        one["apis"].as_object().emplace(api.key(), api.value());
      for (const auto& member : home) one.emplace(member.key(), member.value());
    }
    out += reactor::printable_json(json::serialize(one));
    last_ = at->first;
  }
  ended_ = at == of_.entries_.end();
  if (!ended_) return made;
  if (of_.home_ && !of_.home_->engagements().empty() && !home_is_told_) {
    if (last_) out += ',';
    out += reactor::printable_json(json::serialize(of_.home_as_json()));
  }
  out += "]\n";
  return made;
}

awaitable<void> fleet::stop() {
  co_await tasks_.cancel_and_join();
  discovered_.reset();
  if (secrets_) co_await secrets_->stop();
  // Taking a cluster's series out looks at those of all clusters, and nothing reads them any more.
  options_.metrics = nullptr;
  // Some at once: what is left of the service, its health above all, is answered between them, and
  // while thousands connect again each such moment takes as long as a handshake of each.
  constexpr std::size_t at_once = 16;
  std::size_t ended = 0;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const std::string name = at->first;
    disengage(name, at->second);
    if (++ended % at_once == 0) co_await loop_.yield();
    at = entries_.upper_bound(name);
  }
  co_await closing_.join();
  entries_.clear();
}

}  // namespace k8s
