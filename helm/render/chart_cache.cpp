#include "helm/render/chart_cache.hpp"

#include "formats/digest.hpp"

namespace helm {

std::shared_ptr<prepared_chart> chart_cache::take(std::string_view digest) {
  const order::iterator* found = by_digest_.find(digest);
  if (!found) return nullptr;
  used_.splice(used_.begin(), used_, *found);
  return (*found)->chart;
}

std::shared_ptr<prepared_chart> chart_cache::find(std::string_view digest) {
  std::lock_guard lock(lock_);
  auto c = take(digest);
  shrink();  // a chart grows with its first render
  return c;
}

outcome<std::shared_ptr<prepared_chart>> chart_cache::from_archive(std::string_view archive) {
  auto digest = digest_of(archive);
  if (auto known = find(digest)) return known;
  std::vector<std::string> warnings;
  auto loaded = load_archive(archive, warnings, each_);
  if (!loaded) return loaded.error();
  auto fresh = std::make_shared<prepared_chart>(std::move(*loaded), std::move(warnings), digest);
  return add(std::move(digest), std::move(fresh));
}

std::shared_ptr<prepared_chart> chart_cache::keep(std::shared_ptr<prepared_chart> archived) {
  std::string digest = archived->archived()->digest;
  return add(std::move(digest), std::move(archived));
}

std::shared_ptr<prepared_chart> chart_cache::add(std::string digest,
                                                 std::shared_ptr<prepared_chart> fresh) {
  std::lock_guard lock(lock_);
  if (auto other = take(digest)) return other;
  used_.push_front({std::move(digest), fresh});
  by_digest_.try_emplace(used_.front().digest, used_.begin());
  shrink();
  return fresh;
}

void chart_cache::shrink() {
  std::size_t bytes = 0;
  for (const auto& e : used_) bytes += e.chart->bytes();
  // The newest stays even when it alone is over the limit: it is about to be rendered.
  while (bytes > limit_bytes_ && used_.size() > 1) {
    bytes -= used_.back().chart->bytes();
    by_digest_.erase(used_.back().digest);
    used_.pop_back();
  }
}

chart_cache::figures chart_cache::look() const {
  std::lock_guard lock(lock_);
  figures f{used_.size()};
  for (const auto& e : used_) f.bytes += e.chart->bytes();
  return f;
}

}  // namespace helm
