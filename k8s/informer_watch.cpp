#include "k8s/answer.hpp"
#include "k8s/client.hpp"
#include "k8s/informer_parts.hpp"

#include <boost/json/parse.hpp>

namespace k8s {

using reactor::nanoseconds;
using reactor::steady_time;

// A server may end a watch this much later than it was asked to.
static constexpr nanoseconds over_time = 30s;

awaitable<std::optional<step>> informer_base::follow(step s) {
  auto stream = std::make_shared<stream_run>();
  ending outcome = co_await open_stream(stream, std::move(s));
  if (!outcome) outcome = co_await read_stream(stream);
  if (!stream->swept) co_await complete(stream);
  if (outcome->how == line_outcome::what::cancelled) co_return std::nullopt;
  if (stream->probe) tasks_.cancel(stream->probe);
  stream->exchange.reset();
  buffered_ = 0;
  co_return settle(*outcome);
}

/// A coroutine of its own, so that an idle stream does not keep what opening it took.
awaitable<informer_base::ending> informer_base::open_stream(std::shared_ptr<stream_run> stream,
                                                            step s) {
  stream->initial = s.what == step::action::stream;
  watch_options options;
  options.ns = options_.ns;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  options.resource_version = s.resource_version;
  options.send_initial_events = stream->initial;
  options.timeout = watch_.watch_timeout(loop_.random());
  stream->ends_by = loop_.now() + options.timeout + over_time;
  if (stream->initial) {
    ++watch_.counters().streams;
    set_state(informer_state::listing);
    begin_relist();
  } else {
    ++watch_.counters().watches;
  }
  auto opened = co_await api_.open_watch(options_.collection, std::move(options));
  if (!opened) co_return line_outcome::failure(opened.error());
  stream->exchange = std::move(*opened);
  const steady_time now = loop_.now();
  stream->last_byte = stream->probed = last_contact_ = now;
  watch_.stream_opened(now);
  if (!stream->initial) set_state(informer_state::live);
  co_return nullptr;
}

awaitable<informer_base::ending> informer_base::read_stream(std::shared_ptr<stream_run> stream) {
  pacer pace(loop_);
  for (;;) {
    const nanoseconds patience = until_next_look(*stream);
    const auto piece = co_await stream->exchange->read(patience);
    if (!piece && piece.error().code == reactor::errc::timed_out) {
      if (ending outcome = judge_silence(stream)) co_return outcome;
      continue;
    }
    if (!piece) co_return broken(piece.error());
    if (piece->empty()) co_return take_last(*stream);
    stream->last_byte = last_contact_ = loop_.now();
    stream->ahead.reset();
    if (stream->answer) stream->probing = false;  // outrun
    stream->answer.reset();
    watch_.counters().bytes += piece->size();
    pace.begin();
    ending outcome = take_lines(*stream, *piece);
    if (!stream->swept) co_await complete(stream);
    if (outcome) co_return outcome;
    buffered_ = stream->carry.capacity();
    if (pace.end(piece->size())) co_await loop_.yield();
  }
}

/// The initial events are over. Events that came in the same piece are in the store already, and what they put stays.
awaitable<void> informer_base::complete(std::shared_ptr<stream_run> stream) {
  co_await sweep();
  stream->swept = true;
  synced_.set();
  set_state(informer_state::live);
}

informer_base::ending informer_base::broken(const reactor::fault& why) const {
  return line_outcome::failure(from_transport(why, doing("watch")));
}

/// A last event without its line's end is still an event, if it is whole.
informer_base::ending informer_base::take_last(stream_run& stream) {
  const std::string last = std::exchange(stream.carry, {});
  ending outcome = is_blank(last) ? nullptr : take_line(stream, last);
  return outcome ? std::move(outcome) : line_outcome::in_order();
}

informer_base::ending informer_base::take_lines(stream_run& stream, std::string_view bytes) {
  ending outcome;
  bool too_long = false;
  split_lines(stream.carry, bytes, options_.limits.line_limit_bytes, too_long,
              [&](std::string_view line) {
                outcome = take_line(stream, line);
                return !outcome;
              });
  if (too_long) return line_outcome::failure(malformed("an event is longer than the limit"));
  return outcome;
}

informer_base::ending informer_base::take_line(stream_run& stream, std::string_view line) {
  wire_parser& parser = shared_parser();
  const auto parsed = parser.parse(line);
  if (!parsed)
    return line_outcome::failure(malformed("an event is not JSON: " + parsed.error().detail));
  const wire_value object = (*parsed)["object"];
  const std::string_view type_name = (*parsed)["type"].text();
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
  if (parser.problem()) return line_outcome::failure(malformed(*parser.problem()));

  const bool initial = stream.initial;
  const resource_version& not_before = initial ? resource_version() : watch_.highest();
  const taken t = type == event_type::deleted
                      ? remove(object, not_before)
                      : put(object, initial ? origin::list : origin::watch, not_before);
  // Handlers ran: what `parsed` views may be another text by now, but a problem of ours came before them.
  if (t.version.empty())
    return line_outcome::failure(
        malformed(parser.problem().value_or("an event without a version")));
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
  if (shared_parser().problem())
    return line_outcome::failure(malformed(*shared_parser().problem()));
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
  watch_.initial_ended(version);
  return nullptr;
}

}  // namespace k8s
