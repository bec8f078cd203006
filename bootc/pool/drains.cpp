// All drains of a cluster share the requests that may be under way and what was last seen of pods,
// so they stay together.
#include "bootc/pool/drains.hpp"

#include "bootc/pool/drain_words.hpp"
#include "bootc/pool/pool_status.hpp"
#include "formats/json/member.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "reactor/loop.hpp"
#include "reactor/loop_slice.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

namespace bootc {
namespace {

using namespace std::chrono_literals;
using phase = drain_progress::phase;

constexpr reactor::nanoseconds look_at_pod = 1s;
constexpr reactor::nanoseconds first_retry = 5s;
/// What a drain waits for is told no more often: each time costs its pool a pass and, where it
/// matters to people, a write.
constexpr reactor::nanoseconds tell_trouble_after = 5s, tell_ending_after = 10s;
/// A DaemonSet that is there is not asked about again by the drains of other nodes.
constexpr reactor::nanoseconds known_for = 60s;
constexpr unsigned most_doublings = 6;            // up to 320 s
constexpr std::size_t bytes_a_turn = 256 * 1024;  // of pods that are read again
constexpr std::int64_t most_grace_seconds = 86'400 * 366;
constexpr std::size_t most_finalizer_bytes = 512;
/// A kubelet runs 110 unless told otherwise, and Kubernetes is not tested with more than 2,500.
constexpr std::size_t most_pods = 2'500, evictions_a_turn = 100;
/// A second one finds pods that the scheduler bound while the Node was being cordoned.
constexpr int most_rounds = 2;

/// A pod that runs, or should, and is not Ready: its budget decides by unhealthyPodEvictionPolicy.
bool is_unhealthy(const k8s::pod& p) noexcept {
  return p.phase == k8s::pod_phase::running && !p.ready;
}

/// Not the same as a node without pods.
k8s::fault not_understood(const std::string& node) {
  k8s::fault f;
  f.code = k8s::errc::malformed;
  f.doing = "list the pods of " + node;
  f.detail = "the answer is no list of pods";
  return f;
}

}  // namespace

/// Of the requests of all drains, however its coroutine is left.
class drains::place {
public:
  /// After take_place().
  explicit place(drains& of) noexcept : of_(of) {}
  ~place() {
    if (of_.turn_.size() > 0)
      of_.turn_.wake_one();  // the place goes along
    else
      ++of_.places_;
  }
  place(const place&) = delete;
  place& operator=(const place&) = delete;

private:
  drains& of_;
};

/// Requests time out while they wait for each other, so thousands of drains wait here.
awaitable<void> drains::take_place() {
  if (places_ > 0)
    --places_;
  else
    (void)co_await turn_.wait();
}

struct drains::drain {
  drain(reactor::loop& l, std::string n) : node(std::move(n)), pods_changed(l), looked(l) {}
  std::string node;
  drain_progress progress;
  reactor::steady_time deadline = reactor::never;
  std::map<std::string, pod_wait, std::less<>> waits;  // of the pods that are left, by "ns/name"
  std::vector<pod_wait> told;                          // what on_change was told of these last
  reactor::steady_time told_at{};
  bool is_news = false;  // they may differ from that
  std::vector<std::string> errors;
  std::set<k8s::object_key> daemon_sets;  // that are there; a drain asks once about each
  std::map<std::string, reactor::task_group::task_id> pods;  // being evicted, by "ns/name"
  reactor::task_group::task_id task = 0;
  reactor::waiters pods_changed;

