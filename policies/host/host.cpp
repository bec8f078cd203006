// One class: packs found, tested, put in force and asked. Each step decides on the same table of
// what is in force and what was refused.
#include "policies/host/host.hpp"

#include "reactor/loop.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace policies {
namespace {

using reactor::awaitable;
using reactor::errc;
using reactor::fault;
using reactor::make_fault;
using reactor::result;

using namespace std::chrono_literals;

constexpr reactor::nanoseconds longest_reread = 5min;
constexpr double log_burst = 20, log_lines_a_second = 1;

/// Said by the operating system about files, or of a server that does not answer; not by us about
/// a pack.
bool may_be_otherwise_soon(const fault& f) {
  return f.code.category() == boost::system::system_category() ||
         f.code == make_error_code(errc::closed);
}

}  // namespace

std::string_view to_string(pack_event::kind k) {
  switch (k) {
    case pack_event::kind::loaded: return "loaded";
    case pack_event::kind::reloaded: return "reloaded";
    case pack_event::kind::refused: return "refused";
    case pack_event::kind::removed: return "removed";
  }
  return "";
}

std::string pack_event::message() const {
  std::string text = "policy pack " + (name.empty() ? folder : name);
  if (!version.empty()) text += " " + version;
  text += " " + std::string(to_string(what));
  if (reason.empty()) return text;
  text += ": ";
  if (!file.empty()) text += file + (line > 0 ? ":" + std::to_string(line) : "") + ": ";
  return text + reason;
}

struct host::entry {
  std::string folder;
  std::shared_ptr<const pack> current;  // null: never loaded
  pack_files seen;                      // what was looked at last, taken or refused
  reactor::wall_time loaded_at{};
  std::optional<policy_fault> fault;
  std::map<std::string, std::uint64_t> asked;  // by hook
  std::string refused;
  bool has_left = false;  // its folder is gone, and it stays in force
};

struct host::root {
  std::string path;                 // empty: the stock packs
  std::shared_ptr<pack_feed> feed;  // who brings them, when it is no folder
  std::string unread;               // why what is there now could not be read
  std::vector<entry> entries;
  std::unique_ptr<reactor::file_watch> watch;
  bool busy = false, again = false;
  bool asked = false;  // a look was asked for, after the last one that read it began

  /// The loaded packs as they are asked.
  std::vector<const entry*> ordered() const {
    std::vector<const entry*> all;
    for (const entry& e : entries) {
      if (e.current) all.push_back(&e);
    }
    std::sort(all.begin(), all.end(), [](const entry* a, const entry* b) {
      const manifest &x = a->current->about(), &y = b->current->about();
      return x.order != y.order ? x.order < y.order : x.name < y.name;
    });
    return all;
  }
  entry* find(const std::string& folder) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const entry& e) { return e.folder == folder; });
    return found == entries.end() ? nullptr : &*found;
  }
};

host::host(reactor::loop& l, options o) : loop_(l), options_(std::move(o)), tasks_(l) {
  for (const std::string& folder : options_.folders) {
    roots_.push_back(std::make_unique<root>());
    roots_.back()->path = folder;
    if (const auto by = options_.feeds.find(folder); by != options_.feeds.end())
      roots_.back()->feed = by->second;
  }
  if (options_.stock) roots_.push_back(std::make_unique<root>());
  if (!options_.record.empty()) recorder_ = std::make_unique<recorder>(l, options_.record);
}

host::~host() = default;

awaitable<result<void>> host::load() {
  if (recorder_) {
    auto opened = co_await recorder_->open();
    if (!opened) co_return opened.error();
  }
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    // What changes while we read counts as a change, so the watch comes first.
    if (!roots_[i]->path.empty() && !roots_[i]->feed && !roots_[i]->watch)
      roots_[i]->watch =
          std::make_unique<reactor::file_watch>(loop_, roots_[i]->path, options_.watch);
    auto looked = co_await look(i, reason::it_was_asked);
    if (!looked) co_return looked.error();
  }
  co_return result<void>();
}

void host::start() {
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    if (roots_[i]->watch || roots_[i]->feed)
      tasks_.start("follow policies in " + roots_[i]->path, follow(i));
  }
}

awaitable<void> host::stop() {
  co_await tasks_.cancel_and_join();
}

awaitable<void> host::reload() {
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    if (roots_[i]->path.empty()) continue;
    auto looked = co_await look(i, reason::it_was_asked);
    if (!looked) continue;  // reported as an event
  }
}

