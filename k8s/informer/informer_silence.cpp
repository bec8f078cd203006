#include "k8s/client/apart.hpp"
#include "k8s/client/client.hpp"
#include "k8s/informer/informer_parts.hpp"
#include "reactor/turn.hpp"

#include <algorithm>

namespace k8s {

using reactor::nanoseconds;
using reactor::steady_time;

namespace {

constexpr nanoseconds probe_poll = 1s;     // how often a reader looks for the answer of a probe
constexpr nanoseconds probe_grace = 2s;    // what a probe saw may be a little ahead of the stream
constexpr nanoseconds probe_longest = 3s;  // reading what was asked to end after one second
constexpr std::size_t probe_limit_bytes = 1024 * 1024;

}  // namespace

nanoseconds informer_base::silence() const noexcept {
  return attention_ == attention::close ? limits().silence : limits().unattended_silence;
}

void informer_base::attend(attention how) {
  if (std::exchange(attention_, how) == how || how == attention::none) return;
  attended_since_ = loop_.now();
  // Its reader waits for as long as nobody cared.
  if (const auto stream = stream_.lock(); stream && stream->exchange) stream->exchange->hurry();
}

bool informer_base::may_be_acted_upon() const noexcept {
  return attention_ == attention::close && is_synced() &&
         loop_.now() - current_.at() <= limits().stale_after(limits().silence);
}

bool informer_base::is_old() const noexcept {
  const steady_time known =
      attention_ == attention::close ? std::max(current_.at(), attended_since_) : current_.at();
  return loop_.now() - known > limits().stale_after(silence());
}

/// When to ask for a proof, or to look at what was asked; the initial events are expected to flow.
steady_time informer_base::next_look(const stream_run& stream) const {
  const watch_limits& limits = watch_.limits();
  if (stream.initial)
    return std::min({stream.last_byte + limits.silence,
                     stream.opened + limits.list_allowance(stream.bytes), stream.ends_by});
  if (stream.probing || stream.ahead) return std::max(stream.looked, stream.probed) + probe_poll;
  const steady_time look =
      std::max({current_.at() + silence(), stream.probed + silence(), stream.opened + probe_poll});
  return std::min(look, stream.ends_by);
}

/// Nothing came for a while. Starts a probe, or looks at what one has found.
informer_base::ending informer_base::judge_silence(std::shared_ptr<stream_run> stream) {
  const steady_time now = stream->looked = loop_.now();
  const watch_limits& limits = watch_.limits();
  const auto give_up = [&](std::string_view why) {
    ++watch_.counters().silent;
    fault f;
    f.code = errc::unavailable;
    f.doing = doing("watch");
    f.detail = why;
    return line_outcome::failure(std::move(f));
  };
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
  if (stream->ahead) {
    if (!(watch_.version() < *stream->ahead)) {
      stream->ahead.reset();
    } else if (now - stream->probed >= probe_grace) {
      return give_up("the server has newer events than this stream delivers");
    }
    return nullptr;
  }
  if (stream->probing && !stream->answer) {
    if (now - std::max(current_.at(), stream->probed) < limits.probe_patience) return nullptr;
    return give_up("the server is silent");
  }
  if (stream->answer) {
    const result<resource_version> answer = std::move(*stream->answer);
    stream->answer.reset();
    stream->probing = false;
    stream->probed = now;
    if (!answer) {
      // Any answer of a server shows that it is there; what is wrong with it concerns the next
      // request.
      if (answer.error().code == errc::unavailable && answer.error().http_status == 0)
        return give_up("the server is silent, and asked for a sign of life: " +
                       answer.error().detail);
      return nullptr;
    }
    if (!watch_.probed(*answer)) stream->ahead = *answer;
    record_proof();
    return nullptr;
  }
  if (now >= next_look(*stream)) {
    ++watch_.counters().probes;
    stream->probing = true;
    stream->probed = now;
    stream->probe = tasks_.start(doing("probe"), probe_server(stream));
  }
  return nullptr;
}

/// Asks about this very stream, over another connection: that the server answers somebody says
/// nothing about it.
awaitable<void> informer_base::probe_server(std::shared_ptr<stream_run> stream) {
  auto answer = co_await newest_after(watch_.version());
  if (!answer && answer.error().cancelled) co_return;
  stream->answer = std::move(answer);
}

/// The version of the last event after `version`, asked over another connection; empty when there
/// is none.
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
  reactor::wiped_string carry;
  std::vector<reactor::wiped_string> lines;
  std::size_t total = 0;
  const steady_time until = loop_.now() + probe_longest;
  while (total < probe_limit_bytes && loop_.now() < until) {
    const auto piece = co_await exchange->read(probe_longest);
    // It answered, and does not end when it was asked to: that is an answer, too.
    if (!piece && piece.error().code == reactor::errc::timed_out) break;
    if (!piece) co_return from_transport(piece.error(), doing("probe"));
    if (piece->empty()) break;
    total += piece->size();
    bool too_long = false;
    split_lines(carry, *piece, limits().line_limit_bytes, too_long, [&](std::string_view line) {
      lines.emplace_back(line);
      return true;
    });
    if (too_long) break;
  }
  pacer pace(loop_);
  const auto look_at = [&newest](wire_value event) {
    const std::string_view type = event["type"].text();
    if (type == "ADDED" || type == "MODIFIED" || type == "DELETED")
      newest = event["object"]["metadata"]["resourceVersion"].text();
  };
  for (reactor::wiped_string& line : lines) {
    const std::size_t bytes = line.size();
    pace.begin();
    if (bytes > parsed_on_loop_bytes) {
      const auto event = co_await api_.off_loop().parse(std::move(line));
      if (!event->problem().empty()) co_return malformed(event->problem());
      look_at(event->root());
    } else {
      const discretion after(options_.collection);
      const auto event = shared_parser().parse(line);
      if (!event) co_return malformed(event.error().detail);
      look_at(*event);
    }
    if (pace.end(bytes)) co_await reactor::turn::give_way();
  }
  co_return newest;
}

}  // namespace k8s