  // Its pods that were told to end are looked at together.
  std::string version;                                // of the list that named them
  std::map<std::string, std::string> ending;          // their names by uid
  std::set<std::string> staying;                      // uids of those that may
  bool is_bare = false;                               // the last look showed no other pod
  std::optional<reactor::task_group::task_id> looks;  // while there are some
  reactor::waiters looked;
};

/// Looking has ended, however its coroutine is left.
struct drains::look_end {
  std::shared_ptr<drain> d;
  ~look_end() { d->looks.reset(); }
};

/// Whether a DaemonSet is there, asked once for all drains that wonder.
struct drains::question {
  explicit question(reactor::loop& l) : ended(l) {}
  reactor::event ended;
  std::optional<k8s::result<bool>> answer;  // none: the caller was stopped
  reactor::steady_time counts_until = reactor::never;
};

/// One question less, however its coroutine is left: only that a DaemonSet is there is remembered.
struct drains::question_end {
  drains& all;
  const k8s::object_key& key;
  question& asked;
  ~question_end() {
    asked.ended.set();
    const bool exists = asked.answer && *asked.answer && **asked.answer;
    asked.counts_until = all.loop_.now() + known_for;
    if (!exists) all.questions_.erase(key);
  }
};

/// One pod less, however its coroutine is left.
struct drains::pod_end {
  std::shared_ptr<drain> d;
  std::string pod;
  ~pod_end() {
    d->pods.erase(pod);
    d->is_news = d->waits.erase(pod) > 0 || d->is_news;
    d->progress.pods_left = d->pods.size();
    d->pods_changed.wake_all();
  }
};

drains::drains(reactor::loop& l, k8s::client& api,
               std::function<void(const std::string&)> on_change, reactor::logger log,
               node_figures figures, std::string own_pod_uid)
    : loop_(l),
      api_(api),
      on_change_(std::move(on_change)),
      log_(std::move(log)),
      figures_(std::move(figures)),
      own_pod_uid_(std::move(own_pod_uid)),
      turn_(l),
      tasks_(l) {}

drains::~drains() = default;

void drains::start(const std::string& node, const std::string& image,
                   reactor::nanoseconds timeout) {
  if (const auto known = drains_.find(node); known != drains_.end()) {
    if (known->second->progress.state == phase::running && known->second->progress.image == image)
      return;
    leave(node);
  }
  auto d = std::make_shared<drain>(loop_, node);
  d->progress.image = image;
  d->progress.started = loop_.wall();
  if (const auto before = failures_.find(node); before != failures_.end()) {
    d->progress.failures = before->second.count;
    d->progress.last_failure = before->second.last;
  }
  d->told_at = loop_.now();
  if (timeout > 0s) d->deadline = loop_.now() + timeout;
  drains_[node] = d;
  log_.info("drain starts", {{"node", node}});
  d->task = tasks_.start("drain " + node, run(d));
}

void drains::cancel(const std::string& node) {
  failures_.erase(node);
  leave(node);
}

void drains::leave(const std::string& node) {
  const auto known = drains_.find(node);
  if (known == drains_.end()) return;
  const auto d = known->second;
  drains_.erase(known);
  if (d->progress.state != phase::running) return;
  tasks_.cancel(d->task);
  stop_pods(*d);
}

void drains::stop_pods(const drain& d) {
  for (const auto& [pod, task] : d.pods) tasks_.cancel(task);
  if (d.looks) tasks_.cancel(*d.looks);
}

std::vector<pod_wait> drains::waits_of(const drain& d) {
  std::vector<const pod_wait*> all;
  all.reserve(d.waits.size());
  for (const auto& [pod, wait] : d.waits) all.push_back(&wait);
  const std::size_t most = std::min(all.size(), most_named);
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(most), {},
                            [](const pod_wait* w) { return std::tie(w->why, w->since, w->pod); });
  std::vector<pod_wait> out;
  out.reserve(most);
  for (std::size_t i = 0; i < most; ++i) out.push_back(*all[i]);
  return out;
}

/// The owner hears of it when other pods, or other obstacles, keep the drain than those it was told
/// of. The evictions and looks under way come here again, so that nothing is missed.
void drains::tell_change(drain& d) {
  if (!d.is_news || loop_.now() < d.told_at + tell_trouble_after) return;
  std::vector<pod_wait> waits = waits_of(d);
  // Only the time of the answer may differ, which is none of what a person acts upon.
  for (pod_wait& w : waits) w.since = {};
  if (waits == d.told) {
    d.is_news = false;
    return;
  }
  const bool trouble =
      std::ranges::any_of(waits, [](const pod_wait& w) { return w.why != pod_wait::kind::ending; });
  if (!trouble && loop_.now() < d.told_at + tell_ending_after) return;
  d.is_news = false;
  d.told = std::move(waits);
  d.told_at = loop_.now();
  if (on_change_) on_change_(d.node);
}

awaitable<drains_by_node> drains::progress(
    std::function<bool(const std::string& node)> wanted) const {
  drains_by_node out;
  for (auto one = drains_.begin(); one != drains_.end();) {
    const auto& [node, d] = *one;
    if (wanted(node)) {
      drain_progress p = d->progress;
      for (const auto& [pod, task] : d->pods) {
        if (p.left.size() == most_named) break;
        p.left.push_back(pod);
      }
      p.waits = waits_of(*d);
      out.emplace(node, std::move(p));
    }
    if (++one == drains_.end() || !reactor::loop_slice::is_over()) continue;
    const std::string next = one->first;
    co_await reactor::loop_slice::yield();
    one = drains_.lower_bound(next);
  }
  co_return out;
}

