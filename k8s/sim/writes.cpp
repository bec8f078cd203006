// Create, replace and patch in one file: each ends in the same admission, field managers and
// generation, and differs in a few lines before that.
#include "formats/yaml/yaml.hpp"
#include "k8s/sim/core.hpp"
#include "k8s/sim/objects/admission.hpp"
#include "k8s/sim/objects/allocation.hpp"
#include "k8s/sim/objects/decoding.hpp"
#include "k8s/sim/objects/managed_fields.hpp"
#include "k8s/sim/objects/schema.hpp"
#include "k8s/sim/protobuf.hpp"

#include <algorithm>
#include <charconv>

namespace k8s::sim {

namespace {

constexpr int kGeneratedSuffix = 5;

/// Node ports are one range of the cluster: a number that another Service has is refused.
field_errors taken_node_ports(const store::collection& services, const std::string& own_key,
                              const json::object& o) {
  field_errors errors;
  const json::array* ports = find_array(o, {"spec", "ports"});
  for (std::size_t i = 0; ports && i < ports->size(); ++i) {
    const json::object* port = (*ports)[i].if_object();
    const json::value* wanted = port ? port->if_contains("nodePort") : nullptr;
    if (!wanted || !wanted->is_int64() || wanted->get_int64() == 0) continue;
    for (const auto& [key, stored] : services) {
      if (key == own_key) continue;
      const auto other = stored->look();
      const json::array* theirs = find_array(*other, {"spec", "ports"});
      const bool taken = theirs && std::ranges::any_of(*theirs, [&](const json::value& p) {
                           const json::value* had =
                               p.is_object() ? p.get_object().if_contains("nodePort") : nullptr;
                           return had && *had == *wanted;
                         });
      if (!taken) continue;
      errors.push_back(field_error::invalid("spec.ports[" + std::to_string(i) + "].nodePort",
                                            *wanted, "provided port is already allocated"));
      break;
    }
  }
  return errors;
}

/// True when two states differ in nothing that a client wrote: times of managedFields do not count.
bool same_content(const json::object& a, const json::object& b) {
  auto same_managers = [](const json::value* x, const json::value* y) {
    if (!x || !y || !x->is_array() || !y->is_array()) return x == y || (x && y && same(*x, *y));
    const json::array &p = x->get_array(), &q = y->get_array();
    if (p.size() != q.size()) return false;
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (!p[i].is_object() || !q[i].is_object() ||
          p[i].get_object().size() != q[i].get_object().size())
        return false;
      for (const auto& [name, v] : p[i].get_object()) {
        const json::value* twin = q[i].get_object().if_contains(name);
        if (!twin || (std::string_view(name) != "time" && !same(*twin, v))) return false;
      }
    }
    return true;
  };
  if (a.size() != b.size()) return false;
  for (const auto& [name, v] : a) {
    const json::value* twin = b.if_contains(name);
    if (!twin) return false;
    if (std::string_view(name) != "metadata") {
      if (!same(*twin, v)) return false;
      continue;
    }
    const json::object &m = v.as_object(), &n = twin->as_object();
    if (m.size() != n.size()) return false;
    for (const auto& [field, x] : m) {
      if (std::string_view(field) == "resourceVersion") continue;
      const json::value* y = n.if_contains(field);
      if (!y) return false;
      if (std::string_view(field) == "managedFields" ? !same_managers(&x, y) : !same(*y, x))
        return false;
    }
  }
  return true;
}

bool spec_differs(const kind_info& kind, const json::object& a, const json::object& b) {
  if (!kind.custom) {
    const json::value* x = find(a, {"spec"});
    const json::value* y = find(b, {"spec"});
    return (x == nullptr) != (y == nullptr) || (x && !same(*x, *y));
  }
  const auto counts = [&](std::string_view name) {
    return name != "metadata" && name != "apiVersion" &&
           !(kind.status_subresource && name == "status");
  };
  const auto is_in = [&](const json::object& other) {
    return [&](const json::key_value_pair& member) {
      if (!counts(member.key())) return true;
      const json::value* twin = other.if_contains(member.key());
      return twin && same(member.value(), *twin);
    };
  };
  return !std::ranges::all_of(a, is_in(b)) || !std::ranges::all_of(b, is_in(a));
}

/// Everything in `o` but these members becomes what it is in `from`. Most is so already.
void restore(json::object& o, const json::object& from,
             std::initializer_list<std::string_view> but) {
  const auto stays = [&](std::string_view name) {
    return std::find(but.begin(), but.end(), name) != but.end();
  };
  for (auto at = o.begin(); at != o.end();) {
    const bool is_new = !stays(at->key()) && !from.contains(at->key());
    at = is_new ? o.stable_erase(at) : at + 1;
  }
  for (const auto& [name, v] : from)
    if (!stays(name)) put_or_erase(o, name, &v);
}

}  // namespace

