#include "k8s/informer.hpp"

#include "k8s/answer.hpp"
#include "k8s/client.hpp"
#include "k8s/list_splitter.hpp"
#include "reactor/http/client.hpp"
#include "reactor/loop.hpp"

#include <boost/json/parse.hpp>

#include <cstring>
#include <utility>

namespace k8s {

using reactor::nanoseconds;
using reactor::steady_time;

namespace {

constexpr nanoseconds probe_poll = 1s;  // how often a reader looks at the answer of a running probe
constexpr nanoseconds probe_grace = 2s;    // what a probe saw may be a little ahead of the stream
constexpr nanoseconds longest_turn = 2ms;  // then everybody else runs first
constexpr std::size_t longest_turn_bytes = 1024 * 1024;  // the same where time stands still
constexpr nanoseconds over_time =
    30s;  // a server may end a watch this much later than it was asked to
constexpr std::size_t held_limit_bytes = 64 * 1024 * 1024;
constexpr std::size_t probe_limit_bytes = 1024 * 1024;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Calls `take` with each complete line; what remains stays in `carry`, which owns nothing while it is empty.
/// False when `take` said so or a line is longer than the limit (then `too_long`).
template <class Take>
bool split_lines(std::string& carry, std::string_view bytes, std::size_t limit, bool& too_long,
                 Take take) {
  while (!bytes.empty()) {
    const void* found = std::memchr(bytes.data(), '\n', bytes.size());
    const std::size_t length =
        found ? static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data())
              : bytes.size();
    if (carry.size() + length > limit) {
      too_long = true;
      return false;
    }
    if (!found) {
      carry.append(bytes);
      return true;
    }
    const std::string_view piece = bytes.substr(0, length);
    bytes.remove_prefix(length + 1);
    if (carry.empty()) {
      if (!is_blank(piece) && !take(piece)) return false;
      continue;
    }
    carry.append(piece);
    const std::string line = std::exchange(carry, {});
    if (!is_blank(line) && !take(std::string_view(line))) return false;
  }
  return true;
}

}  // namespace

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

/// Lets others run after two milliseconds of work, or what is about that many bytes.
class informer_base::pacer {
public:
  explicit pacer(reactor::loop& l) : loop_(l) {}
  void begin() { began_ = loop_.now(); }
  bool end(std::size_t bytes) {
    spent_ += loop_.now() - began_;
    bytes_ += bytes;
    if (spent_ < longest_turn && bytes_ < longest_turn_bytes) return false;
    spent_ = {};
    bytes_ = 0;
    return true;
  }

private:
  reactor::loop& loop_;
  steady_time began_{};
  nanoseconds spent_{};
  std::size_t bytes_ = 0;
};

/// What a list page is read into. `begin` gets the list's version before any object and says whether to take them.
struct informer_base::page {
  std::function<bool(const resource_version&)> begin;
  std::function<void(wire_value)> take;
  bool refused = false;  // by begin
  resource_version version;
  std::string continue_token;
};

/// One watch under way, shared with its probe.
struct informer_base::stream_run {
  std::unique_ptr<reactor::http::exchange> exchange;
  std::string carry;     // the beginning of a line
  bool initial = false;  // the initial events of a watch-list are still coming
  steady_time last_byte{}, ends_by{}, probed{};
  bool probing = false;
  reactor::task_group::task_id probe = 0;
  std::optional<result<resource_version>> answer;  // the newest version that the probe saw
  std::optional<resource_version> ahead;           // it was newer than the stream
};

struct informer_base::line_outcome {
  enum class what { ended, failed, odd, past, cancelled };
  what how = what::ended;
  fault why;
  oddity odd{};

  static line_outcome failure(fault f) {
    line_outcome o;
    o.how = f.cancelled ? what::cancelled : what::failed;
    o.why = std::move(f);
    return o;
  }
};