std::vector<std::string> drains::nodes() const {
  std::vector<std::string> out;
  out.reserve(drains_.size());
  for (const auto& [node, d] : drains_) out.push_back(node);
  return out;
}

awaitable<void> drains::stop() {
  co_await tasks_.cancel_and_join();
}

void drains::finish(const std::shared_ptr<drain>& d, phase how, std::string detail) {
  d->progress.state = how;
  d->progress.detail = std::move(detail);
  if (how == phase::succeeded) {
    figures_.drains_done.add();
    const reactor::nanoseconds took = loop_.wall() - d->progress.started;
    figures_.drain_seconds.observe(std::chrono::duration<double>(took).count());
  } else {
    (how == phase::failed ? figures_.drains_failed : figures_.drains_timed_out).add();
  }
  const auto known = drains_.find(d->node);
  const bool current = known != drains_.end() && known->second == d;
  if (how != phase::failed) {
    failures_.erase(d->node);
  } else {
    failed_before& before = failures_[d->node];
    before.last = d->progress.detail;
    d->progress.retry_at =
        loop_.wall() + first_retry * (1u << std::min(before.count++, most_doublings));
    d->progress.failures = before.count;
  }
  stop_pods(*d);
  log_.info("drain ended", {{"node", d->node},
                            {"outcome", how == phase::succeeded ? "done"
                                        : how == phase::failed  ? "failed"
                                                                : "timed out"},
                            {"detail", d->progress.detail}});
  if (current && on_change_) on_change_(d->node);
}

awaitable<void> drains::run(std::shared_ptr<drain> d) {
  for (int i = 0; i < most_rounds; ++i) {
    const bool more = co_await round(d);
    if (!more) break;
  }
  if (d->progress.state == phase::running) finish(d, phase::succeeded, {});
}

/// Evicts what is there. False when there was nothing, or the drain has ended.
awaitable<bool> drains::round(std::shared_ptr<drain> d) {
  auto pods = co_await pods_of(d->node, d->version);
  if (!pods) {
    finish(d, phase::failed, pods.error().message());
    co_return false;
  }
  std::set<k8s::object_key> gone;
  for (std::size_t i = 0; i < pods->size(); ++i) {
    const k8s::pod& p = (*pods)[i];
    if (!needs_daemon_set(p)) continue;
    k8s::object_key key{p.meta.ns.str(), p.meta.owner.name.str()};
    if (d->daemon_sets.contains(key) || gone.contains(key)) continue;
    auto exists = co_await daemon_set_exists(key);
    // nothing has been evicted yet: a wrong guess would kill a DaemonSet's pod in a loop
    if (!exists) {
      finish(d, phase::failed, exists.error().message());
      co_return false;
    }
    (*exists ? d->daemon_sets : gone).insert(std::move(key));
  }
  d->errors.clear();
  d->staying.clear();
  d->is_bare = false;
  for (const k8s::pod& p : *pods) {
    const bool exists = d->daemon_sets.contains({p.meta.ns.str(), p.meta.owner.name.str()});
    const pod_verdict v =
        judge_pod(p, exists ? daemon_set::exists : daemon_set::gone, own_pod_uid_);
    if (!v.evict) {
      d->staying.insert(p.meta.uid.text());
      continue;
    }
    const k8s::object_key key = p.meta.key();
    if (!v.warning.empty())
      log_.warning("a pod is evicted although " + std::string(v.warning),
                   {{"pod", key.text()}, {"node", d->node}});
    d->pods[key.text()] = 0;
    const auto task =
        tasks_.start("evict " + key.text(), evict(d, key, p.meta.uid.text(), is_unhealthy(p)));
    // One that never waits has ended by now.
    if (const auto started = d->pods.find(key.text()); started != d->pods.end())
      started->second = task;
    if (d->pods.size() % evictions_a_turn == 0) co_await loop_.yield();
  }
  d->progress.pods_left = d->pods.size();
  if (d->pods.empty()) co_return false;
  while (!d->pods.empty()) {
    (void)co_await d->pods_changed.wait(d->deadline);
    if (loop_.now() >= d->deadline && !d->pods.empty()) {
      std::vector<std::string> left;
      for (const auto& [pod, task] : d->pods) left.push_back(pod);
      std::string which = joined(std::move(left));
      if (!d->progress.unseen.empty()) which += "; not seen: " + d->progress.unseen;
      finish(d, phase::timed_out, std::move(which));
      co_return false;
    }
  }
  if (!d->errors.empty()) {
    finish(d, phase::failed, joined(d->errors));
    co_return false;
  }
  co_return !d->is_bare;
}