std::string key_of(const json::object& o) {
  return object_path(text(o, {"metadata", "namespace"}), text(o, {"metadata", "name"}));
}

outcome<json::object> core::body_object(const call& c) const {
  std::string_view type = c.in->fields.get("content-type");
  type = type.substr(0, type.find(';'));
  std::optional<json::value> v;
  std::string why;
  if (type == "application/yaml" || type == "application/apply-patch+yaml") {
    v = parse(c.in->body);
    if (!v) {
      auto read = formats::parse_kubernetes_yaml(c.in->body, "request body");
      if (!read) return bad_request("error decoding YAML: " + read.error().message());
      v = std::move(*read);
    }
  } else if (type == "application/vnd.kubernetes.protobuf") {
    auto read = from_protobuf(c.in->body, &why);
    if (!read) return bad_request(why);
    return std::move(*read);
  } else if (type.empty() || type == "application/json" || type == "*/*" ||
             type.ends_with("+json")) {
    v = parse(c.in->body, &why);
    if (!v) {
      return bad_request(c.kind->kind + " in version " + quoted(c.kind->version) +
                         " cannot be handled as a " + c.kind->kind + ": " + why);
    }
  } else {
    return unsupported_media(
        type, "application/json, application/yaml, application/vnd.kubernetes.protobuf");
  }
  if (!v->is_object()) {
    return bad_request(c.kind->kind + " in version " + quoted(c.kind->version) +
                       " cannot be handled as a " + c.kind->kind + ": json: cannot unmarshal " +
                       (v->is_array() ? "array" : "value") + " into Go value of type v1." +
                       c.kind->kind);
  }
  return std::move(v->get_object());
}

namespace {

/// What the server says to an object that is none of its kind.
failure refusal_of(const kind_info& kind, const json::object& o, core::arrival how,
                   const std::string& why) {
  if (how == core::arrival::body) return not_decodable(kind, why);
  return invalid("", "", "",
                 {field_error::invalid("patch", json::string(json::serialize(o)), why)});
}

}  // namespace

outcome<std::vector<std::string>> core::check_fields(const call& c, json::object& o,
                                                     arrival how) const {
  const kind_info& kind = *c.kind;
  if (how == arrival::applied) {
    const auto failed = [&](const std::string& what, const std::string& why) {
      const std::string ns(text(o, {"metadata", "namespace"})), name(text(o, {"metadata", "name"}));
      return failure{500, "",
                     "failed to " + what + " (" + ns + "/" + name + "; " + kind.api_version() +
                         ", Kind=" + kind.kind + ")" + why};
    };
    if (const std::string why = apply_problem(o, *kind.type); !why.empty())
      return failed("create typed patch object", ": " + why);
    decoded read = decode(o, *kind.type);
    if (!read.problem.empty())
      return failed("convert new object",
                    " to proper version (" + kind.api_version() + "): " + read.problem);
    return std::vector<std::string>();
  }
  decoded read = decode(o, *kind.type);
  if (!read.problem.empty()) return refusal_of(kind, o, how, read.problem);
  return std::move(read.unknown);
}