awaitable<void> host::follow(std::size_t root_index) {
  for (;;) {
    if (roots_[root_index]->feed)
      co_await roots_[root_index]->feed->changed();
    else
      co_await roots_[root_index]->watch->changed();
    auto looked = co_await look(root_index, reason::it_changed);
    // Reported as an event. The next change is the next chance, but files that could not even be
    // read may be readable without one: descriptors were short, or the disk was busy.
    for (reactor::nanoseconds wait = 10s; !looked && may_be_otherwise_soon(looked.error());
         wait = std::min(2 * wait, longest_reread)) {
      co_await loop_.sleep_for(wait);
      looked = co_await look(root_index, reason::it_changed);
    }
  }
}

/// Brings a root up to date. One at a time: a second request makes the first look again.
awaitable<result<void>> host::look(std::size_t root_index, reason why) {
  root& r = *roots_[root_index];
  r.asked = r.asked || why == reason::it_was_asked || r.feed;
  if (r.busy) {
    r.again = true;
    co_return result<void>();
  }
  // Cancellation throws through here, so the flag must not depend on reaching the end.
  struct busy_mark {
    bool& flag;
    explicit busy_mark(bool& f) : flag(f) { flag = true; }
    ~busy_mark() { flag = false; }
  } mark(r.busy);
  result<void> outcome;
  do {
    r.again = false;
    const auto read = [](const std::string& path) -> result<std::vector<pack_source>> {
      if (path.empty()) return stock_packs();
      return read_packs(path);
    };
    const std::shared_ptr<pack_feed> feed = r.feed;
    result<std::vector<pack_source>> sources = make_fault(errc::refused, {});
    if (feed)
      sources = co_await feed->read();
    else
      sources = co_await loop_.offload(read, r.path);
    if (sources) {
      r.unread.clear();
      why = std::exchange(r.asked, false) ? reason::it_was_asked : reason::it_changed;
      outcome = co_await take(root_index, why, std::move(*sources));
    } else {
      outcome = sources.error();
      r.unread = sources.error().message();
      ++refusals_;
      report(pack_event::kind::refused, r.path, nullptr, sources.error());
    }
  } while (r.again);
  if (on_looked) on_looked(r.path);
  co_return outcome;
}

awaitable<result<void>> host::take(std::size_t root_index, reason why,
                                   std::vector<pack_source> sources) {
  result<void> outcome;
  const author by = roots_[root_index]->path.empty() ? author::ourselves : author::stranger;
  std::set<std::string> folders;
  for (const pack_source& source : sources) folders.insert(source.folder);
  // One that has left does not keep its name: its folder may only have been renamed.
  const auto is_there = [&](const std::string& folder) { return folders.contains(folder); };
  bool took = false, waits_for_a_name = false;
  for (pack_source& source : sources) {
    co_await loop_.yield();  // comparing and copying a pack takes up to 1 ms
    entry* known = roots_[root_index]->find(source.folder);
    if (known != nullptr && std::exchange(known->has_left, false)) known->refused.clear();
    if (known != nullptr && !source.unreadable && known->seen == source.files) continue;
    result<std::shared_ptr<pack>> fresh = make_fault(errc::refused, {});
    if (source.unreadable) {
      fresh = *source.unreadable;
    } else {
      fresh = co_await examine(source.folder, source.files, by);
    }
    root& r = *roots_[root_index];
    bool name_is_taken = false;
    if (fresh) {
      for (const entry& e : r.entries) {
        if (e.folder != source.folder && e.current && is_there(e.folder) &&
            e.current->about().name == (*fresh)->about().name)
          fresh = name_is_taken_by(e.folder, source.folder, e.current->about().name);
        name_is_taken = !fresh;
        if (name_is_taken) break;
      }
    }
    entry* e = r.find(source.folder);
    if (e == nullptr) {
      r.entries.push_back({.folder = source.folder});
      e = &r.entries.back();
    }
    // What was read before something stood in the way is no state of the pack: the rest of it may
    // be all that is left next time. And a name may become free without an edit of this one.
    e->seen = source.unreadable || name_is_taken ? pack_files() : std::move(source.files);
    waits_for_a_name = waits_for_a_name || name_is_taken;
    if (!fresh) {
      ++refusals_;
      e->refused = fresh.error().message();
      report(pack_event::kind::refused, e->folder, e->current.get(), fresh.error());
      if (outcome) outcome = fresh.error();
      continue;
    }
    took = true;
    const bool first = e->current == nullptr;
    e->current = std::move(*fresh);
    e->loaded_at = loop_.wall();
    e->fault.reset();
    e->refused.clear();
    if (!first) ++reloads_;
    report(first ? pack_event::kind::loaded : pack_event::kind::reloaded, e->folder,
           e->current.get());
  }
  forget_those_that_left(root_index, why, folders);
  // Who took another name may have left the one that another waits for.
  if (waits_for_a_name && took) roots_[root_index]->again = true;
  co_return outcome;
}

