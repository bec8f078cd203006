#include "k8s/informer/informer.hpp"

#include "k8s/client/client.hpp"
#include "k8s/informer/informer_parts.hpp"
#include "k8s/informer/selector.hpp"
#include "k8s/says_too_much.hpp"
#include "reactor/loop_slice.hpp"

namespace k8s {

using reactor::nanoseconds;
using reactor::steady_time;

static constexpr std::size_t mebibyte = 1024 * 1024;
static constexpr nanoseconds say_again_after = 10min;

informer_options all_of(resource collection, const watch_limits& limits, const reactor::logger& log,
                        std::size_t most) {
  informer_options o;
  o.collection = std::move(collection);
  o.log = log;
  o.limits = limits;
  o.limits.budget.most_objects = std::min(limits.budget.most_objects, most);
  return o;
}

informer_options only(resource collection, const object_key& key, const watch_limits& limits,
                      const reactor::logger& log) {
  informer_options o;
  o.collection = std::move(collection);
  o.ns = key.ns;
  o.field_selector = field_is("metadata.name", key.name);
  o.log = log;
  o.limits = limits;
  return o;
}

std::string_view name_of(informer_state s) noexcept {
  switch (s) {
    case informer_state::idle: return "idle";
    case informer_state::listing: return "listing";
    case informer_state::live: return "live";
    case informer_state::retrying: return "retrying";
    case informer_state::stopped: return "stopped";
  }
  return "";
}

informer_base::informer_base(reactor::loop& l, client& api, informer_options options)
    : loop_(l),
      api_(api),
      options_(static_cast<informer_settings&&>(options)),
      watch_(options.limits, options_.stream_initial, options_.lists_after_end),
      since_(l.now()),
      synced_(l),
      tasks_(l) {}

informer_base::~informer_base() = default;

void informer_base::start() {
  if (state_ != informer_state::idle) return;
  set_state(informer_state::listing);
  tasks_.start(doing("follow"), run());
}

awaitable<void> informer_base::stop() {
  co_await tasks_.cancel_and_join();
  if (api_.newest().by == this) api_.newest().by = nullptr;
  set_state(informer_state::stopped);
}

awaitable<void> informer_base::forget() {
  constexpr std::size_t views_at_once = 512;
  while (forget_some(views_at_once) > 0) co_await reactor::loop_slice::yield();
}

awaitable<bool> informer_base::synced(steady_time deadline) {
  return synced_.wait(deadline);
}

std::string informer_base::doing(std::string_view verb) const {
  std::string text(verb);
  text += ' ';
  text += options_.collection.plural;
  if (!options_.ns.empty()) text += " in " + options_.ns;
  return text;
}

fault informer_base::malformed(std::string_view detail) const {
  fault f;
  f.code = errc::malformed;
  f.doing = doing("follow");
  f.detail = detail;
  return f;
}

void informer_base::set_state(informer_state s) {
  if (s == informer_state::live) last_error_.reset();
  if (state_ == s) return;
  state_ = s;
  since_ = loop_.now();
  if (options_.on_state) options_.on_state(s);
}

fault informer_base::no_room() const {
  const store_budget& own = limits().budget;
  fault f;
  f.code = errc::over_budget;
  f.doing = doing("follow");
  f.detail = "there are more than this process keeps of one cluster: " + std::to_string(stored()) +
             " fit into " + std::to_string(own.most_objects) + " objects, " +
             std::to_string(own.most_bytes / mebibyte) + " MiB and the cluster's share";
  return f;
}

fault informer_base::too_slow(std::uint64_t bytes) const {
  fault f;
  f.code = errc::unavailable;
  f.doing = doing("list");
  f.detail = "the list comes too slowly: " + std::to_string(bytes) + " bytes in " +
             std::to_string(limits().list_allowance(bytes) / 1s) + " s";
  return f;
}

bool informer_base::leaves_out(wire_value object, const object_meta& meta) {
  const std::optional<std::string>& why = object.reading().problem;
  is_left_out_ = why && says_too_much(*why) && !meta.ns.empty() && !meta.name.empty() &&
                 !meta.uid.empty() && !meta.resource_version.empty();
  if (!is_left_out_) return false;
  if (left_out_.size() < most_left_out) left_out_.insert(meta.key());
  if (told_left_out_ == reactor::steady_time{} || loop_.now() - told_left_out_ >= say_again_after) {
    options_.log.warning(
        "an object is left out",
        {{"collection", options_.collection.plural}, {"object", meta.key().text()}, {"why", *why}});
    told_left_out_ = loop_.now();
  }
  return true;
}

step informer_base::fail(const fault& why) {
  step next = watch_.failed(why, loop_.now(), loop_.random());
  if (next.delay > nanoseconds{}) {
    std::string text = why.message();
    // What stays the same for hours is not said with every attempt.
    if (text != said_ || loop_.now() - said_at_ >= say_again_after) {
      options_.log.info(
          "following failed",
          {{"collection", options_.collection.plural}, {"why", text}, {"retry_in", next.delay}});
      said_ = text;
      said_at_ = loop_.now();
    }
    last_error_ = why;
    if (why.code == errc::over_budget) {
      sync_problem_ = std::move(text);
      synced_.reset();
    }
    set_state(informer_state::retrying);
    if ((!sync_problem_.empty() || why.code == errc::forbidden) && on_sync_problem_)
      on_sync_problem_();
  }
  return next;
}

awaitable<void> informer_base::run() {
  // Handlers are called after start() has returned: who calls it may still be in a constructor.
  co_await loop_.yield();
  std::optional<step> next = watch_.first();
  while (next) {
    if (next->delay > nanoseconds{}) co_await loop_.sleep_for(next->delay);
    next = co_await carry_out(std::move(*next));
  }
}

awaitable<std::optional<step>> informer_base::carry_out(step s) {
  if (s.what == step::action::stream && api_.newest().delivery.in_pieces()) {
    watch_.list_plainly();
    s = watch_.first();
  }
  return s.what == step::action::list ? list_page(std::move(s)) : follow(std::move(s));
}

/// Removing calls handlers: some microseconds for each object.
awaitable<void> informer_base::sweep() {
  constexpr std::size_t objects_at_once = 256;
  while (sweep_some(objects_at_once) > 0) co_await reactor::loop_slice::yield();
}

/// Before a complete list: what did not fit the budget is tried from the beginning, because in the
/// part that is kept may be much that the server has no more. Nothing is decided on it, and the
/// handlers hear of what goes.
awaitable<void> informer_base::make_room() {
  if (!last_error_ || last_error_->code != errc::over_budget) co_return;
  begin_relist();
  co_await sweep();
}

/// The store is complete.
void informer_base::completed() {
  moved_ = loop_.now();
  target_.reset();
  sync_problem_.clear();
  said_.clear();
  synced_.set();
}

void informer_base::record_proof(steady_time at) {
  if (const auto proof = watch_.take_proof()) current_.record(*proof, at);
}

step informer_base::settle(const line_outcome& outcome) {
  switch (outcome.how) {
    case line_outcome::what::odd: {
      step next = watch_.repair(loop_.now(), loop_.random());
      options_.log.warning("watch answered oddly, listing again",
                           {{"collection", options_.collection.plural},
                            {"what", name_of(outcome.odd)},
                            {"object", outcome.why.detail},
                            {"in", next.delay}});
      return next;
    }
    case line_outcome::what::past: {
      last_error_ = outcome.why;
      sync_problem_ = outcome.why.message();
      synced_.reset();
      set_state(informer_state::retrying);
      step next = watch_.past_refused(loop_.now(), loop_.random());
      target_.reset();
      if (watch_.highest().empty()) {
        forget_versions();
        options_.log.warning(
            "the server's history went back, listing it as it is now",
            {{"collection", options_.collection.plural}, {"why", outcome.why.detail}});
      } else {
        options_.log.warning("refused an answer from the past",
                             {{"collection", options_.collection.plural},
                              {"why", outcome.why.detail},
                              {"retry_in", next.delay}});
      }
      if (on_sync_problem_) on_sync_problem_();
      return next;
    }
    case line_outcome::what::unproven: {
      options_.log.info("no watch shows that the view is current, listing again",
                        {{"collection", options_.collection.plural},
                         {"followed", watch_.version().text()},
                         {"server", target_ ? target_->version.text() : std::string()}});
      target_.reset();
      return watch_.unproven();
    }
    case line_outcome::what::failed: return fail(outcome.why);
    case line_outcome::what::ended:
    case line_outcome::what::cancelled: break;
  }
  return watch_.stream_ended(loop_.now(), loop_.random());
}

}  // namespace k8s
