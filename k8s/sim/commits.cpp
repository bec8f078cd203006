#include "k8s/sim/core.hpp"

namespace k8s::sim {

namespace {

write_type type_of(change::what w) {
  switch (w) {
    case change::what::added: return write_type::added;
    case change::what::modified: return write_type::modified;
    case change::what::deleted: return write_type::deleted;
  }
  return write_type::modified;
}

}  // namespace

core::stored core::commit_put(const kind_info& kind, std::string_view key, json::object&& o) {
  change c = objects.put(kind.collection(), key, o, now());
  return publish(std::move(c), kind, std::make_shared<const json::object>(std::move(o)));
}

core::stored core::commit_remove(const kind_info& kind, std::string_view key, json::object&& o) {
  change c = objects.remove(kind.collection(), key, o, now());
  return publish(std::move(c), kind, std::make_shared<const json::object>(std::move(o)));
}

core::stored core::publish(change c, const kind_info& kind, stored object) {
  const json::object& o = *object;
  if (options.keep_parsed) c.object->keep(object);
  shared_lines shared;
  bool expired = false;
  for (std::size_t i = 0; i < watches.size(); ++i) {
    if (watches[i].collection != c.collection) continue;
    if (auto s = watches[i].by.lock()) {
      s->offer(c, shared);
    } else {
      expired = true;
    }
  }
  if (expired) std::erase_if(watches, [](const watcher& w) { return w.by.expired(); });
  if (outside.on_write) {
    const auto before = c.before ? c.before->look() : nullptr;
    written w{type_of(c.type),
              kind.storage_elsewhere ? std::string_view(kind.storage_group) : kind.group,
              kind.plural,
              text(o, {"metadata", "namespace"}),
              text(o, {"metadata", "name"}),
              c.revision,
              before ? &*before : nullptr,
              &o};
    outside.on_write(w);
  }
  if (kind.kind == "Pod" && !kind.custom && options.pod_termination &&
      c.type == change::what::modified && c.object->is_ending) {
    const auto grace = std::chrono::seconds(number(o, {"metadata", "deletionGracePeriodSeconds"}));
    terminations.emplace(now() + std::min<reactor::nanoseconds>(*options.pod_termination, grace),
                         std::pair{c.key, std::string(text(o, {"metadata", "uid"}))});
    if (outside.on_due_changed) outside.on_due_changed();
  }
  if (kind.kind == "CustomResourceDefinition" && !kind.custom) {
    if (c.type == change::what::deleted) {
      uninstall_crd(o);
    } else {
      install_crd(o);
    }
  }
  if (options.controllers) reactions.push_back(std::move(c));
  return object;
}

void core::end_watches() {
  std::vector<watcher> ending;
  ending.swap(watches);
  for (const auto& w : ending) {
    if (auto s = w.by.lock()) s->end();
  }
}

}  // namespace k8s::sim
