#include "releases/library.hpp"

#include "formats/version_range.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/reason.hpp"
#include "releases/rules/consent.hpp"

#include <algorithm>
#include <optional>

namespace releases {

namespace docs = policies::releases;

namespace {

constexpr std::size_t most_answers = 4'096;

const policies::subject who_asks{"releases", {}, {}, {}};

/// Where the version begins in "cloud-director-34.5.0"; the name's length when there is none, or no
/// provider before it.
std::size_t version_in(std::string_view name) {
  const std::size_t digit = name.find_first_of("0123456789");
  return digit == name.npos || digit < 2 || name[digit - 1] != '-' ? name.size() : digit;
}

std::string key_of(const docs::pool_facts& p) {
  std::string key;
  for (const std::string* part : {&p.kind, &p.architecture, &p.channel, &p.suffix})
    key += *part + '\n';
  return key;
}

formats::version_view place_of(const book& b) {
  return formats::view_strict_version(b.version).value_or(formats::version_view());
}

reactor::fault gone(const std::string& release) {
  return reactor::make_fault(reactor::errc::not_found, "find Release " + release,
                             "it is not at home, or cannot be read");
}

}  // namespace

library::library(reactor::loop& l, policies::host& packs)
    : loop_(l), packs_(packs), moved_(l), tasks_(l) {}

void library::start() {
  tasks_.start("read Releases", read_all());
}

reactor::awaitable<void> library::stop() {
  stopped_ = true;
  co_await tasks_.cancel_and_join();
}

void library::put(const std::string& name, std::string document) {
  unread_.insert_or_assign(name, std::move(document));
  ++revision_;
  moved_.wake_all();
}

void library::remove(const std::string& name) {
  unread_.erase(name);
  books_.erase(name);
  changed();
}

void library::consent_to(std::string_view text) {
  if (text == consent_) return;
  consent_ = text;
  auto read = docs::read_waivers(text.empty() ? std::string_view("[]") : text, "waivers.yaml");
  waivers_ = read ? std::move(*read) : std::vector<docs::waiver>();
  unreadable_consent_ = read ? std::string() : read.error().message();
  changed();
}

std::string library::consent_problem() const {
  if (!unreadable_consent_.empty()) return unreadable_consent_;
  std::vector<std::string> names;
  for (const auto& [name, read] : books_) names.push_back(name);
  const auto lost = docs::lost_waivers(waivers_, names, {});
  return lost.empty() ? std::string() : lost.front().evidence + ": " + lost.front().why;
}

void library::reconsider() {
  changed();
}

void library::changed() {
  // Who waits for an answer gets it, and is told to ask again.
  images_.clear();
  steps_.clear();
  ++revision_;
  moved_.wake_all();
  if (is_read() && on_change) on_change();
}

reactor::awaitable<void> library::read_all() {
  for (;;) {
    while (unread_.empty()) (void)co_await moved_.wait();
    const std::string name = unread_.begin()->first;
    const std::string text = unread_.begin()->second;
    const auto job = [](const std::string& what, const std::string& of) {
      return docs::read_document(what, "Release/" + of);
    };
    auto read = co_await loop_.offload(job, text, name);
    const auto still = unread_.find(name);
    if (still == unread_.end() || still->second != text) continue;
    auto b = std::make_shared<book>();
    b->name = name;
    const std::size_t digit = version_in(name);
    if (digit < name.size()) {
      b->provider = name.substr(0, digit - 1);
      b->version = name.substr(digit);
    }
    if (read)
      b->content = std::make_shared<const docs::document>(std::move(*read));
    else
      b->problem = reactor::reason_of(read.error());
    books_.insert_or_assign(name, std::move(b));
    unread_.erase(still);
    if (unread_.empty()) changed();
  }
}

reactor::awaitable<bool> library::read(reactor::steady_time deadline) {
  while (!unread_.empty() && !stopped_) {
    const reactor::woken how = co_await moved_.wait(deadline);
    if (how == reactor::woken::by_deadline) break;
  }
  co_return unread_.empty();
}

std::shared_ptr<const book> library::find(std::string_view name) const {
  const auto found = books_.find(name);
  return found == books_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const book>> library::of(std::string_view provider) const {
  std::vector<std::shared_ptr<const book>> found;
  for (auto at = books_.lower_bound(std::string(provider) + "-"); at != books_.end(); ++at) {
    if (!at->first.starts_with(provider)) break;
    if (at->second->provider == provider) found.push_back(at->second);
  }
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) {
    return formats::compare_versions(place_of(*a), place_of(*b)) < 0;
  });
  return found;
}