informer_base::informer_base(reactor::loop& l, client& api, informer_options options)
    : loop_(l),
      api_(api),
      options_(std::move(options)),
      watch_(options_.limits, options_.stream_initial),
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
  set_state(informer_state::stopped);
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

step informer_base::fail(const fault& why) {
  step next = watch_.failed(why, loop_.now(), loop_.random());
  if (next.delay > nanoseconds{}) {
    options_.log.info("following failed", {{"collection", options_.collection.plural},
                                           {"why", why.message()},
                                           {"retry_in", next.delay}});
    last_error_ = why;
    set_state(informer_state::retrying);
  }
  return next;
}

awaitable<void> informer_base::run() {
  std::optional<step> next = watch_.first();
  while (next) {
    if (next->delay > nanoseconds{}) co_await loop_.sleep_for(next->delay);
    step now = std::move(*next);
    if (now.what == step::action::list)
      next = co_await list_page(std::move(now));
    else
      next = co_await follow(std::move(now));
  }
}

// ---- lists

awaitable<result<void>> informer_base::read_page(list_options options, page& into) {  // borrowed
  const std::string doing_this = doing("list");
  auto opened = co_await api_.open_list(options_.collection, std::move(options));
  if (!opened) co_return opened.error();
  const std::unique_ptr<reactor::http::exchange> exchange = std::move(*opened);

  list_splitter splitter(options_.limits.line_limit_bytes);
  bool begun = false;
  std::vector<std::string> held;  // objects that came before the list's version
  std::size_t held_bytes = 0;
  std::optional<fault> wrong;
  const auto take = [&](std::string_view text) {
    const auto object = shared_parser().parse(text);
    if (!object)
      wrong = object.error();
    else
      into.take(*object);
    if (!wrong && shared_parser().problem()) wrong = malformed(*shared_parser().problem());
    return !wrong;
  };
  const auto read_outer = [&] {
    const auto outer = shared_parser().parse(splitter.outer());
    if (!outer) return;
    const wire_value metadata = (*outer)["metadata"];
    into.version = metadata["resourceVersion"].text();
    into.continue_token = metadata["continue"].text();
  };
  const auto on_object = [&](std::string_view text) {
    if (!begun) {
      read_outer();
      if (into.version.empty()) {
        held.emplace_back(text);
        held_bytes += text.size();
        if (held_bytes > held_limit_bytes)
          wrong = malformed("the list's version comes after too many objects");
        return !wrong;
      }
      begun = true;
      into.refused = !into.begin(into.version);
      if (into.refused) return false;
    }
    return take(text);
  };

  pacer pace(loop_);
  for (;;) {
    const auto piece = co_await exchange->read(options_.limits.list_idle);
    if (!piece) co_return from_transport(piece.error(), doing_this);
    if (piece->empty()) break;
    last_contact_ = loop_.now();
    watch_.counters().bytes += piece->size();
    pace.begin();
    const auto fed = splitter.feed(*piece, on_object);
    if (!fed) co_return malformed(fed.error().detail);
    if (wrong) co_return *wrong;
    if (into.refused) co_return result<void>();
    buffered_ = splitter.buffer_bytes() + held_bytes;
    if (pace.end(piece->size())) co_await loop_.yield();
  }
  buffered_ = 0;
  const auto finished = splitter.finish();
  if (!finished) co_return malformed(finished.error().detail);
  const auto outer = shared_parser().parse(splitter.outer());
  if (!outer) co_return malformed("the list is not JSON: " + outer.error().detail);
  bool empty_rest = true;
  (*outer)["items"].elements([&](wire_value) { empty_rest = false; });
  if (!empty_rest) co_return malformed("the list has objects in a place where none belong");
  read_outer();
  if (shared_parser().problem()) co_return malformed(*shared_parser().problem());
  if (into.version.empty()) co_return malformed("the list has no metadata.resourceVersion");
  if (!begun) into.refused = !into.begin(into.version);
  if (into.refused) co_return result<void>();
  for (const std::string& text : held)
    if (!take(text)) co_return *wrong;
  shared_parser().shrink();
  co_return result<void>();
}

