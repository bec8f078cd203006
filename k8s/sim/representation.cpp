#include "k8s/sim/representation.hpp"

#include <array>

namespace k8s::sim {

namespace {

// Events lie in the store as core/v1; events.k8s.io/v1 names the same fields differently.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kEventFields{{
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
}};

json::object rename_members(json::object o, bool to_storage) {
  json::object out;
  out.reserve(o.size() + 2);  // kind and apiVersion may come
  for (auto& member : o) {
    const std::string_view name = member.key();
    std::string_view to = name;
    for (const auto& [core, event] : kEventFields) {
      if (name == (to_storage ? event : core)) to = to_storage ? core : event;
    }
    if (to == "reportingController" && to_storage) to = "reportingComponent";
    if (to == "reportingComponent" && !to_storage) to = "reportingController";
    out[to] = std::move(member.value());
  }
  return out;
}

}  // namespace

json::object to_storage(const kind_info& kind, json::object o) {
  if (kind.storage_elsewhere) o = rename_members(std::move(o), true);
  o["kind"] = kind.kind;
  o["apiVersion"] = kind.storage_api_version();
  return o;
}

json::object from_storage(const kind_info& kind, json::object o) {
  if (kind.storage_elsewhere) o = rename_members(std::move(o), false);
  o["kind"] = kind.kind;
  o["apiVersion"] = kind.api_version();
  return o;
}

bool representation::raw() const {
  return as == form::whole && !kind->storage_elsewhere &&
         (kind->storage_version.empty() || kind->storage_version == kind->version);
}

json::object representation::in_version(const json::object& stored) const {
  json::object o;
  if (as == form::partial) {
    o = json::object{{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}};
    o["metadata"] = stored.at("metadata");
  } else {
    o = from_storage(*kind, stored);
  }
  if (drops_managers) erase(ensure_object(o, "metadata"), "managedFields");
  return o;
}

std::string representation::render(const json::object& stored) const {
  if (as == form::table) return table(*this, {stored}, {}, true);
  if (raw() && !drops_managers) return json::serialize(stored);
  return json::serialize(in_version(stored));
}

std::string representation::render(const version& v) const {
  return raw() ? as_stored(v) : render(*v.look());
}

std::string representation::render_item(const version& v) const {
  if (raw()) {
    std::string bytes = as_stored(v);
    if (kind->custom) return bytes;
    return bytes.size() > v.type_meta_bytes + 1 ? "{" + bytes.substr(v.type_meta_bytes + 1) : "{}";
  }
  json::object o = in_version(*v.look());
  if (as == form::whole && !kind->custom) {
    erase(o, "kind");
    erase(o, "apiVersion");
  }
  return json::serialize(o);
}

std::string representation::list_kind() const {
  if (as == form::partial) return "PartialObjectMetadataList";
  return as == form::table ? "Table" : kind->list_kind;
}

std::string representation::list_api_version() const {
  return as == form::whole ? kind->api_version() : "meta.k8s.io/v1";
}

std::string representation::bookmark(std::uint64_t revision, bool initial_events_end) const {
  if (as == form::table) {
    json::object meta{{"resourceVersion", std::to_string(revision)}};
    if (initial_events_end)
      meta["annotations"] = json::object{{"k8s.io/initial-events-end", "true"}};
    json::object o;
    o["kind"] = "Table";
    o["apiVersion"] = "meta.k8s.io/v1";
    o["metadata"] = json::object{{"resourceVersion", std::to_string(revision)}};
    o["columnDefinitions"] = nullptr;
    json::object inner{
        {"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}, {"metadata", meta}};
    o["rows"] = json::array{json::object{{"cells", json::array{}}, {"object", std::move(inner)}}};
    if (!initial_events_end) o["rows"] = json::array{};
    return json::serialize(o);
  }
  // most are of this form, and there are many
  return "{\"kind\":" + quoted(as == form::partial ? "PartialObjectMetadata" : kind->kind) +
         ",\"apiVersion\":" + quoted(list_api_version()) + ",\"metadata\":{\"resourceVersion\":\"" +
         std::to_string(revision) + "\"" +
         (initial_events_end ? ",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}" : "") +
         "}}";
}

std::string table(const representation& as, const std::vector<json::object>& stored,
                  json::object metadata, bool with_columns) {
  json::object t{{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}};
  t["metadata"] = std::move(metadata);
  if (with_columns) {
    json::array columns;
    for (const column& c : as.kind->columns) {
      columns.push_back(json::object{{"name", c.name},
                                     {"type", c.type},
                                     {"format", c.format},
                                     {"description", c.description},
                                     {"priority", c.priority}});
    }
    t["columnDefinitions"] = std::move(columns);
  } else {
    t["columnDefinitions"] = nullptr;
  }
  json::array rows;
  for (const json::object& o : stored) {
    json::object row;
    row["cells"] = as.kind->cells(from_storage(*as.kind, o), as.now);
    if (as.include == representation::embedded::object) {
      row["object"] = from_storage(*as.kind, o);
    } else if (as.include == representation::embedded::metadata) {
      json::object partial{{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}};
      partial["metadata"] = o.at("metadata");
      row["object"] = std::move(partial);
    } else {
      row["object"] = nullptr;
    }
    rows.push_back(std::move(row));
  }
  t["rows"] = std::move(rows);
  return json::serialize(t);
}

}  // namespace k8s::sim