void host::forget_those_that_left(std::size_t root_index, reason why,
                                  const std::set<std::string>& folders) {
  root& r = *roots_[root_index];
  const auto has_left = [&](const entry& e) { return !folders.contains(e.folder); };
  const auto stays = [&](const entry& e) {
    if (!e.current || why == reason::it_was_asked) return false;
    return std::ranges::none_of(r.entries, [&](const entry& other) {
      return !has_left(other) && other.current &&
             other.current->about().name == e.current->about().name;
    });
  };
  std::vector<entry> gone, kept;
  for (entry& e : r.entries) {
    if (!has_left(e)) {
      kept.push_back(e);
    } else if (!stays(e)) {
      gone.push_back(e);
    } else {
      kept.push_back(e);
      if (std::exchange(kept.back().has_left, true)) continue;
      const fault left =
          make_fault(errc::not_found, "read policy pack " + e.folder,
                     "its folder is gone; a reload (SIGHUP) takes the pack out of force");
      kept.back().refused = left.message();
      ++refusals_;
      report(pack_event::kind::refused, e.folder, e.current.get(), left);
    }
  }
  r.entries = std::move(kept);
  for (const entry& e : gone) report(pack_event::kind::removed, e.folder, e.current.get());
}

/// Loads a pack aside, with its tests.
awaitable<result<std::shared_ptr<pack>>> host::examine(std::string folder, pack_files files,
                                                       author by) {
  if (auto known = options_.shelf ? options_.shelf->find(folder, files, by) : nullptr)
    co_return known;
  // Our own are the bytes that the build has tested; every start, and every run of a simulation,
  // would run them again.
  const bool tested = by != author::ourselves && options_.run_tests;
  auto loaded = co_await pack::load(loop_, folder, files, options_.limits, by);
  if (loaded && tested) {
    auto passed = co_await pass_tests(loop_, folder, std::move(files), options_.limits);
    if (!passed) co_return passed.error();
  }
  if (loaded && options_.shelf) options_.shelf->keep(*loaded, by);
  co_return loaded;
}

void host::report(pack_event::kind what, const std::string& folder, const pack* p,
                  const std::optional<fault>& why) {
  if (!on_event) return;
  pack_event event{.what = what, .folder = folder};
  if (p != nullptr) {
    event.name = p->about().name;
    event.version = p->about().version;
    event.digest = p->digest();
  }
  if (why) {
    placed_reason place = take_apart(why->detail.empty() ? why->message() : why->detail);
    event.file = std::move(place.file);
    event.line = place.line;
    event.reason = std::move(place.reason);
    if (p != nullptr) event.reason += "; the loaded version stays";
  }
  on_event(event);
}

result<std::shared_ptr<const pack>> host::select(const std::string& hook, const subject& s) const {
  bool named = false;
  std::vector<std::string> hidden;
  for (const auto& r : roots_) {
    for (const entry* e : r->ordered()) {
      const manifest& about = e->current->about();
      if (std::find(hidden.begin(), hidden.end(), about.name) != hidden.end()) continue;
      if (!r->path.empty()) hidden.push_back(about.name);
      if (!s.pack.empty()) {
        if (about.name != s.pack) continue;
        named = true;
        if (e->current->has(hook)) return e->current;
      } else if (e->current->has(hook) && e->current->applies_to(s)) {
        return e->current;
      }
    }
  }
  if (s.pack.empty()) return make_fault(errc::not_found, hook, "no policy pack applies");
  return make_fault(errc::not_found, hook,
                    named ? "the policy pack " + s.pack + " has no " + hook
                          : "there is no policy pack named " + s.pack);
}

std::vector<std::shared_ptr<const pack>> host::applying(const std::string& hook,
                                                        const subject& s) const {
  std::vector<std::shared_ptr<const pack>> all;
  if (!s.pack.empty()) {
    if (auto named = select(hook, s)) {
      all.push_back(std::move(*named));
      return all;
    }
  }
  std::vector<std::string> hidden;
  for (const auto& r : roots_) {
    for (const entry* e : r->ordered()) {
      const manifest& about = e->current->about();
      if (std::find(hidden.begin(), hidden.end(), about.name) != hidden.end()) continue;
      if (!r->path.empty()) hidden.push_back(about.name);
      if (e->current->has(hook) && e->current->applies_to(s)) all.push_back(e->current);
    }
  }
  return all;
}

