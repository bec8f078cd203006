#include "k8s/sim/core.hpp"

#include <algorithm>
#include <charconv>

namespace k8s::sim {

namespace {

/// Deletion names the kind where every other conflict names the resource.
failure precondition_failed(const kind_info& kind, std::string_view name, std::string_view why) {
  const std::string who = kind.group.empty() ? kind.kind : kind.kind + "." + kind.group;
  failure f{
      409, "Conflict",
      "Operation cannot be fulfilled on " + who + " " + quoted(name) + ": " + std::string(why)};
  f.details["name"] = name;
  if (!kind.group.empty()) f.details["group"] = kind.group;
  f.details["kind"] = kind.kind;
  return f;
}

}  // namespace

outcome<deletion> core::read_deletion(const call& c, const json::object* body) const {
  deletion d;
  std::string grace = c.query("gracePeriodSeconds");
  if (!grace.empty()) {
    std::int64_t n = 0;
    std::from_chars(grace.data(), grace.data() + grace.size(), n);
    d.grace = n;
  }
  d.propagation = c.query("propagationPolicy");
  if (!body) return d;
  if (const json::value* g = body->if_contains("gracePeriodSeconds");
      g && (g->is_int64() || g->is_uint64())) {
    d.grace = number(*body, {"gracePeriodSeconds"});
  }
  d.uid = std::string(text(*body, {"preconditions", "uid"}));
  d.resource_version = std::string(text(*body, {"preconditions", "resourceVersion"}));
  if (std::string p(text(*body, {"propagationPolicy"})); !p.empty()) d.propagation = p;
  if (flag(*body, {"orphanDependents"})) d.propagation = "Orphan";
  if (!d.propagation.empty() && d.propagation != "Background" && d.propagation != "Foreground" &&
      d.propagation != "Orphan") {
    return invalid("meta.k8s.io", "DeleteOptions", "",
                   {field_error::unsupported("propagationPolicy", json::string(d.propagation),
                                             {"Foreground", "Background", "Orphan", "nil"})});
  }
  if (d.grace && *d.grace < 0) d.grace = 1;
  return d;
}

outcome<std::pair<core::stored, bool>> core::delete_object(const kind_info& kind,
                                                           std::string_view key,
                                                           const deletion& how, bool dry_run) {
  version_ptr v = find(kind, key);
  const std::size_t slash = key.find('/');
  const std::string name(slash == std::string_view::npos ? key : key.substr(slash + 1));
  if (!v) return not_found(kind, name);
  json::object o = v->parsed();
  json::object& meta = o["metadata"].as_object();
  if (!how.uid.empty() && how.uid != text(meta, {"uid"})) {
    return precondition_failed(kind, name,
                               "the UID in the precondition (" + how.uid +
                                   ") does not match the UID in record (" +
                                   std::string(text(meta, {"uid"})) +
                                   "). The object might have been deleted and then recreated");
  }
  if (!how.resource_version.empty() && how.resource_version != text(meta, {"resourceVersion"})) {
    return precondition_failed(kind, name,
                               "the ResourceVersion in the precondition (" + how.resource_version +
                                   ") does not match the ResourceVersion in record (" +
                                   std::string(text(meta, {"resourceVersion"})) +
                                   "). The object might have been modified");
  }
  const json::object before = o;
  const bool deleting = meta.contains("deletionTimestamp");
  bool changed = false;
  if (how.propagation == "Orphan" || how.propagation == "Foreground") {
    const std::string_view finalizer =
        how.propagation == "Orphan" ? "orphan" : "foregroundDeletion";
    json::value& list = meta["finalizers"];
    if (!list.is_array()) list = json::array();
    json::array& all = list.get_array();
    if (std::find(all.begin(), all.end(), json::value(finalizer)) == all.end()) {
      all.push_back(json::value(finalizer));
      changed = true;
    }
  }
  std::int64_t grace = 0;
  if (kind.graceful) {
    grace = how.grace.value_or(number(o, {"spec", "terminationGracePeriodSeconds"}, 30));
    if (text(o, {"spec", "nodeName"}).empty() || is_terminal(o)) grace = 0;
    if (deleting) {
      const std::int64_t left = number(meta, {"deletionGracePeriodSeconds"});
      if (grace >= left && left > 0 && !(how.grace && *how.grace < left)) grace = left;
    }
  }
  const json::array* finalizers = find_array(meta, {"finalizers"});
  const bool is_namespace = kind.kind == "Namespace" && !kind.custom;
  const json::array* ns_finalizers = is_namespace ? find_array(o, {"spec", "finalizers"}) : nullptr;
  const bool waits = grace > 0 || (finalizers && !finalizers->empty()) ||
                     (ns_finalizers && !ns_finalizers->empty());
  if (!waits) {
    return std::pair{dry_run ? std::make_shared<const json::object>(std::move(o))
                             : commit_remove(kind, key, std::move(o)),
                     true};
  }
  if (!deleting || number(meta, {"deletionGracePeriodSeconds"}) != grace) {
    if (!deleting && meta.contains("generation") && number(meta, {"generation"}) > 0) {
      meta["generation"] = number(meta, {"generation"}) + 1;
    }
    meta["deletionTimestamp"] = reactor::format_rfc3339(wall() + std::chrono::seconds(grace));
    meta["deletionGracePeriodSeconds"] = grace;
    if (is_namespace) {
      ensure_object(o, "status")["phase"] = "Terminating";
      erase(meta, "deletionGracePeriodSeconds");
    }
    if (before != o) changed = true;
    if (is_namespace && deleting) changed = false;
  }
  return std::pair{changed && !dry_run ? commit_put(kind, key, std::move(o))
                                       : std::make_shared<const json::object>(std::move(o)),
                   false};
}

outcome<deletion> core::asked_deletion(call& c) const {
  if (c.in->body.empty()) return read_deletion(c, nullptr);
  auto body = body_object(c);
  if (!body) return body.error();
  if (const json::array* dry = find_array(*body, {"dryRun"}); dry && !dry->empty())
    c.dry_run = true;
  return read_deletion(c, &*body);
}

outcome<answer> core::remove(call& c) {
  auto how = asked_deletion(c);
  if (!how) return how.error();
  auto gone = delete_object(*c.kind, c.key(), *how, c.dry_run);
  if (!gone) return gone.error();
  const bool returns_object =
      !c.kind->custom && (c.kind->kind == "Pod" || c.kind->kind == "Service");
  if (!gone->second || returns_object) return object_answer(c, 200, *gone->first);
  json::object details{{"name", c.name}};
  if (!c.kind->group.empty()) details["group"] = c.kind->group;
  details["kind"] = c.kind->plural;
  details["uid"] = json::string(text(*gone->first, {"metadata", "uid"}));
  answer a;
  a.body = json::serialize(json::object{{"kind", "Status"},
                                        {"apiVersion", "v1"},
                                        {"metadata", json::object{}},
                                        {"status", "Success"},
                                        {"details", std::move(details)}});
  return a;
}

outcome<answer> core::remove_collection(call& c) {
  auto how = asked_deletion(c);
  if (!how) return how.error();
  auto shown = list(c);
  if (!shown) return shown.error();
  auto labels = label_selector::parse(c.query("labelSelector"));
  auto fields = field_selector::parse(c.query("fieldSelector"), *c.kind);
  std::vector<std::string> keys;
  for (const auto& [key, v] : objects.objects(c.kind->collection())) {
    if (!c.ns.empty() && !key.starts_with(c.ns + "/")) continue;
    json::object o = from_storage(*c.kind, v->parsed());
    if (labels->matches_object(o) && fields->matches(o)) keys.push_back(key);
  }
  for (const std::string& key : keys) {
    auto gone = delete_object(*c.kind, key, *how, c.dry_run);
    if (!gone && gone.error().code != 404) return gone.error();
  }
  return shown;
}

}  // namespace k8s::sim
