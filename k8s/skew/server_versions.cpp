#include "k8s/skew/server_versions.hpp"

#include "k8s/client/discovery.hpp"
#include "reactor/loop.hpp"

#include <algorithm>

namespace k8s::skew {
namespace {

/// What is longer is no version.
constexpr std::size_t most_text_bytes = 256;

}  // namespace

reactor::awaitable<void> server_versions::look() {
  if (loop_.now() < not_before_) co_return;
  not_before_ = loop_.now() + pause;
  const auto answered = co_await of_.recent_version();
  if (!answered || answered->git_version.empty() || answered->git_version.size() > most_text_bytes)
    co_return;
  said_[answered->git_version] = loop_.now();
  std::erase_if(said_, [&](const auto& one) { return loop_.now() - one.second > life; });
  if (said_.size() > most)
    said_.erase(std::ranges::min_element(said_, {}, [](const auto& one) { return one.second; }));
}

std::vector<std::string> server_versions::seen() const {
  std::vector<std::string> out;
  for (const auto& [version, at] : said_)
    if (loop_.now() - at <= life) out.push_back(version);
  return out;
}

}  // namespace k8s::skew
