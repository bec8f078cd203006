#include "k8s/informer/watch_state.hpp"

#include "k8s/informer/informer_parts.hpp"
#include "reactor/plain/entropy.hpp"

#include <algorithm>
#include <utility>

namespace k8s {

namespace {

constexpr double jitter_share = 0.2;
// the same broken event again and again: a list goes around it
constexpr std::uint32_t malformed_patience = 3;

}  // namespace

bool is_too_large(const fault& f) {
  if (std::any_of(f.causes.begin(), f.causes.end(),
                  [](const cause& c) { return c.reason == "ResourceVersionTooLarge"; }))
    return true;
  return f.detail.find("Too large resource version") != std::string::npos;
}

std::shared_ptr<const watch_limits> shared_limits(const watch_limits& limits) {
  static const auto defaults = std::make_shared<const watch_limits>();
  return limits == *defaults ? defaults : std::make_shared<const watch_limits>(limits);
}

std::string_view name_of(oddity o) noexcept {
  switch (o) {
    case oddity::fits: return "fits";
    case oddity::repeated: return "a version came again";
    case oddity::regressed: return "a version went back";
    case oddity::unknown_modified: return "an unknown object was modified";
    case oddity::unknown_deleted: return "an unknown object was deleted";
    case oddity::replaced: return "an object was replaced without having been deleted";
  }
  return "";
}

step watch_state::first() {
  return list_again({});
}

step watch_state::list_again(reactor::nanoseconds delay) {
  pages_ = 0;
  step s;
  s.delay = delay;
  // While the server names older versions it would wait for ours before it streams.
  const bool streams = may_stream_ && !past_since_;
  s.what = streams ? step::action::stream : step::action::list;
  if (streams) s.resource_version = highest_.text();
  return current_ = std::move(s);
}

step watch_state::watch_again(reactor::nanoseconds delay) {
  step s;
  s.delay = delay;
  s.what = step::action::watch;
  s.resource_version = version_.text();
  return current_ = std::move(s);
}

step watch_state::same_again(reactor::nanoseconds delay) {
  if (current_.what == step::action::watch) return watch_again(delay);
  // A page can be asked for again; its token keeps the list's moment. A stream begins again.
  if (current_.continue_token.empty()) return list_again(delay);
  current_.delay = delay;
  return current_;
}

void watch_state::advance(const resource_version& version) {
  if (version < highest_) return;
  moved_ = moved_ || version != highest_;
  version_ = version;
  highest_ = version;
}

reactor::nanoseconds watch_state::backoff(reactor::steady_time now, reactor::entropy& rng) {
  if (opened_ != reactor::steady_time{} && now - opened_ >= limits_->stable_after) attempt_ = 0;
  opened_ = {};
  reactor::nanoseconds delay = limits_->backoff_first;
  for (std::uint32_t i = 0; i < attempt_ && delay < limits_->backoff_most; ++i) delay *= 2;
  ++attempt_;
  return std::min(rng.jitter(std::min(delay, limits_->backoff_most), jitter_share),
                  limits_->backoff_most);
}

step watch_state::page_ended(const resource_version& list_version, std::string continue_token) {
  ++counters_.pages;
  if (!continue_token.empty()) {
    ++pages_;
    current_.delay = {};
    current_.continue_token = std::move(continue_token);
    return current_;
  }
  initial_ended(list_version);
  return watch_again({});
}

void watch_state::initial_ended(const resource_version& version) {
  advance(version);
  fits();
  // From here on the stream is a watch: what fails now goes on from this version.
  current_.what = step::action::watch;
  current_.continue_token.clear();
  proven_ = true;
}

void watch_state::fits() {
  past_since_.reset();
  past_answers_ = 0;
  too_large_ = 0;
  malformed_ = 0;
}

version_check watch_state::named(const resource_version& version, bool moved_since) {
  const auto order = version_ <=> version;
  if (order == std::partial_ordering::greater && !moved_since) return version_check::went_back;
  if (order == std::partial_ordering::less || order == std::partial_ordering::unordered)
    return version_check::behind;
  proven_ = true;
  return version_check::reached;
}

probe_verdict watch_state::probed(const probe_findings& found, const resource_version& named) {
  if (version_ < found.event) return probe_verdict::missed;
  if (!found.event.empty()) return probe_verdict::moving;
  if (found.bookmark != named && !(named < found.bookmark)) return probe_verdict::unproven;
  proven_ = true;
  return probe_verdict::current;
}

step watch_state::unproven() {
  step s = list_again({});
  s.what = step::action::list;
  s.resource_version.clear();
  return current_ = std::move(s);
}

step watch_state::past_refused(reactor::steady_time now, reactor::entropy& rng) {
  ++counters_.older_refused;
  ++past_answers_;
  if (!past_since_) past_since_ = now;
  if (past_answers_ >= limits_->older_answers && now - *past_since_ >= limits_->older_patience) {
    // What we know of the old history has no meaning any more.
    highest_ = {};
    version_ = {};
    fits();
    return list_again({});
  }
  return list_again(backoff(now, rng));
}

oddity watch_state::event(event_type type, const resource_version& version, put_outcome outcome,
                          bool was_known) {
  ++counters_.events;
  const auto odd = [&](oddity o, std::uint64_t& counter) {
    ++counter;
    return o;
  };
  if (is_past(version)) return odd(oddity::regressed, counters_.regressed);
  if (type == event_type::deleted) {
    if (!was_known) return odd(oddity::unknown_deleted, counters_.unknown);
  } else {
    if (outcome == put_outcome::older) return odd(oddity::regressed, counters_.regressed);
    if (outcome == put_outcome::repeated) return odd(oddity::repeated, counters_.repeated);
    if (outcome == put_outcome::replaced) return odd(oddity::replaced, counters_.replaced);
    if (outcome == put_outcome::added && type == event_type::modified)
      return odd(oddity::unknown_modified, counters_.unknown);
    if (outcome == put_outcome::same) ++counters_.unchanged;
  }
  fits();
  advance(version);
  return oddity::fits;
}

oddity watch_state::bookmark(const resource_version& version) {
  ++counters_.bookmarks;
  if (is_past(version)) {
    ++counters_.regressed;
    return oddity::regressed;
  }
  advance(version);
  return oddity::fits;
}

/// After a watch that ended in order.
step watch_state::go_on(reactor::nanoseconds delay) {
  return lists_after_end_ ? list_again(delay) : watch_again(delay);
}

step watch_state::stream_ended(reactor::steady_time now, reactor::entropy& rng) {
  if (current_.what != step::action::watch) return list_again(backoff(now, rng));
  // Streams that end at once would be asked for in a circle.
  if (now - opened_ < limits_->too_short) {
    ++counters_.failures;
    return go_on(backoff(now, rng));
  }
  return go_on({});
}

step watch_state::failed(const fault& why, reactor::steady_time now, reactor::entropy& rng) {
  const bool initial = current_.what == step::action::stream;
  if (initial && why.code == errc::invalid) {
    // The server does not know watch-list, or does not offer it; if the request is wrong, the list
    // will tell.
    may_stream_ = false;
    return list_again({});
  }
  ++counters_.failures;
  if (initial && why.code == errc::unavailable && why.http_status == 500) {
    // It takes the request and fails in it, as with a storage that cannot say how far a watch has
    // come (an old etcd, a database in its place): a list asks for less.
    may_stream_ = false;
    return list_again(backoff(now, rng));
  }
  if (is_too_large(why)) {
    if (++too_large_ < limits_->too_large_patience) return same_again(backoff(now, rng));
    too_large_ = 0;
    step s = list_again(backoff(now, rng));
    // A list without a version asks for the truth, whatever it is; only is_past() judges it then.
    s.what = step::action::list;
    s.resource_version.clear();
    return current_ = std::move(s);
  }
  switch (why.code) {
    case errc::gone: {
      ++counters_.gone;
      const reactor::nanoseconds wait = backoff(now, rng);
      if (attempt_ > 1) return list_again(wait);
      return list_again(rng.between(reactor::nanoseconds{}, limits_->relist_jitter));
    }
    case errc::throttled: {
      ++counters_.throttled;
      const reactor::nanoseconds least = backoff(now, rng);
      const auto asked =
          std::min(why.retry_after.value_or(reactor::nanoseconds{}), limits_->longest_retry_after);
      // Never sooner than asked, and not all at the same moment.
      return same_again(std::max(
          least, asked + reactor::nanoseconds(static_cast<std::int64_t>(
                             static_cast<double>(asked.count()) * jitter_share * rng.fraction()))));
    }
    case errc::malformed:
      ++counters_.malformed;
      if (++malformed_ >= malformed_patience) {
        malformed_ = 0;
        return list_again(backoff(now, rng));
      }
      return same_again(backoff(now, rng));
    case errc::over_budget:
      ++counters_.over_budget;
      return list_again(rng.jitter(limits_->over_budget_retry, jitter_share));
    default: {
      // As client-go has it: a watch that lived for a moment worked, whatever ended it, so that its
      // end is not one more failure in a row. Balancers end silent streams after some seconds.
      const bool watched =
          current_.what == step::action::watch && opened_ != reactor::steady_time{};
      if (watched && now - opened_ >= limits_->too_short) attempt_ = 0;
      return same_again(backoff(now, rng));
    }
  }
}

step watch_state::repair(reactor::steady_time now, reactor::entropy& rng) {
  return list_again(backoff(now, rng));
}

reactor::nanoseconds watch_state::watch_timeout(reactor::entropy& rng) const {
  return rng.between(limits_->watch_shortest, limits_->watch_longest);
}

}  // namespace k8s