awaitable<std::optional<step>> informer_base::list_page(step s) {
  set_state(informer_state::listing);
  const bool first = s.continue_token.empty();
  if (first) {
    ++watch_.counters().lists;
    begin_relist();
  }
  list_options options;
  options.ns = options_.ns;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  options.limit = options_.limits.page_limit;
  options.continue_token = s.continue_token;
  page p;
  p.begin = [this](const resource_version& version) { return !watch_.is_past(version); };
  p.take = [this](wire_value object) { put(object, origin::list, resource_version()); };
  const auto read = co_await read_page(std::move(options), p);
  buffered_ = 0;
  if (!read) {
    if (read.error().cancelled) co_return std::nullopt;
    co_return fail(read.error());
  }
  if (p.refused) {
    line_outcome past;
    past.how = line_outcome::what::past;
    past.why = malformed("the server answers with version " + p.version.text() +
                         ", and had been at " + watch_.highest().text());
    co_return settle(past);
  }
  if (p.continue_token.empty()) sweep();
  step next = watch_.page_ended(p.version, std::move(p.continue_token));
  if (next.what == step::action::watch) synced_.set();
  co_return next;
}

awaitable<result<std::vector<std::string>>> informer_base::differences() {
  std::vector<std::string> found;
  std::vector<object_key> seen;
  page p;
  p.begin = [](const resource_version&) { return true; };
  p.take = [&](wire_value object) {
    if (std::string what = compare(object, seen); !what.empty()) found.push_back(std::move(what));
  };
  do {
    list_options options;
    options.ns = options_.ns;
    options.label_selector = options_.label_selector;
    options.field_selector = options_.field_selector;
    options.limit = options_.limits.page_limit;
    options.continue_token = std::exchange(p.continue_token, {});
    const auto read = co_await read_page(std::move(options), p);
    if (!read) co_return read.error();
  } while (!p.continue_token.empty());
  for (const object_key& key : not_among(std::move(seen))) found.push_back(key.text() + " is gone");
  co_return found;
}

// ---- watches

awaitable<std::optional<step>> informer_base::follow(step s) {
  auto stream = std::make_shared<stream_run>();
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
  if (!opened) {
    if (opened.error().cancelled) co_return std::nullopt;
    co_return fail(opened.error());
  }
  stream->exchange = std::move(*opened);
  const steady_time now = loop_.now();
  stream->last_byte = stream->probed = last_contact_ = now;
  watch_.stream_opened(now);
  if (!stream->initial) set_state(informer_state::live);

  const line_outcome outcome = co_await read_stream(stream);
  if (outcome.how == line_outcome::what::cancelled) co_return std::nullopt;
  if (stream->probe) tasks_.cancel(stream->probe);
  stream->exchange.reset();
  buffered_ = 0;
  co_return settle(outcome);
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
      set_state(informer_state::retrying);
      step next = watch_.past_refused(loop_.now(), loop_.random());
      options_.log.warning("refused an answer from the past",
                           {{"collection", options_.collection.plural},
                            {"why", outcome.why.detail},
                            {"retry_in", next.delay}});
      return next;
    }
    case line_outcome::what::failed: return fail(outcome.why);
    case line_outcome::what::ended:
    case line_outcome::what::cancelled: break;
  }
  return watch_.stream_ended(loop_.now(), loop_.random());
}

nanoseconds informer_base::until_next_look(const stream_run& stream) const {
  const steady_time now = loop_.now();
  if (stream.probing || stream.ahead) return probe_poll;
  const steady_time look = std::max(stream.last_byte, stream.probed) + options_.limits.silence;
  return std::max(std::min(look, stream.ends_by) - now, nanoseconds(1ms));
}

