#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/client/resource.hpp"
#include "k8s/informer/store.hpp"
#include "k8s/informer/watch_state.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace reactor {
class loop;
namespace http {
class exchange;
}
}  // namespace reactor

namespace k8s {

class client;
struct list_options;

/// idle → listing ⇄ live, with retrying in between; the store keeps serving in all of them.
enum class informer_state { idle, listing, live, retrying, stopped };
std::string_view name_of(informer_state s) noexcept;

/// What an informer is told and keeps.
struct informer_settings {
  resource collection;
  std::string ns, label_selector, field_selector;
  bool stream_initial = true;  // watch-list where the server offers it
  bool metadata_only = false;  // the server sends metadata alone: the view reads nothing else
  /// A watch that the server ended is followed by a list. For a custom resource: for a second after
  /// its definition changed, a watch that was open before still cuts new fields out of what it
  /// delivers, and then ends; the version is the same, so that no other watch brings them.
  bool lists_after_end = false;
  /// How long what concerns no reader may lie unread: see note_relevant(). Zero = not at all.
  reactor::nanoseconds coalesce_window{0};
  /// Says failures and oddities, with the cluster's name among its fields.
  reactor::logger log;
  /// Called after each change of state().
  std::function<void(informer_state)> on_state;
};
struct informer_options : informer_settings {
  watch_limits limits;  // kept once for all who have the same
};
/// Every object of a collection; of more than `most` the informer reports the limit and keeps none.
informer_options all_of(resource collection, const watch_limits& limits, const reactor::logger& log,
                        std::size_t most);
/// The one object of that key; of a kind without namespaces `key.ns` is empty.
informer_options only(resource collection, const object_key& key, const watch_limits& limits,
                      const reactor::logger& log);

/// Everything of an informer that does not depend on its view.
/// Members  more than twenty: list, watch, silence and coalescing look at the same moments of one
///          stream; what is decided apart from it is in watch_state and currency.
class informer_base {
public:
  virtual ~informer_base();
  informer_base(const informer_base&) = delete;
  informer_base& operator=(const informer_base&) = delete;

  /// Once. Handlers and indices are set before, and none is called before it has returned.
  void start();
  /// Ends within one turn of the loop; the store keeps what it has. Idempotent.
  awaitable<void> stop();

  /// After stop(), before the end of a large one: gives its store back in steps.
  awaitable<void> forget();

  /// True when the store has been complete, and did not outgrow its budget since. False when the
  /// deadline came first.
  awaitable<bool> synced(reactor::steady_time deadline = reactor::never);
  bool is_synced() const noexcept { return synced_.is_set(); }

  informer_state state() const noexcept { return state_; }
  reactor::steady_time since() const noexcept { return since_; }
  /// Why the last request or stream failed; kept until the informer is live again.
  const std::optional<fault>& last_error() const noexcept { return last_error_; }
  /// When the server last proved that this view of it is current.
  reactor::steady_time last_contact() const noexcept { return current_.at(); }
  /// Whether a reader is about to act on what the store has. At first none is.
  void set_freshness(freshness how);
  /// A reader is about to act, and it was proved current as recently as is asked for then.
  bool may_be_acted_upon() const noexcept;
  /// Nothing has proved it current for longer than watch_limits::stale_after(), or at rest nothing
  /// came for longer than silent_after().
  bool is_old() const noexcept;
  /// Why what the store has is known not to be the truth; empty when nothing is known against it.
  /// While it says something is_synced() is false.
  const std::string& sync_problem() const noexcept { return sync_problem_; }
  /// Said by a change handler: a reader is concerned by what it was told. Where none is by all
  /// that came at once, and none is about to act, what comes next is read at the end of a window,
  /// which is the same moment for all: clusters on which much happens that no
  /// reader looks at wake the process together, not one by one.
  void note_relevant() noexcept { relevant_ = true; }
  /// Called at once when there is one.
  void on_sync_problem(std::function<void()> f) { on_sync_problem_ = std::move(f); }
  /// What the store takes together with those of others; before start().
  virtual void share(std::shared_ptr<view_budget> with) = 0;
  const watch_counters& counters() const noexcept { return watch_.counters(); }
  /// The version up to which the store has followed the server.
  const resource_version& version() const noexcept { return watch_.version(); }
  const resource& collection() const noexcept { return options_.collection; }
  const watch_limits& limits() const noexcept { return watch_.limits(); }
  /// Buffers held right now; an idle informer has none.
  std::size_t buffer_bytes() const noexcept { return buffered_; }

  /// Lists afresh and names what differs from the store; for tests, at a moment when nothing
  /// changes.
  awaitable<result<std::vector<std::string>>> differences();

protected:
  informer_base(reactor::loop& l, client& api, informer_options options);

private:
  template <stored_view View>
  friend class informer;