/// `version` becomes that of the list.
awaitable<k8s::result<std::vector<k8s::pod>>> drains::pods_of(std::string node,
                                                              std::string& version) {
  std::vector<k8s::pod> out;
  k8s::list_options options;
  options.field_selector = k8s::field_is("spec.nodeName", node);
  k8s::list_pages pages(api_, k8s::resources::pods(), std::move(options));
  for (;;) {
    co_await take_place();
    std::optional<place> asks(std::in_place, *this);
    auto page = co_await pages.next();
    asks.reset();
    if (!page) co_return page.error();
    if (!*page) co_return out;
    version = k8s::version_of(**page);
    const auto* items = k8s::items_of(**page);
    if (!items) co_return not_understood(node);
    std::size_t read = 0;
    for (const auto& item : *items) {
      const std::string text = boost::json::serialize(item);
      auto pod = k8s::parse_view<k8s::pod>(text);
      if (!pod) co_return pod.error();
      if (pod->node == node) out.push_back(std::move(*pod));
      if (out.size() > most_pods) {
        k8s::fault f;
        f.code = k8s::errc::over_budget;
        f.doing = "list the pods of " + node;
        f.detail = "there are more than " + std::to_string(most_pods) + ", which no node runs";
        co_return f;
      }
      if ((read += text.size()) < bytes_a_turn) continue;
      read = 0;
      co_await loop_.yield();
    }
  }
}

/// A pod of a node, as far as its metadata tells.
struct drains::seen_pod {
  std::optional<reactor::wall_time> told_to_end;  // when its deletion was asked for
  std::string finalizers;                         // by commas

  static seen_pod of(const boost::json::object& metadata) {
    seen_pod out;
    // A deletionTimestamp is the end of the grace.
    const auto ends = reactor::parse_rfc3339(formats::text_member(metadata, "deletionTimestamp"));
    const auto* grace = metadata.if_contains("deletionGracePeriodSeconds");
    const bool is_number = grace && grace->is_int64() && grace->get_int64() >= 0;
    if (ends)
      out.told_to_end =
          *ends -
          std::chrono::seconds(is_number ? std::min(grace->get_int64(), most_grace_seconds) : 0);
    const auto* all = metadata.if_contains("finalizers");
    if (!all || !all->is_array()) return out;
    for (const auto& one : all->get_array())
      if (one.is_string() && out.finalizers.size() < most_finalizer_bytes)
        out.finalizers += (out.finalizers.empty() ? "" : ", ") + std::string(one.get_string());
    return out;
  }
};

/// As any moment since that version had them: who was there then and is missing is gone. The server
/// has that in its cache, by node; where it is not asked by version it reads every pod there is.
awaitable<k8s::result<drains::pods_by_uid>> drains::pods_on(std::string node, std::string version) {
  k8s::list_options options;
  options.field_selector = k8s::field_is("spec.nodeName", node);
  options.metadata_only = true;
  options.limit = 0;  // pages are not cached
  if (!version.empty()) options.resource_version_match = "NotOlderThan";
  options.resource_version = std::move(version);
  k8s::resource pods = k8s::resources::pods();
  co_await take_place();
  const place asks(*this);
  auto page = co_await api_.list(std::move(pods), std::move(options));
  if (!page) co_return page.error();
  pods_by_uid out;
  const auto* items = k8s::items_of(*page);
  bool understood = items != nullptr;
  for (std::size_t i = 0; understood && i < items->size(); ++i) {
    const auto* pod = (*items)[i].if_object();
    const auto* metadata = pod ? pod->if_contains("metadata") : nullptr;
    const auto* known = metadata ? metadata->if_object() : nullptr;
    std::string uid = known ? formats::text_member(*known, "uid") : std::string();
    understood = !uid.empty();
    if (understood) out.insert_or_assign(std::move(uid), seen_pod::of(*known));
  }
  if (understood) co_return out;
  co_return not_understood(node);
}

/// A pool drains a share of its nodes at once, and the same DaemonSets are on all of them.
awaitable<k8s::result<bool>> drains::daemon_set_exists(k8s::object_key key) {
  for (;;) {
    const auto now = loop_.now();
    std::erase_if(questions_, [now](const auto& q) { return q.second->counts_until <= now; });
    const auto known = questions_.find(key);
    if (known == questions_.end()) break;
    const auto asked = known->second;
    (void)co_await asked->ended.wait();
    if (asked->answer) co_return *asked->answer;
  }
  const auto mine = std::make_shared<question>(loop_);
  questions_.emplace(key, mine);
  question_end end{*this, key, *mine};
  co_await take_place();
  const place asks(*this);
  auto found = co_await api_.get(k8s::resources::daemon_sets(), key);
  if (!found && found.error().cancelled) co_return found.error();
  k8s::result<bool> answer = true;
  if (!found) {
    if (found.error().code == k8s::errc::not_found)
      answer = false;
    else
      answer = found.error();
  }
  mine->answer = answer;
  co_return answer;
}

