#pragma once

#include "reactor/loop.hpp"
#include "registry/tag_reader.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bootc::testing {

/// Answers for registries: what each tag names now, or one failure for all.
class scripted_tags final : public registry::tag_source {
public:
  explicit scripted_tags(reactor::loop& l) : loop_(l) {}

  std::map<std::string, std::string> now;  // "quay.io/example/os:latest" → digest
  std::optional<registry::fault> failure;
  reactor::nanoseconds takes = std::chrono::milliseconds(10);

  std::vector<std::string> asked, known, secrets;
  std::size_t under_way = 0, most_of_one = 0;
  int rests = 0;

  reactor::awaitable<registry::answer<std::string>> digest_of(
      registry::image_ref of, std::string known_digest,
      std::shared_ptr<const registry::pull_secret> with) override {
    const std::string tag = of.name + ":" + of.effective_tag();
    asked.push_back(tag);
    known.push_back(std::move(known_digest));
    secrets.push_back(with ? std::string(with->config.reveal()) : std::string());
    struct counted {
      std::size_t &all, &one;
      counted(std::size_t& a, std::size_t& o) : all(a), one(o) { ++all, ++one; }
      ~counted() { --all, --one; }
    } const here(under_way, each_[tag]);
    most_of_one = std::max(most_of_one, each_[tag]);
    co_await loop_.sleep_for(takes);
    if (failure) co_return *failure;
    const auto found = now.find(tag);
    if (found == now.end())
      co_return registry::failed(registry::errc::not_found, "manifest unknown");
    co_return found->second;
  }
  reactor::awaitable<void> rest() override {
    ++rests;
    co_return;
  }

private:
  reactor::loop& loop_;
  std::map<std::string, std::size_t> each_;
};

}  // namespace bootc::testing