  // The store behind it; all called while the object's text is parsed.
  virtual void begin_relist() = 0;
  /// Removes at most `most` of what was not put since begin_relist(); 0 = nothing is left of it.
  virtual std::size_t sweep_some(std::size_t most) = 0;
  virtual std::size_t stored() const = 0;
  virtual std::size_t forget_some(std::size_t most) = 0;
  /// The server's history is another one: any version of an object is newer than what is stored.
  virtual void forget_versions() = 0;
  struct taken {
    put_outcome outcome{};
    bool was_known = false;
    resource_version version;
  };
  /// True where the text was refused since a user of a namespace wrote more into its object than is
  /// read: the view is without this object, and whole otherwise. Objects without a namespace are
  /// never left out.
  bool leaves_out(wire_value object, const object_meta& meta);
  /// What is older than `not_before` is parsed and not taken.
  virtual taken put(wire_value object, origin from, const resource_version& not_before) = 0;
  virtual taken remove(wire_value object, const resource_version& not_before) = 0;
  /// For differences(): empty when the store has it so; its key goes to `seen`.
  virtual std::string compare(wire_value object, std::vector<object_key>& seen) = 0;
  virtual std::vector<object_key> not_among(std::vector<object_key> seen) const = 0;

  struct page;
  struct stream_run;
  struct line_outcome;
  /// Null = the stream goes on. By pointer, because every idle stream keeps room for one in its
  /// coroutines.
  using ending = std::unique_ptr<line_outcome>;
  class discretion;
  class pacer;
  awaitable<void> run();
  awaitable<std::optional<step>> carry_out(step s);
  awaitable<std::optional<step>> list_page(step s);
  awaitable<result<void>> read_page(list_options options, page& into);  // borrowed
  awaitable<std::optional<step>> follow(step s);
  awaitable<ending> open_stream(const std::shared_ptr<stream_run>& stream,
                                const step& s);                              // borrowed
  awaitable<ending> read_stream(const std::shared_ptr<stream_run>& stream);  // borrowed
  awaitable<ending> take_queued(stream_run& stream);                         // borrowed
  awaitable<void> complete(stream_run& stream);                              // borrowed
  ending piece_ended(const stream_run& stream);
  bool may_ask(reactor::steady_time last);
  void ask_beside(const std::shared_ptr<stream_run>& stream);
  awaitable<void> sweep();
  awaitable<void> make_room();
  void completed();
  void record_proof(reactor::steady_time at);
  void moved();
  void note_named(std::string version, reactor::steady_time asked);
  ending consider_named();
  ending ask_or_probe(const std::shared_ptr<stream_run>& stream);
  ending answered(const std::shared_ptr<stream_run>& stream);
  void begin_probe(stream_run& stream, awaitable<void> question);
  awaitable<void> ask_version(std::shared_ptr<stream_run> stream);
  awaitable<void> probe_server(std::shared_ptr<stream_run> stream);
  awaitable<result<probe_findings>> find_missed(resource_version from, resource_version to);
  ending broken(const reactor::fault& why) const;
  ending take_last(stream_run& stream);
  ending take_lines(stream_run& stream, std::string_view bytes);
  ending take_line(stream_run& stream, std::string_view line);
  ending take_event(stream_run& stream, wire_value event, std::size_t event_bytes);
  ending take_bookmark(stream_run& stream, wire_value object);
  ending give_up(std::string_view why);
  ending judge_silence(std::shared_ptr<stream_run> stream);
  reactor::steady_time next_look(const stream_run& stream) const;
  reactor::steady_time question_due(reactor::steady_time last) const;
  reactor::nanoseconds rest_of_window(const stream_run& stream) const;
  step settle(const line_outcome& outcome);
  step fail(const fault& why);
  fault malformed(std::string_view detail) const;
  fault no_room() const;
  fault too_slow(std::uint64_t bytes) const;
  void set_state(informer_state s);
  std::string doing(std::string_view verb) const;

