#include "bootc/tags/tag_watcher.hpp"

#include "reactor/loop.hpp"

#include <algorithm>

namespace bootc {
namespace {

using namespace std::chrono_literals;

std::string key_of(const tag_watcher::tag_request& w) {
  return w.image.name + ":" + w.image.effective_tag() + "@" + w.image.digest + " " +
         (w.secret ? w.secret->id : "");
}

}  // namespace

tag_watcher::tag_watcher(reactor::loop& l, registry::tag_source& source, settings s,
                         reactor::logger log)
    : loop_(l), source_(source), settings_(s), log_(std::move(log)), changed_(l) {}

/// Up to a tenth less than the interval.
reactor::nanoseconds tag_watcher::pause() const {
  const double part = 0.9 + 0.1 * loop_.random().fraction();
  return reactor::nanoseconds(
      static_cast<std::int64_t>(static_cast<double>(settings_.interval.count()) * part));
}

void tag_watcher::schedule(const std::string& key, tag& t, reactor::steady_time due) {
  due_.erase({t.due, key});
  t.due = due;
  due_.emplace(due, key);
  t.answer.next = loop_.wall() + (due - loop_.now());
  changed_.wake_all();
}

void tag_watcher::follow(const std::string& who, tag_request w) {
  const std::string key = key_of(w);
  const auto before = followed_.find(who);
  if (before != followed_.end() && before->second == key) return;
  leave(who);
  followed_[who] = key;
  tag_ptr& known = tags_[key];
  const bool fresh = !known;
  if (fresh) known = std::make_shared<tag>();
  known->followers[who] = std::move(w.asked);
  if (!fresh) return;
  known->answer.ref = w.ref;
  // Another clock may have written it.
  const auto lately = w.not_before ? std::clamp<reactor::nanoseconds>(*w.not_before - loop_.wall(),
                                                                      0s, settings_.interval)
                                   : reactor::nanoseconds::zero();
  known->asks = std::move(w);
  known->asks.asked = nullptr;
  schedule(key, *known, loop_.now() + lately);
  if (tasks_) return;
  tasks_ = std::make_unique<reactor::task_group>(loop_);
  tasks_->start("tags", run());
}

void tag_watcher::leave(const std::string& who) {
  const auto found = followed_.find(who);
  if (found == followed_.end()) return;
  const std::string key = found->second;
  followed_.erase(found);
  const auto known = tags_.find(key);
  known->second->followers.erase(who);
  if (!known->second->followers.empty()) return;
  due_.erase({known->second->due, key});
  tags_.erase(known);
}

awaitable<void> tag_watcher::leave_all(std::string prefix) {
  for (auto at = followed_.lower_bound(prefix);
       at != followed_.end() && at->first.starts_with(prefix);) {
    const std::string who = (at++)->first;
    leave(who);
  }
  if (idle()) co_await stop();
}

std::optional<tag_resolution> tag_watcher::of(const std::string& who) const {
  const auto found = followed_.find(who);
  if (found == followed_.end()) return std::nullopt;
  return tags_.at(found->second)->answer;
}

awaitable<void> tag_watcher::run() {
  for (;;) {
    while (!due_.empty() && due_.begin()->first <= loop_.now() && asking_ < settings_.at_once) {
      const std::string key = due_.begin()->second;
      due_.erase(due_.begin());
      const tag_ptr t = tags_.at(key);
      // Not again before this one has ended, however long that takes.
      ++asking_;
      tasks_->start("tag " + key, ask(key, t));
    }
    const bool full = asking_ >= settings_.at_once;
    const auto next = due_.empty() || full ? reactor::never : due_.begin()->first;
    (void)co_await changed_.wait(next);
  }
}

awaitable<void> tag_watcher::ask(std::string key, tag_ptr t) {
  struct ended {
    tag_watcher& of;
    ~ended() {
      --of.asking_;
      of.changed_.wake_all();
    }
  } const end{*this};
  ++questions_;
  registry::image_ref image = t->asks.image;
  std::string known = t->answer.digest.empty() ? t->asks.known : t->answer.digest;
  auto secret = t->asks.secret;
  auto answered = co_await source_.digest_of(std::move(image), std::move(known), std::move(secret));
  if (!answered && answered.error().cancelled) co_return;
  const auto still = tags_.find(key);
  if (still == tags_.end() || still->second != t) co_return;
  auto wait = pause();
  if (!answered && answered.error().retry_after)
    wait = std::clamp<reactor::nanoseconds>(*answered.error().retry_after, wait, 24h);
  note(*t, std::move(answered));
  schedule(key, *t, loop_.now() + wait);
  const auto followers = t->followers;
  for (const auto& [who, asked] : followers)
    if (asked) asked();
}

void tag_watcher::note(tag& t, registry::answer<std::string> answered) {
  if (answered) {
    if (!t.answer.digest.empty() && t.answer.digest != *answered)
      log_.info("a tag names another image", {{"ref", t.answer.ref}, {"digest", *answered}});
    t.answer.digest = std::move(*answered);
    t.answer.error.clear();
    t.answer.is_absent = false;
    return;
  }
  if (t.answer.error.empty())
    log_.warning("a tag cannot be resolved",
                 {{"ref", t.answer.ref}, {"why", answered.error().text}});
  t.answer.error = answered.error().text;
  t.answer.is_absent = answered.error().code == registry::errc::not_found;
}

awaitable<void> tag_watcher::stop() {
  if (!tasks_) co_return;
  // Taken out first: a follower that comes meanwhile begins again.
  const auto ending = std::exchange(tasks_, nullptr);
  tags_.clear();
  followed_.clear();
  due_.clear();
  co_await ending->cancel_and_join();
  if (!tasks_) co_await source_.rest();
}

}  // namespace bootc
