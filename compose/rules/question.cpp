#include "compose/rules/question.hpp"

#include "compose/rules/answer.hpp"
#include "compose/rules/declaration.hpp"
#include "compose/rules/names.hpp"
#include "formats/digest.hpp"
#include "policies/host/pack.hpp"
#include "policies/host/value_view.hpp"
#include "policies/moment.hpp"
#include "reactor/plain/printable.hpp"

#include <chrono>

namespace policies {

namespace {
constexpr const char* object_record = "composed object";
}

template <>
struct view_record<compose::object> {
  using o = compose::object;
  static constexpr const char* name = object_record;
  static constexpr field fields[] = {
      field_of<&o::api_version>("apiVersion", "such as apps/v1"),
      field_of<&o::kind>("kind"),
      field_of<&o::name>("name"),
      field_of<&o::ns>("namespace", "empty: it lies in none"),
      field_of<&o::uid>("uid"),
      field_of<&o::controller>("owner", "who controls it, such as Shop/blue; empty: no object"),
      field_of<&o::labels>("labels"),
      field_of<&o::annotations>("annotations"),
      field_of<&o::created>("created", "", "unix seconds"),
      field_of<&o::generation>("generation"),
      field_of<&o::deleting>("deleting", "its deletion was requested"),
      field_of<&o::ready>("ready",
                          "by its own status: rolled out to its end, bound, through; what reports "
                          "nothing is ready"),
      field_of<&o::spec>("spec", "nil: it has none"),
      field_of<&o::status>("status", "nil: it has none"),
      field_of<&o::data>("data", "of a ConfigMap, its texts by key; of a Secret nil"),
      field_of<&o::digests>("digests", "of a ConfigMap and a Secret, by key of data: sha256:…"),
      field_of<&o::edited>("edited",
                           "keys of data that another writer changed since we wrote them"),
      field_of<&o::rest>("rest", "its other fields by name, such as type or rules"),
  };
};

template <>
struct view_record<compose::data_files> {
  using f = compose::data_files;
  static constexpr const char* name = "data files";
  static constexpr field fields[] = {
      field_of<&f::text>("text", "by path in the folder"),
      field_of<&f::digest>("digest", "of all of them"),
      field_of<&f::problem>("problem",
                            "why these are not the newest, or there are none; empty: they are"),
      field_of<&f::refused>("refused",
                            "what compose.data says against newer ones; these are the last that "
                            "it took, or else those; empty: nothing"),
      field_of<&f::environment>("environment",
                                "what the process's environment says, of `composes.environment`"),
  };
};

namespace compose {
namespace {

using objects = std::map<std::string, std::shared_ptr<const object>>;

std::map<std::string, std::string> texts_at(const value& in, std::string_view key) {
  std::map<std::string, std::string> out;
  const value* v = in.find(key);
  const value::object* members = v == nullptr ? nullptr : v->if_object();
  if (members == nullptr) return out;
  for (const auto& [name, member] : *members) {
    if (const std::string* text = member.if_string()) out.emplace(name, *text);
  }
  return out;
}

double number_at(const value& in, std::string_view key) {
  const value* v = in.find(key);
  const double* n = v == nullptr ? nullptr : v->if_number();
  return n == nullptr ? 0 : *n;
}

double number_at(const value& in, std::string_view key, double otherwise) {
  const value* v = in.find(key);
  return v == nullptr || v->if_number() == nullptr ? otherwise : *v->if_number();
}

std::vector<std::string> edited_keys(const object& o) {
  std::vector<std::string> out;
  const auto noted = o.annotations.find(std::string(mark::wrote));
  if (noted == o.annotations.end()) return out;
  const auto wrote = read_wrote(noted->second);
  for (const auto& [key, digest] : wrote) {
    const auto now = o.digests.find(key);
    if (!digest.empty() && now != o.digests.end() && short_digest(now->second) != digest)
      out.push_back(key);
  }
  return out;
}

void read_owners(object& o, const value& metadata) {
  const value* owners = metadata.find("ownerReferences");
  const value::array* list = owners == nullptr ? nullptr : owners->if_array();
  if (list == nullptr) return;
  for (const value& one : *list) {
    std::string uid = one.text_of("uid");
    const value* controls = one.find("controller");
    if (controls != nullptr && controls->if_bool() != nullptr && *controls->if_bool()) {
      o.controller_uid = uid;
      o.controller = one.text_of("kind") + "/" + one.text_of("name");
    }
    o.owner_uids.push_back(std::move(uid));
  }
}

bool says(const object& o, std::string_view type) {
  const value* list = o.status.find("conditions");
  if (list == nullptr || list->if_array() == nullptr) return true;
  for (const value& c : *list->if_array()) {
    if (c.text_of("type") == type) return c.text_of("status") == "True";
  }
  return true;
}

}  // namespace

std::string object_name::text(std::string_view home) const {
  return kind.kind + " " + (ns.empty() || ns == home ? name : ns + "/" + name);
}

std::string key_of(const object_name& o, std::string_view parents_ns) {
  return o.kind.kind + "/" + (o.ns.empty() || o.ns == parents_ns ? o.name : o.ns + "/" + o.name);
}

bool is_ready(const object& o) {
  if (o.deleting) return false;
  const auto current = [&] { return number_at(o.status, "observedGeneration") >= o.generation; };
  if (o.kind == "Deployment" || o.kind == "StatefulSet" || o.kind == "ReplicaSet") {
    const double wanted = number_at(o.spec, "replicas", 1);
    return current() && number_at(o.status, "readyReplicas") >= wanted &&
           number_at(o.status, "replicas") == wanted &&
           (o.kind == "ReplicaSet" || number_at(o.status, "updatedReplicas") >= wanted);
  }
  if (o.kind == "DaemonSet") {
    const double wanted = number_at(o.status, "desiredNumberScheduled");
    return current() && number_at(o.status, "numberReady") >= wanted &&
           number_at(o.status, "updatedNumberScheduled") >= wanted;
  }
  if (o.kind == "PersistentVolumeClaim") return o.status.text_of("phase") == "Bound";
  if (o.kind == "Job") {
    const double wanted = number_at(o.spec, "completions", 1);
    return number_at(o.status, "succeeded") >= wanted;
  }
  const value* ready = o.status.find("isReady");
  if (ready != nullptr && ready->if_bool() != nullptr) return *ready->if_bool();
  if (o.kind == "Pod" && o.status.find("conditions") == nullptr) return false;
  return says(o, "Ready") && says(o, "Available");
}

object read_object(const kind_name& what, const value& sent) {
  object o;
  o.api_version = what.api_version;
  o.kind = what.kind;
  if (const value* metadata = sent.find("metadata")) {
    o.name = metadata->text_of("name");
    o.ns = metadata->text_of("namespace");
    o.uid = metadata->text_of("uid");
    o.resource_version = metadata->text_of("resourceVersion");
    o.labels = texts_at(*metadata, "labels");
    o.annotations = texts_at(*metadata, "annotations");
    o.generation = number_at(*metadata, "generation");
    o.deleting = metadata->find("deletionTimestamp") != nullptr;
    if (const auto t = reactor::parse_rfc3339(metadata->text_of("creationTimestamp")))
      o.created = policies::unix_seconds(*t);
    read_owners(o, *metadata);
    if (const value* list = metadata->find("finalizers"); list != nullptr && list->if_array())
      for (const value& one : *list->if_array())
        if (one.if_string() != nullptr) o.finalizers.push_back(*one.if_string());
  }
  value::object rest;
  if (const value::object* members = sent.if_object()) {
    for (const auto& [key, member] : *members) {
      if (key == "spec") {
        o.spec = member;
      } else if (key == "status") {
        o.status = member;
      } else if (key == "digests") {
        o.digests = texts_at(sent, "digests");
      } else if (key == "data" || key == "stringData" || key == "binaryData") {
        if (key == "data" && what.kind != "Secret") o.data = member;
      } else if (key != "metadata" && key != "apiVersion" && key != "kind") {
        rest.emplace(key, member);
      }
    }
  }
  o.rest = std::move(rest);
  if (what.kind == "ConfigMap") {
    for (const auto& [key, text] : texts_at(sent, "data"))
      o.digests.insert_or_assign(key, formats::digest_of(text));
  }
  o.edited = edited_keys(o);
  o.ready = is_ready(o);
  return o;
}

std::vector<argument> sync_arguments(std::shared_ptr<const question> q, reactor::wall_time now) {
  std::vector<argument> out;
  out.emplace_back(view_of(q->parent));
  out.emplace_back(view_of(std::shared_ptr<const objects>(q, &q->related)));
  out.emplace_back(view_of(std::shared_ptr<const objects>(q, &q->children)));
  out.emplace_back(view_of(q->files));
  out.push_back(now_argument(now));
  return out;
}

std::vector<argument> related_arguments(std::shared_ptr<const question> q) {
  std::vector<argument> out;
  out.emplace_back(view_of(q->parent));
  return out;
}

std::vector<argument> data_arguments(std::shared_ptr<const data_files> files) {
  std::vector<argument> out;
  out.emplace_back(view_of(std::move(files)));
  return out;
}

const shape& verdict_shape() {
  static const shape all =
      record_shape("verdict",
                   {maybe("problem", text_shape("a sentence"),
                          "why they are refused; empty or nil: they are good"),
                    maybe("warnings", list_shape(text_shape("a sentence")),
                          "what in them has no effect, or not the one that its "
                          "author means; the service logs it")},
                   "a table with problem and warnings");
  return all;
}

reactor::result<data_verdict> read_verdict(const value& answer) {
  if (auto fine = check(answer, verdict_shape()); !fine) return fine.error();
  data_verdict v;
  v.problem = reactor::printable(answer.text_of("problem"), longest_verdict);
  if (const value* list = answer.find("warnings"); list != nullptr && list->if_array() != nullptr)
    for (const value& one : *list->if_array())
      if (v.warnings.size() < most_warnings && one.if_string() != nullptr)
        v.warnings.push_back(reactor::printable(*one.if_string(), longest_verdict));
  return v;
}

std::int64_t sync_instructions(const question& q) {
  constexpr std::int64_t once = 2'000'000, each = 20'000;
  return once + each * static_cast<std::int64_t>(q.related.size() + q.children.size());
}

namespace {

shape_member parent_described() {
  return {"parent", shape_of<object>(), "the custom resource"};
}

/// About a parent of the pack's own first kind, with the pack's own files.
std::shared_ptr<question> question_to(const pack& p) {
  auto q = typical_question();
  const auto about = read_declaration(p.about());
  if (!about) return q;
  if (!about->parents.empty()) {
    auto parent = std::make_shared<object>(*q->parent);
    parent->api_version = about->parents.front().api_version;
    parent->kind = about->parents.front().kind;
    q->parent = std::move(parent);
  }
  if (!about->data.empty()) q->files = std::make_shared<data_files>(own_files(p, *about));
  return q;
}

/// What `read` makes of an answer about the parent of the question. A test may leave out what every
/// object has. A pack without `composes` is asked by no controller: then its form alone counts.
template <class Answer>
reactor::result<void> judged(const value& answer, const hook::asking& of, const shape& form,
                             reactor::result<Answer> (*read)(const value&, const declaration&,
                                                             const object&)) {
  if (of.composes.is_null()) return check(answer, form);
  manifest m;
  m.composes = of.composes;
  const auto about = read_declaration(m);
  if (!about) return about.error();
  const value seen = plain_argument(of.question, 0);
  object parent;
  parent.api_version = about->parents.front().api_version;
  parent.kind = about->parents.front().kind;
  for (const auto& [field, into] :
       {std::pair{"apiVersion", &parent.api_version}, std::pair{"kind", &parent.kind},
        std::pair{"name", &parent.name}, std::pair{"namespace", &parent.ns},
        std::pair{"uid", &parent.uid}})
    if (std::string text = seen.text_of(field); !text.empty()) *into = std::move(text);
  if (parent.uid.empty()) parent.uid = "1";
  return outcome_of(read(answer, *about, parent));
}

std::vector<std::vector<argument>> typical_syncs(const pack& p) {
  std::vector<std::vector<argument>> out;
  out.push_back(
      sync_arguments(question_to(p), reactor::wall_time(std::chrono::seconds(1'795'428'000))));
  return out;
}

}  // namespace

void seal(data_files& f) {
  std::string all;
  for (const auto& [name, text] : f.text)
    all += formats::sha256_hex(name) + formats::sha256_hex(text);
  f.digest = formats::digest_of(all);
}

data_files own_files(const pack& p, const declaration& about) {
  data_files out;
  if (!about.data.empty())
    for (const auto& [name, text] : p.files())
      if (name.starts_with(about.data))
        out.text.insert_or_assign(name.substr(about.data.size()), text);
  seal(out);
  return out;
}

std::shared_ptr<question> typical_question() {
  auto q = std::make_shared<question>();
  auto parent = std::make_shared<object>();
  parent->api_version = "example.com/v1";
  parent->kind = "Shop";
  parent->name = "blue";
  parent->ns = "shops";
  parent->uid = "1";
  parent->created = 1'795'000'000;
  parent->spec = value::object{};
  q->parent = std::move(parent);
  auto files = std::make_shared<data_files>();
  files->problem = "there are no files";
  q->files = std::move(files);
  return q;
}

hook sync_hook() {
  hook h;
  h.name = "compose.sync";
  h.question = "which objects should exist for this custom resource, and what does it report?";
  h.asked =
      "for one object of a kind in `composes.parents`, whenever it, a child, something related or "
      "a data file changed; while it is being deleted only with a finalizer";
  h.failure = "nothing is changed; the condition Composed of the parent says why";
  h.budget = "2,000,000 instructions and 20,000 an object among related and children";
  h.declares = {"composes", declaration_shape(), "which kinds it is about"};
  const std::string keys = " by \"Secret/auth\"; \"Secret/ns/auth\" for a parent in no namespace";
  h.arguments = {parent_described(),
                 {"related", shape_of<objects>(), "what compose.related asked for," + keys},
                 {"children", shape_of<objects>(), "what was made for it, as it is now," + keys},
                 {"files", shape_of<data_files>(), "the pack's data, read at each call"},
                 now_described()};
  h.answer = answer_shape();
  h.typical = typical_syncs;
  h.takes = [](const value& answer, const hook::asking& of) {
    return judged(answer, of, answer_shape(), &read_answer);
  };
  h.instructions = 2'000'000;
  return h;
}

hook related_hook() {
  hook h;
  h.name = "compose.related";
  h.question = "what else does the answer for this custom resource depend on?";
  h.asked = "before compose.sync; a pack that looks at nothing else leaves it out";
  h.failure = "nothing is changed; the condition Composed of the parent says why";
  h.budget = "200,000 instructions";
  h.arguments = {parent_described()};
  h.answer = related_shape();
  h.takes = [](const value& answer, const hook::asking& of) {
    return judged(answer, of, related_shape(), &read_related);
  };
  h.typical = [](const pack& p) {
    std::vector<std::vector<argument>> out;
    out.push_back(related_arguments(question_to(p)));
    return out;
  };
  return h;
}

hook data_hook() {
  hook h;
  h.name = "compose.data";
  h.question = "may these files take the place of those in force?";
  h.asked =
      "when the folder that `composes.data_from` names has other files than before; a pack without "
      "it takes what can be read";
  h.failure = "the last good files stay in force, and the condition DataLoaded says why";
  h.budget = "2,000,000 instructions";
  h.arguments = {{"files", shape_of<data_files>(), "as they are in the folder now"}};
  h.answer = verdict_shape();
  h.takes = [](const value& answer, const hook::asking&) {
    return outcome_of(read_verdict(answer));
  };
  h.typical = [](const pack& p) {
    std::vector<std::vector<argument>> out;
    out.push_back(data_arguments(question_to(p)->files));
    return out;
  };
  h.instructions = data_instructions;
  return h;
}

}  // namespace compose
}  // namespace policies