outcome<void> core::check_body(call& c, json::object& o, arrival how) const {
  const std::string_view version = text(o, {"apiVersion"}), kind = text(o, {"kind"});
  if ((!version.empty() && version != c.kind->api_version()) ||
      (!kind.empty() && kind != c.kind->kind)) {
    if (c.kind->custom || !kinds.find_kind(version, kind)) {
      return not_decodable(*c.kind, "no kind " + quoted(kind) + " is registered for version " +
                                        quoted(version) +
                                        " in scheme \"pkg/api/legacyscheme/scheme.go:30\"");
    }
    return bad_request("the API version in the data (" + std::string(version) +
                       ") does not match the expected API version (" + c.kind->api_version() + ")");
  }
  std::vector<std::string> unknown;
  if (c.kind->type) {
    auto fields = check_fields(c, o, how);
    if (!fields) return fields.error();
    unknown = std::move(*fields);
  }
  const auto wrong = [&](std::string_view where) {
    return not_decodable(*c.kind,
                         "json: cannot unmarshal into Go struct field " + std::string(where));
  };
  if (const json::value* meta = o.if_contains("metadata");
      meta && !meta->is_object() && !meta->is_null())
    return wrong(".metadata");
  json::object& meta = ensure_object(o, "metadata");
  for (const char* map : {"labels", "annotations"}) {
    const json::value* v = meta.if_contains(map);
    if (!v || v->is_null()) continue;
    const bool fine =
        v->is_object() && std::all_of(v->get_object().begin(), v->get_object().end(),
                                      [](const auto& kv) { return kv.value().is_string(); });
    if (!fine) return wrong("ObjectMeta.metadata." + std::string(map) + " of type string");
  }
  for (const char* list : {"finalizers", "ownerReferences", "managedFields"}) {
    const json::value* v = meta.if_contains(list);
    if (v && v->is_null())
      erase(meta, list);
    else if (v && !v->is_array())
      return wrong("ObjectMeta.metadata." + std::string(list));
  }
  if (c.kind->namespaced) {
    std::string_view ns = text(meta, {"namespace"});
    if (!ns.empty() && ns != c.ns) {
      return bad_request(
          "the namespace of the provided object does not match the namespace sent on the request");
    }
    meta["namespace"] = c.ns;
  } else {
    erase(meta, "namespace");
  }
  if (c.kind->schema) c.kind->schema->prune(o, &unknown);
  if (unknown.empty() || c.validation == strictness::ignore) return {};
  if (c.validation == strictness::strict) {
    std::string all;
    for (const std::string& f : unknown)
      all += (all.empty() ? "" : ", ") + ("unknown field " + quoted(f));
    return refusal_of(*c.kind, o, how, "strict decoding error: " + all);
  }
  for (const std::string& f : unknown) c.warnings.push_back("unknown field " + quoted(f));
  return {};
}

answer core::object_answer(const call& c, int status, const json::object& o) const {
  answer a;
  a.status = status;
  // Most answers are what has just been stored, whose bytes are there.
  const version_ptr as_stored = c.as.raw() && !c.dry_run ? find(*c.kind, key_of(o)) : nullptr;
  const bool is_it =
      as_stored && text(o, {"metadata", "resourceVersion"}) == std::to_string(as_stored->revision);
  a.body = is_it ? c.as.as_stored(*as_stored) : c.as.render(o);
  for (const std::string& w : c.warnings) a.fields.emplace_back("Warning", "299 - " + quoted(w));
  return a;
}

outcome<answer> core::create(call& c) {
  auto body = body_object(c);
  if (!body) return body.error();
  if (auto fine = check_body(c, *body); !fine) return fine.error();
  if (!text(*body, {"metadata", "resourceVersion"}).empty()) {
    return failure{500, "", "resourceVersion should not be set on objects to be created"};
  }
  json::object o = to_storage(*c.kind, std::move(*body));
  erase(ensure_object(o, "metadata"), "managedFields");  // who makes it owns all of it
  auto made = create_object(c, std::move(o));
  if (!made) return made.error();
  return object_answer(c, 201, **made);
}

/// What was written by a version that is not served, as one that was removed, has no manager
/// from the next write on.
void core::drop_unknown_managers(const kind_info& kind, json::object& meta) const {
  json::value* listed = meta.if_contains("managedFields");
  if (!listed || !listed->is_array()) return;
  json::array kept;
  for (json::value& v : listed->get_array()) {
    const json::object* entry = v.if_object();
    if (entry && kinds.find_kind(text(*entry, {"apiVersion"}), kind.kind))
      kept.push_back(std::move(v));
  }
  if (kept.empty())
    erase(meta, "managedFields");
  else
    *listed = std::move(kept);
}