awaitable<informer_base::line_outcome> informer_base::read_stream(
    std::shared_ptr<stream_run> stream) {
  pacer pace(loop_);
  for (;;) {
    const nanoseconds patience = until_next_look(*stream);
    const auto piece = co_await stream->exchange->read(patience);
    if (!piece && piece.error().code == reactor::errc::timed_out) {
      if (auto outcome = judge_silence(stream)) co_return std::move(*outcome);
      continue;
    }
    if (!piece) co_return line_outcome::failure(from_transport(piece.error(), doing("watch")));
    if (piece->empty()) {
      // A last event without its line's end is still an event, if it is whole.
      if (is_blank(stream->carry)) co_return line_outcome();
      const std::string last = std::exchange(stream->carry, {});
      auto outcome = take_line(*stream, last);
      co_return outcome ? std::move(*outcome) : line_outcome();
    }
    stream->last_byte = last_contact_ = loop_.now();
    stream->ahead.reset();
    watch_.counters().bytes += piece->size();
    pace.begin();
    if (auto outcome = take_lines(*stream, *piece)) co_return std::move(*outcome);
    buffered_ = stream->carry.capacity();
    if (pace.end(piece->size())) co_await loop_.yield();
  }
}

std::optional<informer_base::line_outcome> informer_base::take_lines(stream_run& stream,
                                                                     std::string_view bytes) {
  std::optional<line_outcome> outcome;
  bool too_long = false;
  split_lines(stream.carry, bytes, options_.limits.line_limit_bytes, too_long,
              [&](std::string_view line) {
                outcome = take_line(stream, line);
                return !outcome;
              });
  if (too_long) return line_outcome::failure(malformed("an event is longer than the limit"));
  return outcome;
}

std::optional<informer_base::line_outcome> informer_base::take_line(stream_run& stream,
                                                                    std::string_view line) {
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
    return line_outcome::failure(fault_from_status(status.as_object(), 0, doing("watch")));
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
    return std::nullopt;
  }
  const oddity odd = watch_.event(type, t.version, t.outcome, t.was_known);
  if (odd == oddity::fits) return std::nullopt;
  line_outcome outcome;
  outcome.how = line_outcome::what::odd;
  outcome.odd = odd;
  outcome.why.detail = "version " + t.version.text();
  return outcome;
}

std::optional<informer_base::line_outcome> informer_base::take_bookmark(stream_run& stream,
                                                                        wire_value object) {
  const wire_value metadata = object["metadata"];
  const resource_version version(metadata["resourceVersion"].text());
  const bool ends_initial = metadata["annotations"]["k8s.io/initial-events-end"].text() == "true";
  if (shared_parser().problem())
    return line_outcome::failure(malformed(*shared_parser().problem()));
  if (version.empty()) return line_outcome::failure(malformed("a bookmark without a version"));
  if (!stream.initial) {
    if (watch_.bookmark(version) == oddity::fits) return std::nullopt;
    line_outcome outcome;
    outcome.how = line_outcome::what::odd;
    outcome.odd = oddity::regressed;
    outcome.why.detail = "bookmark at version " + version.text();
    return outcome;
  }
  if (!ends_initial) return std::nullopt;
  if (watch_.is_past(version)) {
    line_outcome outcome;
    outcome.how = line_outcome::what::past;
    outcome.why = malformed("the server answers with version " + version.text() +
                            ", and had been at " + watch_.highest().text());
    return outcome;
  }
  stream.initial = false;
  sweep();
  ++watch_.counters().bookmarks;
  watch_.initial_ended(version);
  synced_.set();
  set_state(informer_state::live);
  return std::nullopt;
}

// ---- silence

