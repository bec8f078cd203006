#include "k8s/client/answer.hpp"
#include "k8s/client/apart.hpp"
#include "k8s/client/client.hpp"
#include "k8s/informer/informer_parts.hpp"
#include "reactor/loop_slice.hpp"

#include <boost/json/parse.hpp>

#include <utility>

namespace k8s {

using reactor::nanoseconds;
using reactor::steady_time;

// A server may end a watch this much later than it was asked to.
static constexpr nanoseconds over_time = 30s;

awaitable<std::optional<step>> informer_base::follow(step s) {
  auto stream = std::make_shared<stream_run>();
  ending outcome = co_await open_stream(stream, s);
  if (!outcome) outcome = co_await read_stream(stream);
  if (!stream->swept) co_await complete(*stream);
  if (outcome->how == line_outcome::what::cancelled) co_return std::nullopt;
  if (stream->probe) tasks_.cancel(stream->probe);
  if (stream->in_pieces && outcome->how == line_outcome::what::ended)
    if (ending back = piece_ended(*stream)) outcome = std::move(back);
  stream->exchange.reset();
  buffered_ = 0;
  co_return settle(*outcome);
}

/// What the server named while a piece was under way is judged by all that came with it.
informer_base::ending informer_base::piece_ended(const stream_run& stream) {
  const steady_time now = loop_.now();
  std::optional<nanoseconds> before_end;
  if (stream.bytes > 0) before_end = now - stream.first_byte;
  if (api_.newest().delivery.ended(before_end, now - stream.asked))
    options_.log.warning("streams arrive only when they end; a proxy or balancer buffers them",
                         {{"collection", options_.collection.plural},
                          {"watched_for", stream_delivery::piece_length}});
  return consider_named();
}

/// A coroutine of its own, so that an idle stream does not keep what opening it took.
awaitable<informer_base::ending> informer_base::open_stream(
    const std::shared_ptr<stream_run>& stream, const step& s) {  // borrowed
  stream->initial = s.what == step::action::stream;
  watch_options options;
  options.ns = options_.ns;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  options.metadata_only = options_.metadata_only;
  options.resource_version = s.resource_version;
  options.send_initial_events = stream->initial;
  stream_delivery& delivery = api_.newest().delivery;
  stream->in_pieces = delivery.in_pieces();
  options.timeout =
      stream->in_pieces ? stream_delivery::piece_length : watch_.watch_timeout(loop_.random());
  stream->asked = loop_.now();
  stream->ends_by = stream->asked + options.timeout + over_time;
  if (stream->initial) {
    ++watch_.counters().streams;
    set_state(informer_state::listing);
    co_await make_room();
    begin_relist();
  } else {
    ++watch_.counters().watches;
  }
  // Nothing of a piece may come before its end, so the question goes beside it.
  const newest_version& newest = api_.newest();
  if (stream->in_pieces && !newest.asking &&
      stream->asked >= newest.asked + limits().of(freshness_).named_every)
    ask_beside(stream);
  auto opened = co_await api_.open_watch(options_.collection, std::move(options));
  if (!opened) {
    // A server answers a watch at once; what buffers its answer does not before the watch ends.
    const fault& why = opened.error();
    if (why.code == errc::unavailable && why.http_status == 0 && !why.cancelled &&
        loop_.now() - stream->asked >= limits().silence) {
      delivery.held_back();
      watch_.list_plainly();
    }
    co_return line_outcome::failure(why);
  }
  stream->exchange = std::move(*opened);
  stream_ = stream;
  const steady_time now = loop_.now();
  stream->opened = stream->last_byte = now;
  watch_.stream_opened(stream->in_pieces ? stream->asked : now);
  if (!stream->initial) set_state(informer_state::live);
  co_return nullptr;
}

awaitable<informer_base::ending> informer_base::read_stream(
    const std::shared_ptr<stream_run>& stream) {  // borrowed
  pacer pace(loop_);
  nanoseconds coalesce_window{0};
  for (;;) {
    const nanoseconds patience = std::max(next_look(*stream) - loop_.now(), nanoseconds(1ms));
    const auto piece =
        co_await stream->exchange->read(patience, std::exchange(coalesce_window, {}));
    if (!piece && piece.error().code == reactor::errc::timed_out) {
      if (ending outcome = judge_silence(stream)) co_return outcome;
      continue;
    }
    if (!piece) co_return broken(piece.error());
    if (piece->empty()) co_return take_last(*stream);
    const std::size_t piece_bytes = piece->size();
    stream->last_byte = heard_ = loop_.now();
    if (stream->bytes == 0) stream->first_byte = stream->last_byte;
    stream->bytes += piece_bytes;
    watch_.counters().bytes += piece_bytes;
    relevant_ = false;
    pace.begin();
    ending outcome = take_lines(*stream, *piece);
    const bool full = pace.end(piece_bytes);
    if (!outcome && !stream->queued.empty()) outcome = co_await take_queued(*stream);
    if (!stream->swept) co_await complete(*stream);
    if (outcome) co_return outcome;
    record_proof(loop_.now());  // a list that is complete
    if (watch_.take_moved()) moved();
    buffered_ = stream->carry.capacity();
    // Bytes that prove nothing put no question off.
    if (loop_.now() >= next_look(*stream))
      if (ending silent = judge_silence(stream)) co_return silent;
    coalesce_window = rest_of_window(*stream);
    if (full) co_await reactor::loop_slice::yield();
  }
}

/// How long what follows a piece may lie unread. Zero: not at all.
nanoseconds informer_base::rest_of_window(const stream_run& stream) const {
  if (options_.coalesce_window == 0ns || relevant_ || freshness_ != freshness::none ||
      stream.initial)
    return {};
  return options_.coalesce_window - loop_.now().time_since_epoch() % options_.coalesce_window;
}

/// A line that is parsed off the loop and those behind it; the piece that they came in is gone.
awaitable<informer_base::ending> informer_base::take_queued(stream_run& stream) {  // borrowed
  std::vector<reactor::wiped_string> lines;
  lines.swap(stream.queued);
  pacer pace(loop_);
  for (reactor::wiped_string& line : lines) {
    const std::size_t bytes = line.size();
    ending outcome;
    pace.begin();
    if (bytes <= parsed_on_loop_bytes) {
      outcome = take_line(stream, line);
    } else {
      const auto event = co_await api_.off_loop().parse(std::move(line));
      pace.begin();
      outcome = event->problem().empty()
                    ? take_event(stream, event->root(), bytes)
                    : line_outcome::failure(malformed("an event is not JSON: " + event->problem()));
    }
    if (outcome) co_return outcome;
    if (pace.end(bytes)) co_await reactor::loop_slice::yield();
  }
  co_return nullptr;
}

/// The initial events are over. Events that came in the same piece are in the store already, and
/// what they put stays.
awaitable<void> informer_base::complete(stream_run& stream) {  // borrowed
  co_await sweep();
  stream.swept = true;
  completed();
  set_state(informer_state::live);
}

informer_base::ending informer_base::broken(const reactor::fault& why) const {
  return line_outcome::failure(from_transport(why, doing("watch")));
}

/// A last event without its line's end is still an event, if it is whole.
informer_base::ending informer_base::take_last(stream_run& stream) {
  const reactor::wiped_string last = std::exchange(stream.carry, {});
  ending outcome = is_blank(last) ? nullptr : take_line(stream, last);
  return outcome ? std::move(outcome) : line_outcome::in_order();
}

informer_base::ending informer_base::take_lines(stream_run& stream, std::string_view bytes) {
  ending outcome;
  bool too_long = false;
  split_lines(stream.carry, bytes, limits().line_limit_bytes, too_long, [&](std::string_view line) {
    if (line.size() > parsed_on_loop_bytes || !stream.queued.empty()) {
      stream.queued.emplace_back(line);
      return true;
    }
    outcome = take_line(stream, line);
    return !outcome;
  });
  if (too_long) return line_outcome::failure(malformed("an event is longer than the limit"));
  return outcome;
}

informer_base::ending informer_base::take_line(stream_run& stream, std::string_view line) {
  const discretion after(options_.collection);
  const auto parsed = shared_parser().parse(line);
  if (!parsed)
    return line_outcome::failure(malformed("an event is not JSON: " + parsed.error().detail));
  return take_event(stream, *parsed, line.size());
}

informer_base::ending informer_base::take_event(stream_run& stream, wire_value event,
                                                std::size_t event_bytes) {
  const wire_value object = event["object"];
  const std::string_view type_name = event["type"].text();
  event_type type{};
  if (type_name == "ADDED") {
    type = event_type::added;
  } else if (type_name == "MODIFIED") {
    type = event_type::modified;
  } else if (type_name == "DELETED") {
    type = event_type::deleted;
  } else if (type_name == "BOOKMARK") {
    return take_bookmark(stream, object);
  } else if (type_name == "ERROR") {
    if (event_bytes > parsed_on_loop_bytes)
      return line_outcome::failure(malformed("an ERROR event longer than any Status"));
    boost::system::error_code error;
    const auto status = boost::json::parse(object.json(), error);
    if (error || !status.is_object())
      return line_outcome::failure(malformed("an ERROR event without a Status"));
    fault why = fault_from_status(status.as_object(), 0, doing("watch"));
    api_.hide_credentials(why);
    return line_outcome::failure(std::move(why));
  } else {
    return line_outcome::failure(malformed("an event of unknown type"));
  }
  if (event.reading().problem) return line_outcome::failure(malformed(*event.reading().problem));

  const bool initial = stream.initial;
  const resource_version& not_before = initial ? resource_version() : watch_.highest();
  const taken t = type == event_type::deleted
                      ? remove(object, not_before)
                      : put(object, initial ? origin::list : origin::watch, not_before);
  // Handlers ran: what `event` views may be another text by now, but a problem of ours came before
  // them.
  if (t.version.empty())
    return line_outcome::failure(
        malformed(event.reading().problem.value_or("an event without a version")));
  if (t.outcome == put_outcome::refused) return line_outcome::failure(no_room());
  if (initial && t.outcome == put_outcome::older)
    return line_outcome::from_the_past(malformed(older_than_shown(t.version.text())));
  if (initial && type != event_type::deleted) {
    watch_.initial_event();
    return nullptr;
  }
  const oddity odd = watch_.event(type, t.version, t.outcome, t.was_known);
  if (odd == oddity::fits) return nullptr;
  return line_outcome::oddly(odd, "version " + t.version.text());
}

informer_base::ending informer_base::take_bookmark(stream_run& stream, wire_value object) {
  const wire_value metadata = object["metadata"];
  const resource_version version(metadata["resourceVersion"].text());
  const bool ends_initial = metadata["annotations"]["k8s.io/initial-events-end"].text() == "true";
  if (object.reading().problem) return line_outcome::failure(malformed(*object.reading().problem));
  if (version.empty()) return line_outcome::failure(malformed("a bookmark without a version"));
  if (!stream.initial) {
    if (watch_.bookmark(version) == oddity::fits) return nullptr;
    return line_outcome::oddly(oddity::regressed, "bookmark at version " + version.text());
  }
  if (!ends_initial) return nullptr;
  if (watch_.is_past(version)) {
    return line_outcome::from_the_past(malformed("the server answers with version " +
                                                 version.text() + ", and had been at " +
                                                 watch_.highest().text()));
  }
  stream.initial = stream.swept = false;
  ++watch_.counters().bookmarks;
  // A stream that asked for nothing older than a version is not as new as the server.
  if (watch_.highest().empty()) note_named(version.text(), stream.opened);
  watch_.initial_ended(version);
  return nullptr;
}

}  // namespace k8s
