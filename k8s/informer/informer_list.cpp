#include "k8s/client/apart.hpp"
#include "k8s/client/client.hpp"
#include "k8s/informer/informer_parts.hpp"
#include "k8s/informer/list_splitter.hpp"
#include "reactor/loop_slice.hpp"

namespace k8s {

using reactor::nanoseconds;

static constexpr std::size_t held_limit_bytes = 16 * 1024 * 1024;  // as much as a whole JSON answer

awaitable<result<void>> informer_base::read_page(list_options options, page& into) {  // borrowed
  const std::string doing_this = doing("list");
  auto opened = co_await api_.open_list(options_.collection, std::move(options));
  if (!opened) co_return opened.error();
  const std::unique_ptr<reactor::http::exchange> exchange = std::move(*opened);

  list_splitter splitter(limits().line_limit_bytes);
  bool begun = false, outer_seen = false;
  std::vector<reactor::wiped_string> held;   // objects that came before the list's version
  std::vector<reactor::wiped_string> large;  // to be parsed off the loop
  std::size_t held_bytes = 0;
  std::optional<fault> wrong;
  const auto take_value = [&](wire_value object) {
    if (!into.take(object)) wrong = no_room();
    const bool is_left_out = std::exchange(is_left_out_, false);
    if (!wrong && object.reading().problem && !is_left_out)
      wrong = malformed(*object.reading().problem);
    return !wrong;
  };
  const auto take = [&](std::string_view text) {
    if (text.size() > parsed_on_loop_bytes) {
      large.emplace_back(text);
      return true;
    }
    const discretion after(options_.collection);
    const auto object = shared_parser().parse(text);
    if (object) return take_value(*object);
    wrong = object.error();
    return false;
  };
  const auto read_outer = [&] {
    const auto outer = shared_parser().parse(splitter.outer());
    if (!outer) return;
    const wire_value metadata = (*outer)["metadata"];
    into.version = metadata["resourceVersion"].text();
    into.continue_token = metadata["continue"].text();
  };
  const auto on_object = [&](std::string_view text) {
    if (begun) return take(text);
    // Nothing is added to the text outside of the objects before the last of them has come.
    if (!std::exchange(outer_seen, true)) read_outer();
    if (into.version.empty()) {
      held.emplace_back(text);
      held_bytes += text.size() + sizeof(reactor::wiped_string);
      if (held_bytes > held_limit_bytes)
        wrong = malformed("the list's version comes after too many objects");
      return !wrong;
    }
    begun = true;
    into.refused = !into.begin(into.version);
    return !into.refused && take(text);
  };

  pacer pace(loop_);
  const reactor::steady_time began = loop_.now();
  std::uint64_t bytes = 0;
  for (;;) {
    const reactor::steady_time until = began + limits().list_allowance(bytes);
    const nanoseconds left = until - loop_.now();
    if (left <= nanoseconds{}) co_return too_slow(bytes);
    const auto piece = co_await exchange->read(std::min(left, limits().list_idle));
    if (!piece && piece.error().code == reactor::errc::timed_out && loop_.now() >= until)
      co_return too_slow(bytes);
    if (!piece) co_return from_transport(piece.error(), doing_this);
    if (piece->empty()) break;
    const std::size_t piece_bytes = piece->size();
    bytes += piece_bytes;
    watch_.counters().bytes += piece_bytes;
    pace.begin();
    const auto fed = splitter.feed(*piece, on_object);
    const bool full = pace.end(piece_bytes);
    if (!fed) co_return malformed(fed.error().detail);
    if (wrong) co_return *wrong;
    if (into.refused) co_return result<void>();
    buffered_ = splitter.buffer_bytes() + held_bytes;
    // From here on the piece may be gone.
    std::vector<reactor::wiped_string> apart_now;
    apart_now.swap(large);
    for (reactor::wiped_string& text : apart_now) {
      const auto object = co_await api_.off_loop().parse(std::move(text));
      if (!object->problem().empty()) co_return malformed(object->problem());
      if (!take_value(object->root())) co_return *wrong;
    }
    if (full) co_await reactor::loop_slice::yield();
  }
  buffered_ = held_bytes;
  const auto finished = splitter.finish();
  if (!finished) co_return malformed(finished.error().detail);
  const auto outer = shared_parser().parse(splitter.outer());
  if (!outer) co_return malformed("the list is not JSON: " + outer.error().detail);
  bool empty_rest = true;
  (*outer)["items"].elements([&](wire_value) { empty_rest = false; });
  if (!empty_rest) co_return malformed("the list has objects in a place where none belong");
  const wire_value metadata = (*outer)["metadata"];
  into.version = metadata["resourceVersion"].text();
  into.continue_token = metadata["continue"].text();
  if (outer->reading().problem) co_return malformed(*outer->reading().problem);
  if (into.version.empty()) co_return malformed("the list has no metadata.resourceVersion");
  if (!begun) into.refused = !into.begin(into.version);
  if (into.refused) co_return result<void>();
  for (reactor::wiped_string& text : held) {
    if (text.size() > parsed_on_loop_bytes) {
      const auto object = co_await api_.off_loop().parse(std::move(text));
      if (!object->problem().empty()) co_return malformed(object->problem());
      if (!take_value(object->root())) co_return *wrong;
      continue;
    }
    pace.begin();
    if (!take(text)) co_return *wrong;
    if (pace.end(text.size())) co_await reactor::loop_slice::yield();
  }
  shared_parser().shrink();
  co_return result<void>();
}

awaitable<std::optional<step>> informer_base::list_page(step s) {
  set_state(informer_state::listing);
  const bool first = s.continue_token.empty();
  if (first) {
    ++watch_.counters().lists;
    co_await make_room();
    begin_relist();
    left_out_.clear();
  }
  list_options options;
  options.ns = options_.ns;
  options.label_selector = options_.label_selector;
  options.field_selector = options_.field_selector;
  options.metadata_only = options_.metadata_only;
  options.limit = limits().page_limit;
  options.continue_token = s.continue_token;
  page p;
  p.begin = [this](const resource_version& version) { return !watch_.is_past(version); };
  std::string older;  // what a list of the history that we know cannot have
  p.take = [this, &older](wire_value object) {
    const taken t = put(object, origin::list, resource_version());
    if (t.outcome == put_outcome::older) older = t.version.text();
    return older.empty() && t.outcome != put_outcome::refused;
  };
  const reactor::steady_time asked = loop_.now();
  const auto read = co_await read_page(std::move(options), p);
  buffered_ = 0;
  if (!older.empty())
    co_return settle(*line_outcome::from_the_past(malformed(older_than_shown(older))));
  if (!read) {
    if (read.error().cancelled) co_return std::nullopt;
    co_return fail(read.error());
  }
  if (p.refused) {
    const ending past = line_outcome::from_the_past(
        malformed("the server answers with version " + p.version.text() + ", and had been at " +
                  watch_.highest().text()));
    co_return settle(*past);
  }
  if (first) note_named(p.version.text(), asked);
  if (p.continue_token.empty()) co_await sweep();
  if (!p.continue_token.empty() && watch_.pages_under_way() >= limits().most_pages)
    co_return fail(malformed("the list does not end"));
  step next = watch_.page_ended(p.version, std::move(p.continue_token));
  record_proof(loop_.now());
  if (next.what == step::action::watch) completed();
  co_return next;
}

awaitable<result<std::vector<std::string>>> informer_base::differences() {
  std::vector<std::string> found;
  std::vector<object_key> seen;
  page p;
  p.begin = [](const resource_version&) { return true; };
  p.take = [&](wire_value object) {
    if (std::string what = compare(object, seen); !what.empty()) found.push_back(std::move(what));
    return true;
  };
  do {
    list_options options;
    options.ns = options_.ns;
    options.label_selector = options_.label_selector;
    options.field_selector = options_.field_selector;
    options.metadata_only = options_.metadata_only;
    options.limit = limits().page_limit;
    options.continue_token = std::exchange(p.continue_token, {});
    const auto read = co_await read_page(std::move(options), p);
    if (!read) co_return read.error();
  } while (!p.continue_token.empty());
  for (const object_key& key : not_among(std::move(seen))) found.push_back(key.text() + " is gone");
  co_return found;
}

}  // namespace k8s