/// Nothing came for a while. Starts a probe, or looks at what one has found.
std::optional<informer_base::line_outcome> informer_base::judge_silence(
    std::shared_ptr<stream_run> stream) {
  const steady_time now = loop_.now();
  const watch_limits& limits = options_.limits;
  const auto give_up = [&](std::string_view why) {
    ++watch_.counters().silent;
    fault f;
    f.code = errc::unavailable;
    f.doing = doing("watch");
    f.detail = why;
    return line_outcome::failure(std::move(f));
  };
  if (now >= stream->ends_by) return line_outcome();
  if (stream->initial && now - stream->last_byte >= limits.silence) {
    // An older server takes the request for a plain watch and never says that the beginning is complete.
    fault f;
    f.code = errc::invalid;
    f.doing = doing("watch");
    f.detail = "the initial events do not end";
    return line_outcome::failure(std::move(f));
  }
  if (stream->ahead) {
    if (!(watch_.version() < *stream->ahead)) {
      stream->ahead.reset();
    } else if (now - stream->probed >= probe_grace) {
      return give_up("the server has newer events than this stream delivers");
    }
    return std::nullopt;
  }
  if (stream->probing && !stream->answer) {
    if (now - stream->probed < limits.probe_patience) return std::nullopt;
    return give_up("the server is silent");
  }
  if (stream->answer) {
    const result<resource_version> answer = std::move(*stream->answer);
    stream->answer.reset();
    stream->probing = false;
    stream->probed = now;
    if (!answer) {
      // Any answer of a server shows that it is there; what is wrong with it concerns the next request.
      if (answer.error().code == errc::unavailable && answer.error().http_status == 0)
        return give_up("the server is silent, and asked for a sign of life: " +
                       answer.error().detail);
      return std::nullopt;
    }
    if (watch_.version() < *answer) {
      stream->ahead = *answer;
    } else {
      last_contact_ = now;
    }
    return std::nullopt;
  }
  if (now - std::max(stream->last_byte, stream->probed) >= limits.silence) {
    ++watch_.counters().probes;
    stream->probing = true;
    stream->probed = now;
    stream->probe = tasks_.start(doing("probe"), probe_server(stream));
  }
  return std::nullopt;
}

awaitable<void> informer_base::probe_server(std::shared_ptr<stream_run> stream) {
  if (options_.probe) {
    const auto answer = co_await options_.probe();
    if (!answer && answer.error().cancelled) co_return;
    if (answer)
      stream->answer = result<resource_version>(resource_version());
    else
      stream->answer = result<resource_version>(answer.error());
    co_return;
  }
  auto answer = co_await newest_after(watch_.version());
  if (!answer && answer.error().cancelled) co_return;
  stream->answer = std::move(answer);
}

/// The version of the last event after `version`, asked over another connection; empty when there is none.
awaitable<result<resource_version>> informer_base::newest_after(resource_version version) {
  watch_options options;
  options.ns = options_.ns;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  options.resource_version = version.text();
  options.bookmarks = false;
  options.timeout = 1s;
  auto opened = co_await api_.open_watch(options_.collection, std::move(options));
  if (!opened) co_return opened.error();
  const std::unique_ptr<reactor::http::exchange> exchange = std::move(*opened);
  resource_version newest;
  std::string carry;
  std::size_t total = 0;
  while (total < probe_limit_bytes) {
    const auto piece = co_await exchange->read(options_.limits.probe_patience);
    if (!piece) co_return from_transport(piece.error(), doing("probe"));
    if (piece->empty()) break;
    total += piece->size();
    bool too_long = false;
    split_lines(carry, *piece, options_.limits.line_limit_bytes, too_long,
                [&](std::string_view line) {
                  const auto event = shared_parser().parse(line);
                  if (!event) return false;
                  const std::string_view type = (*event)["type"].text();
                  if (type == "ADDED" || type == "MODIFIED" || type == "DELETED")
                    newest = (*event)["object"]["metadata"]["resourceVersion"].text();
                  return true;
                });
    if (too_long) break;
  }
  co_return newest;
}

}  // namespace k8s