  reactor::loop& loop_;
  client& api_;
  informer_settings options_;
  watch_state watch_;
  informer_state state_ = informer_state::idle;
  reactor::steady_time since_{};
  currency current_;
  std::optional<fault> last_error_;
  std::string sync_problem_;
  std::function<void()> on_sync_problem_;
  std::string said_;  // the last failure in the log
  reactor::steady_time said_at_{};
  std::size_t buffered_ = 0;
  static constexpr std::size_t most_left_out = 1'000;
  std::set<object_key> left_out_;  // whose next event is no surprise
  bool is_left_out_ = false;       // the object at hand
  reactor::steady_time told_left_out_{};
  bool relevant_ = false;
  freshness freshness_ = freshness::none;
  // The last byte of a stream. A balancer may end one that is silent before long, so the next one's
  // beginning is no sign of life.
  reactor::steady_time heard_{};
  reactor::steady_time attended_since_{};
  /// A version that the server has named and the stream has not come to, and when it was asked.
  struct named_version {
    resource_version version;
    reactor::steady_time asked{};
  };
  std::optional<named_version> target_;
  reactor::steady_time considered_{};  // when the last version that was looked at was asked for
  reactor::steady_time moved_{};       // when version() last became newer
  std::weak_ptr<stream_run> stream_;   // the watch under way
  reactor::event synced_;
  reactor::task_group tasks_;
};

/// Keeps a store equal to one collection of a server: list (streamed where offered), then watch,
/// for ever.
/// Errors    none reach the owner; state(), last_error() and counters() show them, and it tries
///           again with backoff.
/// Lifetime  loop and client outlive it; co_await stop() before destruction.
template <stored_view View>
class informer final : public informer_base {
public:
  informer(reactor::loop& l, client& api, informer_options options)
      : informer_base(l, api, std::move(options)) {
    store_.set_budget(limits().budget, nullptr);
  }

  const store<View>& objects() const noexcept { return store_; }
  const View* find(const object_key& key) const { return store_.find(key); }
  void add_index(std::string name, typename store<View>::index_function f) {
    store_.add_index(std::move(name), std::move(f));
  }
  void on_change(typename store<View>::change_handler f) { store_.on_change(std::move(f)); }
  void share(std::shared_ptr<view_budget> with) override {
    store_.set_budget(limits().budget, std::move(with));
  }

private:
  void begin_relist() override { store_.begin_relist(); }
  std::size_t sweep_some(std::size_t most) override { return store_.sweep_some(most); }
  std::size_t stored() const override { return store_.size(); }
  std::size_t forget_some(std::size_t most) override { return store_.forget_some(most); }
  void forget_versions() override { store_.forget_versions(); }
  taken put(wire_value object, origin from, const resource_version& not_before) override {
    const std::size_t before = object.reading().kept_bytes;
    View view = View::parse(object);
    taken t;
    if (object.reading().problem) {
      if (!leaves_out(object, view.meta)) return t;
      t.version = view.meta.resource_version;
      t.outcome = t.version < not_before ? put_outcome::older : put_outcome::same;
      if (t.outcome == put_outcome::same) (void)store_.remove(view.meta);
      return t;
    }
    const bool was_left_out = !left_out_.empty() && left_out_.erase(view.meta.key()) > 0;
    const auto weight =
        static_cast<std::uint32_t>(sizeof(View) + object.reading().kept_bytes - before);
    t.version = view.meta.resource_version;
    t.outcome = put_outcome::older;
    if (!(t.version < not_before)) t.outcome = store_.put(std::move(view), from, weight);
    if (was_left_out && t.outcome == put_outcome::added) t.outcome = put_outcome::changed;
    return t;
  }
  taken remove(wire_value object, const resource_version& not_before) override {
    const object_meta meta = parse_meta(object);
    taken t;
    if (object.reading().problem && !leaves_out(object, meta)) return t;
    t.version = meta.resource_version;
    t.was_known = !(t.version < not_before) && store_.remove(meta);
    t.was_known |= left_out_.erase(meta.key()) > 0;
    return t;
  }
  std::string compare(wire_value object, std::vector<object_key>& seen) override {
    const View view = View::parse(object);
    if (object.reading().problem) {
      (void)leaves_out(object, view.meta);
      return {};
    }
    seen.push_back(view.meta.key());
    const View* stored = store_.find(view.meta.ns, view.meta.name);
    if (!stored) return view.meta.key().text() + " is missing";
    if (!(stored->meta.uid == view.meta.uid)) return view.meta.key().text() + " is another object";
    if (!(*stored == view)) return view.meta.key().text() + " differs";
    if (!(stored->meta.resource_version == view.meta.resource_version))
      return view.meta.key().text() + " is at version " + stored->meta.resource_version.text() +
             " instead of " + view.meta.resource_version.text();
    return {};
  }
  std::vector<object_key> not_among(std::vector<object_key> seen) const override {
    std::sort(seen.begin(), seen.end());
    std::vector<object_key> surplus;
    store_.each([&](const View& v) {
      if (object_key key = v.meta.key(); !std::binary_search(seen.begin(), seen.end(), key))
        surplus.push_back(std::move(key));
    });
    return surplus;
  }

  store<View> store_;
};

}  // namespace k8s
