#include "helm/placed/release_sight.hpp"

namespace helm::placed {
namespace {

using workspace_state = workspace_facts::state;

/// Whether what a watch shows is at least as new as what the server said.
bool is_as_new(const std::string& seen, const std::string& said) {
  return !(k8s::resource_version(seen) < k8s::resource_version(said));
}

bool is_as_new(const workspace_facts& seen, const std::optional<workspace_facts>& said) {
  if (!said) return true;
  if (seen.is == workspace_state::absent || said->is == workspace_state::absent)
    return seen.is == said->is;
  return is_as_new(seen.version, said->version);
}

bool is_as_new(const listed_record& seen, const std::optional<known_release>& said) {
  if (!said) return true;
  if (seen.revision != said->facts.revision) return seen.revision > said->facts.revision;
  return is_as_new(seen.version, said->version);
}

}  // namespace

awaitable<k8s::result<found_release>> look_at_release(cluster_reads& reads,  // borrowed
                                                      cluster_view* view,    // borrowed
                                                      std::string ns, std::string release,
                                                      release_sight sight, ask how) {
  found_release out;
  std::optional<workspace_facts> seen;
  std::optional<listed_record> newest;
  if (view && how == ask::watches) {
    seen = view->workspace(ns);
    newest = view->newest(ns, release);
    if (seen && !is_as_new(*seen, sight.workspace)) seen.reset();
    if (newest && !is_as_new(*newest, sight.release)) newest.reset();
  }
  out.watched = seen && newest;
  if (seen) {
    out.workspace = std::move(*seen);
  } else {
    auto said = co_await reads.workspace(ns);
    if (!said) co_return said.error();
    out.workspace = *said;
    sight.workspace = std::move(*said);
  }
  if (out.workspace.is == workspace_state::absent) {
    sight.release.reset();
    out.sight = std::move(sight);
    co_return out;
  }
  std::optional<known_release> known = sight.release;
  if (newest && newest->name.empty()) {
    sight.release.reset();
  } else if (newest && known && known->record == newest->name &&
             known->version == newest->version) {
    // It is what was read before.
  } else {
    auto found = co_await reads.release(ns, release, std::move(known));
    if (!found) co_return found.error();
    sight.release = std::move(*found);
  }
  out.release = sight.release;
  out.sight = std::move(sight);
  co_return out;
}

awaitable<missing_objects> look_for_missing(cluster_reads& reads,  // borrowed
                                            cluster_view* view,    // borrowed
                                            std::vector<checked_object> objects) {
  missing_objects out;
  if (!view) co_return out;
  auto unseen = view->unseen(objects);
  if (!unseen) co_return out;
  const std::size_t hidden = unseen->size();
  if (hidden > 0) out.names = co_await reads.missing(std::move(*unseen));
  // What is there and not seen (without the label that is watched, or not yet) goes without an
  // event.
  out.watched = out.names.size() == hidden;
  co_return out;
}

}  // namespace helm::placed
