#include "k8s/sim/core.hpp"
#include "k8s/sim/objects/cells.hpp"
#include "k8s/sim/objects/json_path.hpp"
#include "k8s/sim/objects/schema.hpp"

#include <algorithm>
#include <cctype>

namespace k8s::sim {

namespace {

std::vector<std::string> strings(const json::object& o, path_view path) {
  std::vector<std::string> out;
  if (const json::array* all = find_array(o, path)) {
    for (const json::value& v : *all) {
      if (v.is_string()) out.emplace_back(v.get_string());
    }
  }
  return out;
}

json::value cell(const column& c, const json::object& o, reactor::wall_time now) {
  std::vector<json::value> found = read_json_path(o, c.json_path);
  if (found.empty()) return nullptr;
  const json::value& v = found.front();
  if (c.type == "date")
    return v.is_string() ? json::value(age(v.get_string(), now)) : json::value(nullptr);
  if (c.type == "integer") return v.is_number() ? v : json::value(nullptr);
  if (c.type == "number") return v.is_number() ? v : json::value(nullptr);
  if (c.type == "boolean") return v.is_bool() ? v : json::value(nullptr);
  if (found.size() > 1) {
    std::string all;
    for (const json::value& each : found) {
      all += (all.empty() ? "" : " ") +
             (each.is_string() ? std::string(each.get_string()) : json::serialize(each));
    }
    return json::value(all);
  }
  return v.is_string() ? v : json::value(json::serialize(v));
}

std::vector<column> columns_from(const json::object& version) {
  std::vector<column> all{
      {"Name", "string", "name",
       "Name must be unique within a namespace. Is required when creating resources, although some "
       "resources may allow a client to request the generation of an appropriate name "
       "automatically.",
       0, ".metadata.name"}};
  const json::array* listed = find_array(version, {"additionalPrinterColumns"});
  if (!listed || listed->empty()) {
    all.push_back({"Age", "date", "",
                   "CreationTimestamp is the time at which this object was created on the server.",
                   0, ".metadata.creationTimestamp"});
    return all;
  }
  for (const json::value& v : *listed) {
    if (!v.is_object()) continue;
    const json::object& o = v.get_object();
    column c;
    c.name = std::string(text(o, {"name"}));
    c.type = std::string(text(o, {"type"}));
    c.format = std::string(text(o, {"format"}));
    c.description = std::string(text(o, {"description"}));
    c.priority = static_cast<int>(number(o, {"priority"}));
    c.json_path = std::string(text(o, {"jsonPath"}));
    if (c.description.empty())
      c.description = "Custom resource definition column (in JSONPath format): " + c.json_path;
    all.push_back(std::move(c));
  }
  return all;
}

}  // namespace

void core::settle_crd(json::object& crd) {
  json::object& spec = ensure_object(crd, "spec");
  json::object& names = ensure_object(spec, "names");
  std::string kind(text(names, {"kind"})), singular = kind;
  std::transform(singular.begin(), singular.end(), singular.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  set_default(names, "singular", json::string(singular));
  set_default(names, "listKind", json::string(kind + "List"));
  set_default(spec, "conversion", json::object{{"strategy", "None"}});
  json::object& status = ensure_object(crd, "status");
  status["acceptedNames"] = names;
  json::value& stored = status["storedVersions"];
  if (!stored.is_array()) stored = json::array();
  if (const json::array* versions = find_array(spec, {"versions"})) {
    for (const json::value& v : *versions) {
      if (!v.is_object() || !flag(v.get_object(), {"storage"})) continue;
      const json::value name(text(v.get_object(), {"name"}));
      json::array& list = stored.get_array();
      if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
    }
  }
  json::value& conditions = status["conditions"];
  if (conditions.is_array() && !conditions.get_array().empty()) return;
  const std::string now = timestamp();
  conditions = json::array{json::object{{"lastTransitionTime", now},
                                        {"message", "no conflicts found"},
                                        {"reason", "NoConflicts"},
                                        {"status", "True"},
                                        {"type", "NamesAccepted"}},
                           json::object{{"lastTransitionTime", now},
                                        {"message", "the initial names have been accepted"},
                                        {"reason", "InitialNamesAccepted"},
                                        {"status", "True"},
                                        {"type", "Established"}}};
}

void core::install_crd(const json::object& crd) {
  const std::string group(text(crd, {"spec", "group"})),
      plural(text(crd, {"spec", "names", "plural"}));
  const json::array* versions = find_array(crd, {"spec", "versions"});
  if (!versions) return;
  std::string storage;
  for (const json::value& v : *versions) {
    if (v.is_object() && flag(v.get_object(), {"storage"}))
      storage = std::string(text(v.get_object(), {"name"}));
  }
  std::vector<kind_ptr> kinds_made;
  for (const json::value& v : *versions) {
    if (!v.is_object() || !flag(v.get_object(), {"served"})) continue;
    const json::object& version = v.get_object();
    kind_info k;
    k.custom = true;
    k.group = group;
    k.version = std::string(text(version, {"name"}));
    k.storage_version = storage;
    k.plural = plural;
    k.singular = std::string(text(crd, {"spec", "names", "singular"}));
    k.kind = std::string(text(crd, {"spec", "names", "kind"}));
    k.list_kind = std::string(text(crd, {"spec", "names", "listKind"}));
    k.short_names = strings(crd, {"spec", "names", "shortNames"});
    k.categories = strings(crd, {"spec", "names", "categories"});
    k.namespaced = text(crd, {"spec", "scope"}) == "Namespaced";
    k.status_subresource = k8s::sim::find(version, {"subresources", "status"}) != nullptr;
    k.unconditional_update = false;
    k.generation = true;
    if (const json::array* fields = find_array(version, {"selectableFields"})) {
      for (const json::value& f : *fields) {
        std::string_view path =
            f.is_object() ? text(f.get_object(), {"jsonPath"}) : std::string_view();
        if (path.starts_with(".")) k.field_labels.emplace_back(path.substr(1));
      }
    }
    k.columns = columns_from(version);
    k.cells = [columns = k.columns](const json::object& o, reactor::wall_time now) {
      json::array cells;
      for (const column& c : columns) cells.push_back(cell(c, o, now));
      return cells;
    };
    if (const json::object* props = find_object(version, {"schema", "openAPIV3Schema"})) {
      auto s = schema::read(*props);
      k.shape = s->merge_shape();
      k.schema = std::move(s);
    } else {
      k.shape = built_in_shape("");
    }
    kinds_made.push_back(std::make_shared<const kind_info>(std::move(k)));
  }
  kinds.set_custom(group, plural, std::move(kinds_made));
}

void core::uninstall_crd(const json::object& crd) {
  const std::string group(text(crd, {"spec", "group"})),
      plural(text(crd, {"spec", "names", "plural"}));
  if (kind_ptr k = kinds.find_collection(group, plural)) {
    std::vector<std::string> keys;
    for (const auto& [key, v] : objects.objects(k->collection())) keys.push_back(key);
    for (const std::string& key : keys) {
      version_ptr v = find(*k, key);
      if (!v) continue;
      json::object o = v->parsed();
      commit_remove(*k, key, std::move(o));
    }
    for (const auto& w : watches) {
      if (w.collection != k->collection()) continue;
      if (auto s = w.by.lock()) s->end();
    }
  }
  kinds.remove_custom(group, plural);
}

}  // namespace k8s::sim