awaitable<k8s::result<void>> drains::end_pod(k8s::object_key key, std::string uid) {
  co_await take_place();
  const place asks(*this);
  co_return co_await api_.evict(std::move(key), std::move(uid));
}

void drains::note_wait(drain& d, pod_wait now) {
  const auto [at, fresh] = d.waits.try_emplace(now.pod);
  pod_wait& was = at->second;
  now.since = fresh || was.why != now.why ? loop_.wall() : was.since;
  d.is_news = d.is_news || fresh || now != was;
  was = std::move(now);
  tell_change(d);
}

awaitable<void> drains::evict(std::shared_ptr<drain> d, k8s::object_key key, std::string uid,
                              bool is_unhealthy) {
  using is = pod_eviction::request::is;
  pod_end end{d, key.text()};
  pod_eviction of(is_unhealthy);
  while (of.next().what != is::await_end) {
    if (of.next().what == is::evict) {
      auto answer = co_await end_pod(key, uid);
      const k8s::fault why = answer ? k8s::fault() : answer.error();
      of.evicted(answer ? nullptr : &why);
      if (!of.error().empty()) d->errors.push_back(of.error());
    } else if (of.next().what == is::look) {
      if (of.waits()) {
        pod_wait now = *of.waits();
        now.pod = end.pod;
        if (now.why == pod_wait::kind::budget) figures_.evictions_refused.add();
        note_wait(*d, std::move(now));
      }
      co_await loop_.sleep_for(of.next().pause);
      const pod_is now = co_await state_of(key, uid);
      of.seen(now);
    } else {
      co_return;
    }
  }
  pod_wait ends = *of.waits();
  ends.pod = end.pod;
  note_wait(*d, std::move(ends));
  d->ending.emplace(uid, end.pod);
  if (!d->looks) d->looks = tasks_.start("look at the pods of " + d->node, look(d));
  while (d->ending.contains(uid)) (void)co_await d->looked.wait();
}

void drains::not_seen(drain& d, const k8s::fault& why) {
  if (why.cancelled) return;
  if (d.progress.unseen.empty())
    log_.warning("pods that end are not seen", {{"node", d.node}, {"error", why.message()}});
  d.progress.unseen = why.message();
}

/// For as long as pods of the node end. While the server does not answer they count as there.
awaitable<void> drains::look(std::shared_ptr<drain> d) {
  const look_end end{d};
  while (!d->ending.empty()) {
    // Not at once: a pod that was just told to end has its grace.
    co_await loop_.sleep_for(look_at_pod);
    auto there = co_await pods_on(d->node, d->version);
    if (!there) {
      // Its cache may not have come so far, or never will; what fails without it fails.
      if (d->version.empty()) not_seen(*d, there.error());
      d->version.clear();
      continue;
    }
    d->progress.unseen.clear();
    d->is_bare = std::ranges::all_of(
        *there, [&](const auto& pod) { return d->staying.contains(pod.first); });
    std::erase_if(d->ending, [&](const auto& pod) { return !there->contains(pod.first); });
    for (const auto& [uid, pod] : d->ending) {
      const seen_pod& seen = there->at(uid);
      const auto wait = d->waits.find(pod);
      if (wait == d->waits.end()) continue;
      d->is_news = d->is_news || wait->second.object != seen.finalizers;
      wait->second.object = seen.finalizers;
      if (seen.told_to_end) wait->second.since = *seen.told_to_end;
    }
    d->looked.wake_all();
    tell_change(*d);
  }
}

/// Gone, which another one of that name proves too, or how it does. While the server does not
/// answer it counts as there.
awaitable<pod_is> drains::state_of(k8s::object_key key, std::string uid) {
  co_await take_place();
  const place asks(*this);
  auto pod = co_await api_.get(k8s::resources::pods(), std::move(key));
  if (!pod) co_return pod.error().code == k8s::errc::not_found ? pod_is::gone : pod_is::unseen;
  auto view = k8s::parse_view<k8s::pod>(boost::json::serialize(*pod));
  if (!view) co_return pod_is::unseen;
  if (view->meta.uid.text() != uid) co_return pod_is::gone;
  co_return is_unhealthy(*view) ? pod_is::unhealthy : pod_is::well;
}

}  // namespace bootc
