#include "bootc/tags/image_versions.hpp"

#include "k8s/skew/skew_policy.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/printable.hpp"

#include <utility>

namespace bootc {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_images = 4'096, most_questions = 16, most_shown_bytes = 200;
constexpr reactor::nanoseconds asked_again_after = 10min;

}  // namespace

std::string version_in_label(std::string_view value) {
  constexpr std::string_view named = "kubernetes=";
  for (std::string_view rest = value; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    if (one.starts_with(named)) return std::string(one.substr(named.size()));
    rest = comma == rest.npos ? std::string_view() : rest.substr(comma + 1);
  }
  return std::string(value);
}

image_versions::image_versions(reactor::loop& l, registry::tag_source& source,
                               std::vector<std::string> labels, reactor::logger log)
    : loop_(l), source_(source), labels_(std::move(labels)), log_(std::move(log)) {}

carried_version image_versions::of(const std::string& digest) const {
  const auto known = images_.find(digest);
  carried_version out;
  if (known != images_.end())
    out = known->second.booted.version.empty() ? known->second.label : known->second.booted;
  // Of one that a node runs nothing more is waited for.
  if (out.version.empty() && !labels_.empty())
    out.is_asking = known == images_.end() || !known->second.is_asked;
  return out;
}

bool image_versions::is_due(const std::string& digest) const {
  if (labels_.empty() || asking_ >= most_questions) return false;
  const auto known = images_.find(digest);
  if (known == images_.end()) return true;
  const entry& e = known->second;
  return !e.is_asking && e.due && *e.due <= loop_.now();
}

image_versions::entry& image_versions::at(const std::string& digest) {
  if (images_.size() >= most_images && !images_.contains(digest))
    std::erase_if(images_, [](const auto& one) {
      return !one.second.is_asking && one.second.waiting.empty();
    });
  return images_[digest];
}

reactor::awaitable<void> image_versions::ask(registry::image_ref pinned,
                                             std::shared_ptr<const registry::pull_secret> with) {
  const std::string digest = pinned.digest;
  if (!is_due(digest)) co_return;
  struct question {
    image_versions& of;
    std::string digest;
    question(image_versions& o, std::string d) : of(o), digest(std::move(d)) {
      of.at(digest).is_asking = true;
      ++of.asking_;
    }
    ~question() {
      of.images_[digest].is_asking = false;
      // Those for whose images there was no room wait as well.
      const bool was_full = of.asking_-- == most_questions;
      for (auto& [image, e] : of.images_)
        if (image == digest || (was_full && !e.is_asking))
          for (const auto& [who, wake] : std::exchange(e.waiting, {}))
            if (wake) wake();
    }
  } const asked(*this, digest);
  auto answered = co_await source_.labels_of(std::move(pinned), std::move(with));
  if (!answered && answered.error().cancelled) co_return;
  note(digest, answered);
}

void image_versions::note(const std::string& digest,
                          const registry::answer<registry::image_labels>& answered) {
  entry& e = at(digest);
  e.is_asked = true;
  e.due.reset();
  if (!answered) {
    e.due = loop_.now() + asked_again_after;
    log_.warning(
        "the labels of an image cannot be read, so its Kubernetes is not known before a "
        "node runs it",
        {{"digest", digest}, {"why", answered.error().text}});
    return;
  }
  for (const std::string& name : labels_) {
    const auto found = answered->find(name);
    if (found == answered->end()) continue;
    const std::string value = version_in_label(found->second);
    if (const auto version = k8s::skew::parse_version(value)) {
      e.label = {version->text, "label " + name};
      return;
    }
    log_.warning("a label of an image is no version of Kubernetes and counts as absent",
                 {{"digest", digest},
                  {"label", name},
                  {"value", reactor::printable(found->second, most_shown_bytes)}});
  }
}

void image_versions::tell(const std::string& digest, const std::string& who,
                          std::function<void()> wake) {
  at(digest).waiting[who] = std::move(wake);
}

void image_versions::leave_all(std::string_view prefix) {
  for (auto& [digest, e] : images_)
    std::erase_if(e.waiting, [&](const auto& one) { return one.first.starts_with(prefix); });
}

void image_versions::note_booted(const std::string& digest, carried_version says) {
  at(digest).booted = std::move(says);
}

}  // namespace bootc