outcome<core::stored> core::create_object(call& c, json::object o, const json::object* status) {
  const kind_info& kind = *c.kind;
  json::object& meta = ensure_object(o, "metadata");
  std::string name(text(meta, {"name"}));
  if (name.empty()) {
    std::string prefix(text(meta, {"generateName"}));
    if (!prefix.empty()) {
      name = prefix.substr(0, 58) + options.entropy->suffix(kGeneratedSuffix);
      meta["name"] = name;
    }
  }
  if (kind.namespaced) {
    version_ptr ns = objects.get("/namespaces", c.ns);
    if (!ns) {
      static const kind_ptr namespaces = kinds.find("", "v1", "namespaces");
      return not_found(*namespaces, c.ns);
    }
    if (ns->is_ending) {
      failure f = forbidden(
          kind, name,
          "unable to create new content in namespace " + c.ns + " because it is being terminated");
      f.details["causes"] =
          json::array{json::object{{"reason", "NamespaceTerminating"},
                                   {"message", "namespace " + c.ns + " is being terminated"},
                                   {"field", "metadata.namespace"}}};
      return f;
    }
  }
  if (uses_rbac() && !c.who.user.empty()) {
    // A PUT or an apply that makes an object needs the right to make it.
    attributes making;
    making.verb = "create";
    making.group = kind.group;
    making.resource = kind.plural;
    making.ns = c.ns;
    making.name = c.name;
    if (c.in->method != "POST")
      if (auto no = refuses(c.who, making)) return *no;
  }
  if (auto no = refuses_grant(c, o)) return *no;
  for (const char* f :
       {"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "resourceVersion"})
    erase(meta, f);
  prepare_for_create(kind, o);
  set_defaults(kind, o);
  if (kind.schema) kind.schema->set_defaults(o);
  json::object& m = ensure_object(o, "metadata");
  m["uid"] = options.entropy->uuid();
  if (kind.generation) {
    m["generation"] = 1;
  } else {
    erase(m, "generation");
  }
  m["creationTimestamp"] = timestamp();
  field_errors errors = validate(kind, o);
  if (kind.schema) kind.schema->validate(o, errors);
  if (!errors.empty()) return invalid(kind, name, errors);
  const std::string key = object_path(kind.namespaced ? c.ns : std::string(), name);
  if (find(kind, key)) {
    return already_exists(kind, name);
  }
  if (kind.kind == "CustomResourceDefinition" && !kind.custom) {
    field_errors wrong = validate_crd(o);
    if (!wrong.empty()) return invalid(kind, name, wrong);
    settle_crd(o);
  }
  if (kind.kind == "Service" && !kind.custom) {
    field_errors taken = taken_node_ports(objects.objects(kind.collection()), key, o);
    if (!taken.empty()) return invalid(kind, name, taken);
  }
  if (options.managed_fields) {
    if (!text(m, {"uid"}).empty() && !m.contains("managedFields")) {
      track_update(kind, nullptr, o, {c.manager, c.subresource, timestamp()});
    }
  } else {
    erase(m, "managedFields");
  }
  allocate(kind, nullptr, o, *options.entropy);
  if (status) {
    json::object& merged = ensure_object(o, "status");
    for (const auto& [field, v] : *status) merged[field] = v;
  }
  if (c.dry_run) return std::make_shared<const json::object>(std::move(o));
  return commit_put(kind, key, std::move(o));
}

outcome<answer> core::replace(call& c) {
  auto body = body_object(c);
  if (!body) return body.error();
  if (auto fine = check_body(c, *body); !fine) return fine.error();
  const std::string_view name = text(*body, {"metadata", "name"});
  if (name.empty()) {
    if (!text(*body, {"metadata", "generateName"}).empty())
      return bad_request("name must be provided");
    return bad_request("name must be provided");
  }
  if (name != c.name) {
    return bad_request("the name of the object (" + std::string(name) +
                       ") does not match the name on the URL (" + c.name + ")");
  }
  version_ptr old = find(*c.kind, c.key());
  json::object o = to_storage(*c.kind, std::move(*body));
  if (!old) {
    if (!c.kind->create_on_update || !c.subresource.empty()) return not_found(*c.kind, c.name);
    auto made = create_object(c, std::move(o));
    if (!made) return made.error();
    return object_answer(c, 201, **made);
  }
  if (text(o, {"metadata", "resourceVersion"}).empty() && !c.kind->unconditional_update) {
    return invalid(
        c.kind->group, c.kind->plural, c.name,
        {field_error::invalid("metadata.resourceVersion", 0, "must be specified for an update")});
  }
  auto updated = update_object(c, *old, std::move(o));
  if (!updated) return updated.error();
  return object_answer(c, 200, **updated);
}

namespace {

/// Whether a Role or binding of this content gives what it gave; of other kinds always.
bool same_grant(const json::object& before, const json::object& after) {
  for (const char* field : {"rules", "aggregationRule", "subjects", "roleRef"}) {
    const json::value *was = find(before, {field}), *is = find(after, {field});
    if (!was != !is || (was && !same(*was, *is))) return false;
  }
  return true;
}

}  // namespace

outcome<core::stored> core::update_object(call& c, const version& old_version, json::object o,
                                          update_plan plan) {
  const kind_info& kind = *c.kind;
  const auto looked = old_version.look();
  const json::object& old = *looked;
  const json::object& old_meta = old.at("metadata").as_object();
  json::object& meta = ensure_object(o, "metadata");
  const std::string_view rv = text(meta, {"resourceVersion"});
  if (!rv.empty() && rv != "0" && rv != std::to_string(old_version.revision))
    return modified_meanwhile(kind, c.name);
  const std::string uid(text(meta, {"uid"}));
  if (!uid.empty() && uid != text(old_meta, {"uid"})) {
    return conflict(kind, c.name,
                    "Precondition failed: UID in precondition: " + uid +
                        ", UID in object meta: " + std::string(text(old_meta, {"uid"})));
  }
  const bool status_only = c.subresource == "status";
  if (status_only) {
    restore(o, old, {"status", "metadata"});
    if (kind.custom)
      restore(meta, old_meta, {"managedFields"});
    else
      restore(meta, old_meta, {"managedFields", "labels", "annotations", "finalizers"});
  } else if (kind.status_subresource) {
    put_or_erase(o, "status", old.if_contains("status"));
  }
  json::object& m = ensure_object(o, "metadata");
  for (const char* f : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp",
                        "deletionGracePeriodSeconds", "generation", "generateName", "selfLink"}) {
    put_or_erase(m, f, old_meta.if_contains(f));
  }
  m["resourceVersion"] = std::to_string(old_version.revision);
  for (const char* f : {"labels", "annotations"}) {
    if (const json::value* v = m.if_contains(f);
        v && (v->is_null() || (v->is_object() && v->get_object().empty()))) {
      erase(m, f);
    }
  }
  for (const char* f : {"finalizers", "ownerReferences"}) {
    if (const json::value* v = m.if_contains(f);
        v && (v->is_null() || (v->is_array() && v->get_array().empty()))) {
      erase(m, f);
    }
  }
  set_defaults(kind, o);
  if (kind.schema) kind.schema->set_defaults(o);
  field_errors errors = validate_update(kind, old, o);
  if (kind.schema) kind.schema->validate(o, errors, &old);
  if (m.contains("deletionTimestamp")) {
    const json::array* before = find_array(old_meta, {"finalizers"});
    if (const json::array* after = find_array(m, {"finalizers"})) {
      for (const json::value& f : *after) {
        if (!before || std::find(before->begin(), before->end(), f) == before->end()) {
          errors.push_back(field_error::forbidden(
              "metadata.finalizers",
              "no new finalizers can be added if the object is being deleted, found "
              "new finalizers []string{" +
                  json::serialize(f) + "}"));
        }
      }
    }
  }
  const bool is_crd = kind.kind == "CustomResourceDefinition" && !kind.custom;
  if (is_crd && !status_only) {
    field_errors wrong = validate_crd(o);
    errors.insert(errors.end(), wrong.begin(), wrong.end());
  }
  if (kind.kind == "Service" && !kind.custom && !status_only) {
    field_errors taken = taken_node_ports(objects.objects(kind.collection()), c.key(), o);
    errors.insert(errors.end(), taken.begin(), taken.end());
  }
  if (!errors.empty()) return invalid(kind, c.name, errors);
  if (!same_grant(old, o))
    if (auto no = refuses_grant(c, o)) return *no;
  if (is_crd) settle_crd(o);
  if (kind.generation && !status_only && spec_differs(kind, old, o)) {
    m["generation"] = number(old_meta, {"generation"}) + 1;
  }
  if (!options.managed_fields) {
    erase(m, "managedFields");
  } else if (plan.managed) {
    m["managedFields"] = *plan.managed;
    if (plan.managed->empty()) erase(m, "managedFields");
  } else {
    track_update(kind, &old, o, {c.manager, c.subresource, timestamp()});
  }
  drop_unknown_managers(kind, ensure_object(o, "metadata"));
  const bool deleting = m.contains("deletionTimestamp");
  const bool held =
      m.contains("finalizers") || number(m, {"deletionGracePeriodSeconds"}) > 0 ||
      (kind.kind == "Namespace" && !kind.custom && find_array(o, {"spec", "finalizers"}) &&
       !find_array(o, {"spec", "finalizers"})->empty());
  const auto as_it_would_be = [&] { return std::make_shared<const json::object>(std::move(o)); };
  if (deleting && !held)
    return c.dry_run ? as_it_would_be() : commit_remove(kind, c.key(), std::move(o));
  allocate(kind, &old, o, *options.entropy);
  if (same_content(old, o)) return looked;
  return c.dry_run ? as_it_would_be() : commit_put(kind, c.key(), std::move(o));
}

}  // namespace k8s::sim