awaitable<result<decision>> host::call(std::string hook, subject s, std::vector<argument> arguments,
                                       std::int64_t instructions, judge accept) {
  auto chosen = select(hook, s);
  if (!chosen) co_return chosen.error();
  if (!takes_notes()) {
    auto made = co_await ask(std::move(*chosen), std::move(hook), std::move(arguments),
                             instructions, std::move(accept));
    co_return made;
  }
  question_note n;
  n.hook = hook;
  n.about = std::move(s);
  n.arguments = arguments;
  n.instructions = instructions;
  const std::shared_ptr<const pack> asked = *chosen;
  auto made =
      co_await ask(asked, std::move(hook), std::move(arguments), instructions, std::move(accept));
  n.pack = asked->about().name;
  n.version = asked->about().version;
  n.digest = asked->digest();
  if (made)
    n.answer = made->answer;
  else
    n.failed = made.error();
  co_await note(std::move(n));
  co_return made;
}

awaitable<void> host::note(question_note n) {
  n.at = loop_.wall();
  if (on_question) on_question(n);
  if (!recorder_) co_return;
  auto written = co_await recorder_->write(std::move(n));
  const bool failed = !written, failed_before = std::exchange(record_failed_, failed);
  if (failed == failed_before || !on_log) co_return;
  on_log("record", failed ? written.error().message() +
                                ": questions are missing from now on, until it can be written again"
                          : "it is written again; " + std::to_string(*written) +
                                " questions before are missing");
}

awaitable<result<decision>> host::ask(std::shared_ptr<const pack> p, std::string hook,
                                      std::vector<argument> arguments, std::int64_t instructions,
                                      judge accept) {
  std::shared_ptr<value> kept;
  if (accept && takes_notes()) {
    kept = std::make_shared<value>();
    accept = [inner = std::move(accept), kept](const value& proposed) {
      *kept = proposed;
      return inner(proposed);
    };
  }
  for (const auto& r : roots_)
    for (entry& e : r->entries)
      if (e.current == p) ++e.asked[hook];
  auto answered =
      co_await pack::call(p, hook, std::move(arguments), instructions, std::move(accept));
  if (!answered) {
    note(p, hook, answered.error());
    co_return answered.error();
  }
  tell(*p, answered->log);
  if (!answered->accepted) {
    fault refused =
        reactor::while_doing("policy " + p->about().name + ": " + hook, answered->accepted.error());
    note(p, hook, refused);
    co_return refused;
  }
  note(p, hook, std::nullopt);
  decision made{p->about().name, p->about().version, p->digest(), std::move(answered->answer),
                answered->cost};
  if (kept) made.answer = std::move(kept);
  co_return std::move(made);
}

/// A policy that logs at every question must not fill the log of everybody: a burst, then a line a
/// second.
void host::tell(const pack& p, const std::vector<std::string>& lines) {
  if (!on_log || lines.empty()) return;
  log_allowance& may = logs_[p.about().name];
  const reactor::steady_time now = loop_.now();
  const double earned = std::chrono::duration<double>(now - may.at).count() * log_lines_a_second;
  may.left = std::min(log_burst, may.left + earned);
  may.at = now;
  for (const std::string& line : lines) {
    if (may.left < 1) {
      ++may.kept_back;
      continue;
    }
    may.left -= 1;
    if (may.kept_back > 0)
      on_log(p.about().name, "(" + std::to_string(may.kept_back) + " lines were kept back)");
    may.kept_back = 0;
    on_log(p.about().name, line);
  }
}

void host::note(const std::shared_ptr<const pack>& p, const std::string& hook,
                const std::optional<fault>& failed) {
  if (failed) ++faults_;
  for (const auto& r : roots_) {
    for (entry& e : r->entries) {
      if (e.current != p) continue;  // replaced meanwhile: its failures are history
      if (!failed) {
        if (e.fault && e.fault->hook == hook) e.fault.reset();
        return;
      }
      if (!e.fault) e.fault = policy_fault{{}, hook, loop_.wall(), 0};
      e.fault->last = *failed;
      e.fault->hook = hook;
      ++e.fault->count;
      return;
    }
  }
}

std::vector<pack_status> host::status() const {
  std::vector<pack_status> all;
  std::set<std::string> hidden;
  for (const auto& r : roots_) {
    std::vector<const entry*> here = r->ordered();
    for (const entry& e : r->entries)
      if (!e.current) here.push_back(&e);
    std::set<std::string> names;
    for (const entry* e : here) {
      pack_status s{.folder = e->folder,
                    .stock = r->path.empty(),
                    .from = r->path,
                    .loaded_at = e->loaded_at,
                    .fault = e->fault,
                    .refused = r->unread.empty() ? e->refused : r->unread};
      if (e->current) {
        s.name = e->current->about().name;
        s.version = e->current->about().version;
        s.digest = e->current->digest();
        s.order = e->current->about().order;
        s.hooks = e->current->about().hooks;
        s.asked = e->asked;
        s.hidden = hidden.contains(s.name);
        names.insert(s.name);
      }
      all.push_back(std::move(s));
    }
    hidden.merge(names);
  }
  return all;
}

}  // namespace policies
