#pragma once

#include "bootc/tags/tag_resolution.hpp"
#include "reactor/log.hpp"
#include "reactor/task_group.hpp"
#include "reactor/waiters.hpp"
#include "registry/tag_reader.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

namespace reactor {
class loop;
}

namespace bootc {

using reactor::awaitable;

/// Asks registries again and again what tags name, once for all pools of all clusters that follow
/// the same tag with the same credential.
/// Pace     a new tag at once, unless it was asked lately; then each interval, up to a tenth
///          earlier, so that tags which began together do not stay together. A registry that names
///          a longer pause is given it.
/// Bounds   one question at a time for a tag and credential, `at_once` in all; each request has its
///          deadline.
/// Errors   the last good digest stays; the error stands beside it until a question is answered.
/// Lifetime loop and source outlive it; co_await stop() before destruction.
class tag_watcher {
public:
  struct settings {
    reactor::nanoseconds interval = std::chrono::minutes(5);
    std::size_t at_once = 16;
  };
  struct tag_request {
    registry::image_ref image;
    std::string ref;                                      // as it is written
    std::shared_ptr<const registry::pull_secret> secret;  // null: anonymous
    std::string known;                                    // what it is believed to name
    std::optional<reactor::wall_time> not_before;  // asked lately, by a process before this one
    std::function<void()> asked;  // called after each question, whatever came of it
  };

  tag_watcher(reactor::loop& l, registry::tag_source& source, settings s, reactor::logger log = {});
  tag_watcher(const tag_watcher&) = delete;
  tag_watcher& operator=(const tag_watcher&) = delete;

  /// From now on `who` follows this tag, and no other. No effect while he does already.
  void follow(const std::string& who, tag_request w);
  void leave(const std::string& who);
  /// Everybody whose name begins like this leaves; the last one closes the connections.
  awaitable<void> leave_all(std::string prefix);
  /// Nothing for who follows none.
  std::optional<tag_resolution> of(const std::string& who) const;

  bool idle() const noexcept { return tags_.empty(); }
  std::size_t tags() const noexcept { return tags_.size(); }
  std::uint64_t questions() const noexcept { return questions_; }
  /// Ends every question; it may be followed again afterwards.
  awaitable<void> stop();

private:
  struct tag {
    tag_request asks;
    tag_resolution answer;
    reactor::steady_time due{};
    bool asking = false;
    std::map<std::string, std::function<void()>> followers;
  };
  using tag_ptr = std::shared_ptr<tag>;
  awaitable<void> run();
  awaitable<void> ask(std::string key, tag_ptr t);
  reactor::nanoseconds pause() const;
  void schedule(const std::string& key, tag& t, reactor::steady_time due);
  void note(tag& t, registry::answer<std::string> answered);

  reactor::loop& loop_;
  registry::tag_source& source_;
  settings settings_;
  reactor::logger log_;
  std::map<std::string, tag_ptr> tags_;          // by name, tag and credential
  std::map<std::string, std::string> followed_;  // by follower: the key of his tag
  std::set<std::pair<reactor::steady_time, std::string>> due_;
  std::size_t asking_ = 0;
  std::uint64_t questions_ = 0;
  reactor::waiters changed_;
  std::unique_ptr<reactor::task_group> tasks_;  // while anybody follows
};

}  // namespace bootc