std::vector<std::string> library::providers_of(std::string_view version) const {
  std::vector<std::string> found;
  for (const auto& [name, b] : books_)
    if (b->version == version && !b->provider.empty()) found.push_back(b->provider);
  return found;
}

template <class Answer>
reactor::awaitable<void> library::carry_out(
    questions<Answer>& among, std::string key, std::shared_ptr<question<Answer>> q,
    std::function<reactor::awaitable<reactor::result<Answer>>()> ask) {
  // Who waits is told, also when this is cancelled.
  struct told {
    question<Answer>& q;
    ~told() {
      if (!q.answer) q.answer = reactor::make_fault(reactor::errc::closed, "ask a policy");
      q.answered.set();
    }
  } const end{*q};
  auto answer = co_await ask();
  // What failed is asked again by the next one.
  const auto kept = among.find(key);
  if (!answer && kept != among.end() && kept->second == q) among.erase(kept);
  q->answer = std::move(answer);
}

template <class Answer>
reactor::awaitable<reactor::result<Answer>> library::once(
    questions<Answer>& among, std::string key,
    std::function<reactor::awaitable<reactor::result<Answer>>()> ask) {
  if (stopped_) co_return reactor::make_fault(reactor::errc::closed, "ask a policy");
  std::shared_ptr<question<Answer>> q;
  if (const auto found = among.find(key); found != among.end()) {
    q = found->second;
  } else {
    if (among.size() >= most_answers) among.clear();
    q = std::make_shared<question<Answer>>(loop_);
    among.emplace(key, q);
    // No waiting caller owns it: a cluster that leaves takes no answer from the others.
    tasks_.start("ask about Releases", carry_out(among, std::move(key), q, std::move(ask)));
  }
  if (!q->answered.is_set()) (void)co_await q->answered.wait();
  co_return *q->answer;
}

reactor::awaitable<library::image_answer> library::image(std::string release,
                                                         docs::pool_facts pool) {
  const auto b = find(release);
  if (!b || !b->content) co_return gone(release);
  std::string key = release + '\n' + key_of(pool);
  pool.name.clear();
  std::function<reactor::awaitable<image_answer>()> ask =
      [this, content = b->content, pool]() -> reactor::awaitable<image_answer> {
    auto q = std::make_shared<docs::map_question>();
    q->release = content;
    q->pools.push_back(pool);
    policies::subject who = who_asks;
    auto answer = co_await docs::map_release(packs_, std::move(who), std::move(q));
    co_return answer;
  };
  auto answer = co_await once<docs::map_answer>(images_, std::move(key), std::move(ask));
  if (answer) {
    answer->findings =
        docs::with_consent(std::move(answer->findings), waivers_, *b->content, loop_.wall());
  }
  co_return answer;
}

reactor::awaitable<library::step_answer> library::step(std::string base, std::string release,
                                                       docs::pool_facts pool) {
  const auto to = find(release);
  const auto from = base.empty() ? nullptr : find(base);
  if (!to || !to->content) co_return gone(release);
  if (!base.empty() && (!from || !from->content)) co_return gone(base);
  std::string key = base + '\n' + release + '\n' + key_of(pool);
  pool.name.clear();
  std::function<reactor::awaitable<step_answer>()> ask =
      [this, from, to, pool]() -> reactor::awaitable<step_answer> {
    auto q = std::make_shared<docs::diff_question>();
    if (from) q->base = from->content;
    q->release = to->content;
    q->pools.push_back(pool);
    q->within = "folder";  // each Release is judged, and no folder of them
    std::vector<std::shared_ptr<const docs::document>> others;
    for (const auto& other : of(to->provider))
      if (other->content) others.push_back(other->content);
    q->others = std::move(others);
    policies::subject who = who_asks;
    auto answer = co_await docs::diff_releases(packs_, std::move(who), std::move(q));
    co_return answer;
  };
  auto answer = co_await once<docs::diff_answer>(steps_, std::move(key), std::move(ask));
  if (answer) {
    answer->findings =
        docs::with_consent(std::move(answer->findings), waivers_, *to->content, loop_.wall());
    answer->verdict = docs::decide(answer->findings);
  }
  co_return answer;
}

}  // namespace releases
