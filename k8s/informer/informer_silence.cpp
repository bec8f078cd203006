#include "k8s/client/apart.hpp"
#include "k8s/client/client.hpp"
#include "k8s/informer/informer_parts.hpp"
#include "k8s/informer/proof_pace.hpp"
#include "reactor/of_loop.hpp"

#include <boost/json/object.hpp>

#include <algorithm>

namespace k8s {

using reactor::nanoseconds;
using reactor::steady_time;

namespace {

constexpr nanoseconds probe_poll = 1s;   // how often a reader looks for an answer
constexpr nanoseconds probe_grace = 2s;  // what a probe saw may be a little ahead of the stream
// A watch that is to last 3 s: API servers send a bookmark 2 s before the end.
constexpr nanoseconds probe_length = 3s, probe_longest = 5s;
constexpr std::size_t probe_limit_bytes = 1024 * 1024;
constexpr std::string_view one_name = "metadata.name=";

}  // namespace

void informer_base::set_freshness(freshness how) {
  if (std::exchange(freshness_, how) == how || how == freshness::none) return;
  attended_since_ = loop_.now();
  // Its reader waits for as long as no reader cared.
  if (const auto stream = stream_.lock(); stream && stream->exchange)
    stream->exchange->wake_reader();
}

bool informer_base::may_be_acted_upon() const noexcept {
  return freshness_ == freshness::close && is_synced() &&
         loop_.now() - current_.at() <= limits().stale_after(freshness::close);
}

bool informer_base::is_old() const noexcept {
  const steady_time now = loop_.now();
  const nanoseconds most = limits().stale_after(freshness_);
  if (freshness_ == freshness::close) return now - std::max(current_.at(), attended_since_) > most;
  return now - current_.at() > most ||
         now - std::max(current_.at(), heard_) > limits().silent_after();
}

/// When to ask for a proof, or to look at what was asked; the initial events are expected to flow.
steady_time informer_base::next_look(const stream_run& stream) const {
  const watch_limits& limits = watch_.limits();
  if (stream.initial)
    return std::min({stream.last_byte + limits.silence,
                     stream.opened + limits.list_allowance(stream.bytes), stream.ends_by});
  if (stream.probing || stream.ahead) return std::max(stream.looked, stream.probed) + probe_poll;
  const steady_time last = std::max(api_.newest().asked, stream.probed);
  steady_time look = question_due(last);
  if (freshness_ == freshness::close && api_.newest().place)
    look = std::max(look, std::min(*api_.newest().place, last + limits.longest_place));
  // What the server answered to another informer proves this view as well.
  if (freshness_ == freshness::none && api_.newest().asked > considered_)
    look = std::min(look, current_.at() + limits.rest_silence);
  if (target_) look = std::min(look, target_->asked + limits.of(freshness_).reached_in);
  look = std::max({look, stream.opened + probe_poll, stream.looked + probe_poll});
  return std::min(look, stream.ends_by);
}

/// When the server is asked for its version, which it was last at `last`.
steady_time informer_base::question_due(steady_time last) const {
  const steady_time due = last + limits().of(freshness_).named_every;
  if (freshness_ == freshness::close) return due;
  // A right that was taken away may be given back.
  if (last_error_) return last + limits().longest_place;
  return std::min(due, std::max(last, heard_) + limits().rest_silence);
}

/// The followed version became newer: it may have come to what the server named.
void informer_base::moved() {
  moved_ = loop_.now();
  if (!target_ || watch_.version() < target_->version) return;
  (void)consider_named();
}

/// Compares what was followed with what the server has named. Returns an ending when this informer
/// itself was told that the history went back.
informer_base::ending informer_base::consider_named() {
  if (target_ && watch_.named(target_->version, true) == version_check::reached) {
    record_proof(target_->asked);
    target_.reset();
  }
  const newest_version& newest = api_.newest();
  if (newest.version.empty() || newest.asked <= considered_) return nullptr;
  considered_ = newest.asked;
  const resource_version version(newest.version);
  switch (watch_.named(version, moved_ >= newest.asked)) {
    case version_check::reached: record_proof(newest.asked); break;
    case version_check::behind:
      if (!target_) target_ = named_version{version, newest.asked};
      break;
    case version_check::went_back:
      // Another collection may be kept in another storage, whose versions say nothing of this one.
      if (newest.by != this) {
        considered_ = {};
        return nullptr;
      }
      return line_outcome::from_the_past(malformed("the server is at version " + newest.version +
                                                   ", and had been at " + watch_.version().text()));
  }
  return nullptr;
}

/// Nothing that proves anything came for a while. Asks, or looks at what was found.
informer_base::ending informer_base::judge_silence(std::shared_ptr<stream_run> stream) {
  const steady_time now = stream->looked = loop_.now();
  if (now >= stream->ends_by) return line_outcome::in_order();
  if (stream->initial) {
    if (now < next_look(*stream)) return nullptr;
    // An older server takes the request for a plain watch and never says that the beginning is
    // complete.
    fault f;
    f.code = errc::invalid;
    f.doing = doing("watch");
    f.detail = "the initial events do not end";
    return line_outcome::failure(std::move(f));
  }
  if (!stream->in_pieces && api_.newest().delivery.in_pieces()) return line_outcome::in_order();
  if (stream->ahead) {
    if (!(watch_.version() < *stream->ahead)) {
      stream->ahead.reset();
    } else if (now - stream->probed >= probe_grace) {
      api_.newest().delivery.held_back();
      return give_up("the server has newer events than this stream delivers");
    }
    return nullptr;
  }
  if (stream->probing && !stream->answer) {
    if (now - stream->probed < limits().probe_patience) return nullptr;
    return give_up("the server is silent");
  }
  if (stream->answer) return answered(stream);
  if (ending back = consider_named()) return back;
  return ask_or_probe(stream);
}

informer_base::ending informer_base::give_up(std::string_view why) {
  ++watch_.counters().silent;
  fault f;
  f.code = errc::unavailable;
  f.doing = doing("watch");
  f.detail = why;
  return line_outcome::failure(std::move(f));
}

/// A question of this stream was answered.
informer_base::ending informer_base::answered(const std::shared_ptr<stream_run>& stream) {
  const result<probe_findings> found = std::move(*stream->answer);
  stream->answer.reset();
  stream->probing = false;
  stream->probed = loop_.now();
  if (!found) {
    // Any answer of a server shows that it is there; what is wrong with it concerns the next
    // request.
    if (found.error().code == errc::unavailable && found.error().http_status == 0)
      return give_up("the server is silent, and asked for a sign of life: " + found.error().detail);
    // The second watch cannot begin where this one has come to.
    if (found.error().code == errc::gone) return line_outcome::failure(found.error());
    // Not asked again before the server has named another version.
    target_.reset();
    // A watch goes on for a while after the right to it was taken away.
    if (found.error().code == errc::forbidden) {
      last_error_ = found.error();
      if (on_sync_problem_) on_sync_problem_();
    }
    return nullptr;
  }
  if (last_error_ && last_error_->code == errc::forbidden) last_error_.reset();
  if (ending back = consider_named()) return back;
  if (!target_) return nullptr;
  if (!found->probed) return ask_or_probe(stream);
  switch (watch_.probed(*found, target_->version)) {
    case probe_verdict::current:
      record_proof(target_->asked);
      target_.reset();
      return consider_named();
    case probe_verdict::missed: stream->ahead = found->event; return nullptr;
    case probe_verdict::moving:
      if (loop_.now() - target_->asked <
          limits().of(freshness_).reached_in + limits().probe_patience)
        return nullptr;
      return line_outcome::unproven();
    case probe_verdict::unproven: return line_outcome::unproven();
  }
  return nullptr;
}

/// Asks the server for its version when that is due, then what this stream missed on the way to the
/// newest version that was named.
informer_base::ending informer_base::ask_or_probe(const std::shared_ptr<stream_run>& stream) {
  const steady_time now = loop_.now();
  const freshness_limits& how = limits().of(freshness_);
  newest_version& newest = api_.newest();
  const bool contradicts = !newest.version.empty() && newest.by != this && moved_ < newest.asked &&
                           resource_version(newest.version) < watch_.version();
  const steady_time last = contradicts ? stream->probed : std::max(newest.asked, stream->probed);
  if (now >= question_due(last)) {
    if (!contradicts && newest.asking && now - newest.asking_since < limits().probe_patience)
      return nullptr;
    if (may_ask(last)) ask_beside(stream);
  } else if (target_ && now >= target_->asked + how.reached_in && !stream->in_pieces) {
    if (!contradicts) target_ = named_version{newest.version, newest.asked};
    begin_probe(*stream, probe_server(stream));
  }
  return nullptr;
}

/// Whether this question has its turn among those of all clusters that are attended.
bool informer_base::may_ask(steady_time last) {
  const steady_time now = loop_.now();
  if (freshness_ == freshness::none || now >= last + limits().longest_place) return true;
  std::optional<steady_time>& place = api_.newest().place;
  // A place of a caller that no longer attended is another time's.
  if (!place || *place + limits().attended.named_every < now)
    place = reactor::of_loop<proof_pace>(loop_).take(now);
  return *place <= now;
}

/// Asks the server for its version while the stream goes on.
void informer_base::ask_beside(const std::shared_ptr<stream_run>& stream) {
  api_.newest().asking = true;
  api_.newest().asking_since = loop_.now();
  api_.newest().place.reset();
  begin_probe(*stream, ask_version(stream));
}

void informer_base::begin_probe(stream_run& stream, awaitable<void> question) {
  ++watch_.counters().probes;
  stream.probing = true;
  stream.probed = loop_.now();
  stream.probe = tasks_.start(doing("probe"), std::move(question));
}

/// A consistent read of one object's metadata: its answer names the version that the server is at.
awaitable<void> informer_base::ask_version(std::shared_ptr<stream_run> stream) {
  struct no_longer {
    newest_version& newest;
    ~no_longer() { newest.asking = false; }
  } const ends{api_.newest()};
  const steady_time asked = loop_.now();
  list_options options;
  options.ns = options_.ns;
  // Who may list one object alone may not list others; any other selector makes the server search.
  if (options_.field_selector.starts_with(one_name))
    options.field_selector = options_.field_selector;
  options.limit = 1;
  options.metadata_only = true;
  auto page = co_await api_.list(options_.collection, std::move(options));
  if (!page && page.error().cancelled) co_return;
  result<probe_findings> answer{probe_findings()};
  if (!page) {
    answer = page.error();
  } else {
    const boost::json::value* metadata = page->if_contains("metadata");
    const boost::json::value* version = metadata && metadata->is_object()
                                            ? metadata->get_object().if_contains("resourceVersion")
                                            : nullptr;
    if (version && version->is_string() && !version->get_string().empty()) {
      note_named(std::string(version->get_string()), asked);
    } else {
      answer = malformed("the list has no metadata.resourceVersion");
    }
  }
  stream->answer = std::move(answer);
  if (stream->exchange) stream->exchange->wake_reader();
}

/// The server named its version in answer to a consistent read that was sent at `asked`.
void informer_base::note_named(std::string version, steady_time asked) {
  newest_version& newest = api_.newest();
  newest.version = std::move(version);
  newest.by = this;
  newest.asked = asked;
}

/// Asks about this very stream, over another connection: that the server answers other requests
/// says nothing about it.
awaitable<void> informer_base::probe_server(std::shared_ptr<stream_run> stream) {
  const resource_version to = target_->version;
  auto answer = co_await find_missed(watch_.version(), to);
  if (!answer && answer.error().cancelled) co_return;
  stream->answer = std::move(answer);
  if (stream->exchange) stream->exchange->wake_reader();
}

/// A second watch from the same version, until it shows an event or has come as far as `to`.
awaitable<result<probe_findings>> informer_base::find_missed(resource_version from,
                                                             resource_version to) {
  const bool of_one = options_.field_selector.starts_with(one_name);
  // What watches are served from may be behind what was read. A list that has to be as new makes
  // the server ask its storage how far it is (for 3 s at most); the answer itself is not needed.
  list_options wait;
  wait.ns = options_.ns;
  wait.field_selector = of_one ? options_.field_selector : std::string(one_name) + "-";
  wait.limit = 0;
  wait.metadata_only = true;
  wait.resource_version = to.text();
  wait.resource_version_match = "NotOlderThan";
  const auto as_new = co_await api_.list(options_.collection, std::move(wait));
  if (!as_new && as_new.error().cancelled) co_return as_new.error();
  probe_findings found;
  found.probed = true;
  // No watch will show more, as with an etcd that does not say how far it is (before 3.4.25).
  if (!as_new && is_too_large(as_new.error())) co_return found;
  watch_options options;
  options.ns = options_.ns;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  options.metadata_only = options_.metadata_only;
  options.resource_version = from.text();
  options.timeout = probe_length;
  auto opened = co_await api_.open_watch(options_.collection, std::move(options));
  if (!opened) co_return opened.error();
  const std::unique_ptr<reactor::http::exchange> exchange = std::move(*opened);
  reactor::wiped_string carry;
  std::size_t total = 0;
  const steady_time until = loop_.now() + probe_longest;
  const auto look_at = [&](wire_value event) {
    const std::string_view type = event["type"].text();
    const resource_version version(event["object"]["metadata"]["resourceVersion"].text());
    if (type == "ADDED" || type == "MODIFIED" || type == "DELETED") found.event = version;
    if (type == "BOOKMARK") found.bookmark = version;
  };
  const auto is_decided = [&] {
    return !found.event.empty() || found.bookmark == to || to < found.bookmark;
  };
  while (total < probe_limit_bytes && loop_.now() < until && !is_decided()) {
    const auto piece = co_await exchange->read(until - loop_.now());
    // It answered, and does not end when it was asked to: that is an answer, too.
    if (!piece && piece.error().code == reactor::errc::timed_out) break;
    if (!piece) co_return from_transport(piece.error(), doing("probe"));
    if (piece->empty()) break;
    total += piece->size();
    bool too_long = false;
    std::vector<reactor::wiped_string> lines;
    split_lines(carry, *piece, limits().line_limit_bytes, too_long, [&](std::string_view line) {
      lines.emplace_back(line);
      return true;
    });
    if (too_long) break;
    for (reactor::wiped_string& line : lines) {
      if (is_decided()) break;
      if (line.size() > parsed_on_loop_bytes) {
        const auto event = co_await api_.off_loop().parse(std::move(line));
        if (!event->problem().empty()) co_return malformed(event->problem());
        look_at(event->root());
      } else {
        const discretion after(options_.collection);
        const auto event = shared_parser().parse(line);
        if (!event) co_return malformed(event.error().detail);
        look_at(*event);
      }
    }
  }
  co_return found;
}

}  // namespace k8s
