#include "k8s/sim/objects/managed_fields.hpp"

#include "k8s/sim/objects/field_set.hpp"

#include <algorithm>
#include <tuple>

namespace k8s::sim {

namespace {

/// One entry of metadata.managedFields.
struct manager_entry {
  std::string manager, operation, api_version, subresource, time;
  field_set fields;

  bool applies() const { return operation == "Apply"; }
};
using managers = std::vector<manager_entry>;

managers read_managers(const json::object& o) {
  managers all;
  const json::array* listed = find_array(o, {"metadata", "managedFields"});
  if (!listed) return all;
  for (const json::value& v : *listed) {
    if (!v.is_object()) continue;
    const json::object& m = v.get_object();
    manager_entry e;
    e.manager = std::string(text(m, {"manager"}));
    e.operation = std::string(text(m, {"operation"}));
    e.api_version = std::string(text(m, {"apiVersion"}));
    e.subresource = std::string(text(m, {"subresource"}));
    e.time = std::string(text(m, {"time"}));
    if (const json::object* f = find_object(m, {"fieldsV1"})) {
      e.fields = field_set::from_json(*f);
      e.fields.member = false;
    }
    all.push_back(std::move(e));
  }
  return all;
}

void write_managers(json::object& o, managers all) {
  std::erase_if(all, [](const manager_entry& e) { return e.fields.empty() && !e.applies(); });
  // Appliers first, then by time and name, as the real server sorts them.
  std::sort(all.begin(), all.end(), [](const manager_entry& a, const manager_entry& b) {
    return std::tie(a.operation, a.time, a.manager, a.subresource, a.api_version) <
           std::tie(b.operation, b.time, b.manager, b.subresource, b.api_version);
  });
  json::object& meta = ensure_object(o, "metadata");
  if (all.empty()) {
    erase(meta, "managedFields");
    return;
  }
  json::array listed;
  for (const manager_entry& e : all) {
    json::object m{
        {"manager", e.manager}, {"operation", e.operation}, {"apiVersion", e.api_version}};
    if (!e.time.empty()) m["time"] = e.time;
    m["fieldsType"] = "FieldsV1";
    m["fieldsV1"] = e.fields.to_json();
    if (!e.subresource.empty()) m["subresource"] = e.subresource;
    listed.push_back(std::move(m));
  }
  meta["managedFields"] = std::move(listed);
}

/// The object without what can have no manager; members that `other` has too, unchanged, are left
/// out with it.
json::value ownable(const json::object& o, const json::object* other = nullptr) {
  json::object copy;
  for (const auto& [name, v] : o) {
    if (std::string_view(name) == "apiVersion" || std::string_view(name) == "kind") continue;
    const json::value* twin = other ? other->if_contains(name) : nullptr;
    if (twin && *twin == v) continue;
    copy[name] = v;
  }
  if (json::value* meta = copy.if_contains("metadata"); meta && meta->is_object()) {
    for (const char* f :
         {"name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation",
          "managedFields", "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
      erase(meta->get_object(), f);
    }
  }
  return copy;
}

/// What an empty object of a built-in kind looks like on the wire: these parents are never "added".
json::value empty_object(const kind_info& kind) {
  json::object o{{"metadata", json::object()}};
  if (!kind.custom) {
    json::object spec, status;
    if (kind.kind == "Pod") spec["containers"] = json::array();
    if (kind.group == "apps") {
      json::object pod{{"containers", json::array()}};
      spec["template"] = json::object{{"metadata", json::object()}, {"spec", std::move(pod)}};
      spec["updateStrategy"] = json::object();
      spec["strategy"] = json::object();
    }
    if (kind.kind == "CustomResourceDefinition") spec["names"] = json::object();
    if (kind.kind == "CustomResourceDefinition") status["acceptedNames"] = json::object();
    if (kind.kind != "ConfigMap" && kind.kind != "Secret" && kind.kind != "Event") {
      o["spec"] = std::move(spec);
      o["status"] = std::move(status);
    }
  }
  return o;
}

/// Skeleton parents that the object does not have do not count as removed.
json::value skeleton_for(const kind_info& kind, const json::value& after) {
  json::value s = empty_object(kind);
  auto trim = [](auto&& self, json::value& a, const json::value& b) -> void {
    if (!a.is_object() || !b.is_object()) return;
    std::vector<std::string> drop;
    for (auto& m : a.get_object()) {
      const json::value* other = b.get_object().if_contains(m.key());
      if (!other)
        drop.emplace_back(m.key());
      else
        self(self, m.value(), *other);
    }
    for (const std::string& d : drop) erase(a.get_object(), d);
  };
  trim(trim, s, after);
  return s;
}

bool same_writer(const manager_entry& e, const field_writer& who, std::string_view operation,
                 const kind_info& kind) {
  return e.manager == who.manager && e.operation == operation && e.subresource == who.subresource &&
         e.api_version == kind.api_version();
}

manager_entry& entry_of(managers& all, const field_writer& who, std::string_view operation,
                        const kind_info& kind) {
  for (manager_entry& e : all) {
    if (same_writer(e, who, operation, kind)) return e;
  }
  manager_entry made;
  made.manager = who.manager;
  made.operation = std::string(operation);
  made.api_version = kind.api_version();
  made.subresource = who.subresource;
  all.push_back(std::move(made));
  return all.back();
}

/// What is not there any more has no manager.
void drop_removed(managers& all, const field_set& removed) {
  for (manager_entry& e : all) e.fields.subtract(removed);
}

json::value merged(const json::value* live, const json::value& applied, const shape* of);

json::value merged_list(const json::array& live, const json::array& applied, const shape& of) {
  auto key = [&](const json::value& e) {
    return of.list == shape::list_kind::set ? json::serialize(e) : element_key(e, of);
  };
  std::map<std::string, const json::value*> wanted;
  for (const json::value& e : applied) wanted[key(e)] = &e;
  json::array out;
  // Elements of both keep the applied order among themselves; the live ones in between keep their
  // place.
  std::size_t next = 0;
  auto emit_applied_until = [&](const std::string& stop) {
    while (next < applied.size()) {
      const std::string k = key(applied[next]);
      const json::value* before = nullptr;
      for (const json::value& l : live) {
        if (key(l) == k) before = &l;
      }
      if (before && k != stop) {
        bool later = false;
        for (std::size_t i = next + 1; i < applied.size(); ++i)
          later = later || key(applied[i]) == stop;
        if (!later) break;
      }
      out.push_back(merged(before, applied[next], of.each()));
      ++next;
      if (k == stop) break;
    }
  };
  for (const json::value& l : live) {
    const std::string k = key(l);
    if (wanted.contains(k)) {
      bool done = false;
      for (std::size_t i = 0; i < next; ++i) done = done || key(applied[i]) == k;
      if (!done) emit_applied_until(k);
    } else {
      out.push_back(l);
    }
  }
  while (next < applied.size()) {
    const std::string k = key(applied[next]);
    const json::value* before = nullptr;
    for (const json::value& l : live) {
      if (key(l) == k) before = &l;
    }
    out.push_back(merged(before, applied[next], of.each()));
    ++next;
  }
  return out;
}

json::value merged(const json::value* live, const json::value& applied, const shape* of) {
  if (!live) return applied;
  if (applied.is_object() && live->is_object() && !(of && of->atomic)) {
    json::object out = live->get_object();
    for (const auto& [name, v] : applied.get_object()) {
      const json::value* before = live->get_object().if_contains(name);
      json::value m = merged(before, v, of ? of->field(name) : nullptr);
      out[name] = std::move(m);
    }
    return out;
  }
  if (applied.is_array() && live->is_array() && of && of->list != shape::list_kind::atomic) {
    return merged_list(live->get_array(), applied.get_array(), *of);
  }
  return applied;
}

/// Removes from `v` what `gone` names, unless `kept` (or something below) holds it.
void remove_fields(json::value& v, const field_set& gone, const field_set& kept, const shape* of) {
  auto keep_of = [&](const std::string& step) -> const field_set* {
    auto at = kept.children.find(step);
    return at == kept.children.end() ? nullptr : &at->second;
  };
  static const field_set nothing;
  if (v.is_object()) {
    json::object& o = v.get_object();
    std::vector<std::string> drop;
    for (auto& m : o) {
      const std::string step = "f:" + std::string(m.key());
      auto at = gone.children.find(step);
      if (at == gone.children.end()) continue;
      const field_set* k = keep_of(step);
      const shape* inner = of ? of->field(m.key()) : nullptr;
      if (!at->second.children.empty())
        remove_fields(m.value(), at->second, k ? *k : nothing, inner);
      const bool held = k && !k->empty();
      const bool hollow = (m.value().is_object() && m.value().get_object().empty()) ||
                          (m.value().is_array() && m.value().get_array().empty());
      if (held) continue;
      if ((at->second.member && at->second.children.empty()) || hollow) drop.emplace_back(m.key());
    }
    for (const std::string& d : drop) erase(o, d);
    return;
  }
  if (v.is_array() && of && of->list != shape::list_kind::atomic) {
    json::array& a = v.get_array();
    for (std::size_t i = 0; i < a.size();) {
      const std::string step =
          of->list == shape::list_kind::set ? "v:" + json::serialize(a[i]) : element_key(a[i], *of);
      auto at = gone.children.find(step);
      const field_set* k = keep_of(step);
      if (at == gone.children.end()) {
        ++i;
        continue;
      }
      if (at->second.member && !(k && !k->empty())) {
        a.erase(a.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      remove_fields(a[i], at->second, k ? *k : nothing, of->each());
      ++i;
    }
  }
}

failure conflicts_failure(const kind_info& kind,
                          const std::vector<std::pair<manager_entry, field_set>>& conflicts) {
  (void)kind;
  json::array causes;
  std::vector<std::pair<std::string, std::vector<std::string>>> by_manager;
  std::size_t count = 0;
  for (const auto& [who, fields] : conflicts) {
    std::string detail = "conflict with " + quoted(who.manager);
    std::string label = quoted(who.manager);
    std::string suffix;
    if (!who.subresource.empty()) suffix += " with subresource " + quoted(who.subresource);
    if (!who.applies()) suffix += " using " + who.api_version;
    detail += suffix;
    label += suffix;
    std::vector<std::string> paths = fields.paths();
    for (const std::string& p : paths) {
      causes.push_back(
          json::object{{"reason", "FieldManagerConflict"}, {"message", detail}, {"field", p}});
      ++count;
    }
    by_manager.emplace_back(label, std::move(paths));
  }
  std::string message =
      "Apply failed with " + std::to_string(count) + (count == 1 ? " conflict: " : " conflicts: ");
  bool first = true;
  for (const auto& [who, paths] : by_manager) {
    if (!first) message += "\n";
    first = false;
    message += (paths.size() == 1 ? "conflict with " : "conflicts with ") + who + ":";
    if (paths.size() == 1) {
      message += " " + paths.front();
    } else {
      for (const std::string& p : paths) message += "\n- " + p;
    }
  }
  failure f{409, "Conflict", message};
  f.details["causes"] = std::move(causes);
  return f;
}

}  // namespace

void track_update(const kind_info& kind, const json::object* before, json::object& after,
                  const field_writer& who) {
  const json::value now = ownable(after, before);
  const json::value then = before ? ownable(*before, &after) : skeleton_for(kind, now);
  field_changes c = compare(then, now, kind.shape.get());
  if (before && c.added.empty() && c.modified.empty() && c.removed.empty()) {
    const json::value* stored = find(*before, {"metadata", "managedFields"});
    const json::value* kept = find(after, {"metadata", "managedFields"});
    if (stored && !kept) ensure_object(after, "metadata")["managedFields"] = *stored;
    if (!kept || (stored && same(*stored, *kept))) return;
  }
  managers all = before ? read_managers(*before) : managers{};
  // What the client sends counts where it sends any (that is how tools rename managers); one empty
  // entry clears it.
  const json::array* sent = find_array(after, {"metadata", "managedFields"});
  if (before && sent) {
    const bool reset =
        sent->size() == 1 && sent->front().is_object() && sent->front().get_object().empty();
    if (reset) {
      all.clear();
    } else if (!sent->empty()) {
      all = read_managers(after);
    }
  }
  field_set touched = c.added;
  touched.unite(c.modified);
  for (manager_entry& e : all) {
    if (same_writer(e, who, "Update", kind)) continue;
    e.fields.subtract(c.modified);
  }
  drop_removed(all, c.removed);
  if (!touched.empty()) {
    manager_entry& mine = entry_of(all, who, "Update", kind);
    mine.fields.unite(touched);
    mine.time = who.time;
  }
  write_managers(after, std::move(all));
}

outcome<json::object> apply_fields(const kind_info& kind, const json::object* live,
                                   const json::object& applied, const field_writer& who,
                                   bool force) {
  const shape* of = kind.shape.get();
  managers all = live ? read_managers(*live) : managers{};
  json::object wanted = applied;
  if (json::value* meta = wanted.if_contains("metadata"); meta && meta->is_object()) {
    for (const char* f : {"managedFields", "resourceVersion", "uid", "creationTimestamp"})
      erase(meta->get_object(), f);
  }
  json::value owned = ownable(wanted);
  if (const json::object* meta = find_object(owned.get_object(), {"metadata"});
      meta && meta->empty()) {
    erase(owned.get_object(), "metadata");  // only identity was in it
  }
  const field_set mine = fields_of(owned, of);
  field_set before;
  for (const manager_entry& e : all) {
    if (same_writer(e, who, "Apply", kind)) before = e.fields;
  }
  json::value base = live ? json::value(*live) : json::value(json::object());
  json::value result = merged(&base, json::value(wanted), of);

  // Fields that were applied before and are not any more go, unless someone else has them too.
  field_set gone = before;
  gone.subtract(mine);
  field_set kept = mine;
  for (const manager_entry& e : all) {
    if (!same_writer(e, who, "Apply", kind)) kept.unite(e.fields);
  }
  if (!gone.empty()) remove_fields(result, gone, kept, of);

  const json::value then = live ? ownable(*live) : json::value(json::object());
  const json::value now = ownable(result.get_object());
  field_changes c = compare(then, now, of);
  std::vector<std::pair<manager_entry, field_set>> conflicts;
  if (live) {
    field_set changed = c.modified;
    changed.unite(c.added);
    for (manager_entry& e : all) {
      if (same_writer(e, who, "Apply", kind)) continue;
      if (e.manager == who.manager && e.subresource == who.subresource && !e.applies()) {
        // The same tool wrote this before it began to apply: its own values do not stand against
        // it.
        field_set own = e.fields.intersection(c.modified);
        e.fields.subtract(own);
        continue;
      }
      field_set clash = e.fields.intersection(changed);
      if (clash.empty()) continue;
      if (force) {
        e.fields.subtract(clash);
      } else {
        conflicts.emplace_back(e, std::move(clash));
      }
    }
  }
  if (!conflicts.empty()) return conflicts_failure(kind, conflicts);
  drop_removed(all, c.removed);
  manager_entry& entry = entry_of(all, who, "Apply", kind);
  if (entry.fields.to_json() != mine.to_json() || entry.time.empty()) entry.time = who.time;
  entry.fields = mine;
  json::object out = std::move(result.get_object());
  write_managers(out, std::move(all));
  return out;
}

}  // namespace k8s::sim
