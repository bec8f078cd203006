#pragma once

#include "bootc/tags/carried_version.hpp"
#include "reactor/log.hpp"
#include "registry/tag_reader.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace bootc {

/// Which Kubernetes images carry: by a label or annotation of theirs, which the registry is asked
/// for once for a digest, and by nodes that run them, whose word counts more. For all clusters of
/// the process.
/// Bounds   16 questions at a time, each with a deadline; 4,096 images.
/// Errors   a registry that does not answer: the version is unknown, and it is asked again 10
///          minutes later.
/// Lifetime loop and source outlive it. ask() is run by a caller's task; one that is cancelled
///          leaves the question to the next caller.
class image_versions {
public:
  /// `labels`: which names are looked for, the first that the image has counts.
  image_versions(reactor::loop& l, registry::tag_source& source, std::vector<std::string> labels,
                 reactor::logger log = {});
  image_versions(const image_versions&) = delete;
  image_versions& operator=(const image_versions&) = delete;

  carried_version of(const std::string& digest) const;
  /// Whether the registry is to be asked now; then the caller runs ask().
  bool is_due(const std::string& digest) const;
  reactor::awaitable<void> ask(registry::image_ref pinned,
                               std::shared_ptr<const registry::pull_secret> with);
  /// Calls `wake` once, when the question about the image has ended.
  void tell(const std::string& digest, const std::string& who, std::function<void()> wake);
  /// Forgets the callbacks of every name that begins like this.
  void leave_all(std::string_view prefix);
  /// A node runs the image, and its kubelet says this version.
  void note_booted(const std::string& digest, carried_version says);

private:
  struct entry {
    carried_version label, booted;
    bool is_asked = false, is_asking = false;  // asked: the registry answered, or failed to
    std::optional<reactor::steady_time> due = reactor::steady_time();  // none: it is known
    std::map<std::string, std::function<void()>> waiting;
  };
  entry& at(const std::string& digest);
  void note(const std::string& digest, const registry::answer<registry::image_labels>& answered);

  reactor::loop& loop_;
  registry::tag_source& source_;
  std::vector<std::string> labels_;
  reactor::logger log_;
  std::map<std::string, entry> images_;  // by digest
  std::size_t asking_ = 0;
};

/// Of a label's value: itself, or what "…kubernetes=1.33.1,…" says in a list, as OpenShift writes.
std::string version_in_label(std::string_view value);

}  // namespace bootc
