// What an answer may be and how it is read, field beside field: a shape and its reading change
// together.
#include "compose/rules/answer.hpp"

#include "compose/rules/names.hpp"
#include "policies/hold_text.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace policies::compose {
namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::size_t most_conditions = 30, most_events = 20, most_inputs = 64;
constexpr std::size_t longest_secret = 1024;
constexpr std::size_t most_text_bytes = 512 * 1024;  // of one object; an API server takes 1.5 MiB
constexpr std::size_t shown_characters = 80;

constexpr std::string_view core_conditions[] = {"Composed", "DataLoaded"};

shape object_shape() {
  shape any;
  return record_shape("object reference",
                      {{"apiVersion", text_shape("such as v1"), ""},
                       {"kind", text_shape("such as Secret"), ""},
                       maybe("name", text_shape("a name"), "one object; or else `labels`"),
                       maybe("namespace", text_shape("a namespace"),
                             "only for a parent that lies in none; else it is the parent's"),
                       maybe("labels", map_shape(text_shape()), "all that have these")},
                      "a table with apiVersion, kind and name");
}

shape block_shape() {
  return record_shape(
      "text block",
      {{"text", text_shape(), "its lines"},
       maybe("name", text_shape("a word"), "between whose marks it stands; the pack's without it"),
       maybe("after", text_shape("a line"),
             "where it goes at first, such as [http_server]; else the end"),
       maybe("without", list_shape(text_shape("a name")),
             "lines `name = …` elsewhere in the text are taken out"),
       maybe("comment", text_shape("such as #"), "what begins a comment; # without it")},
      "a table with text");
}

shape event_shape() {
  return either_shape(
      "a reason, or { reason = reason, message = sentence }",
      {text_shape("one word"),
       record_shape("event of a write",
                    {{"reason", text_shape("one word"), ""},
                     maybe("message", text_shape("a sentence"),
                           "without it the object's name and what was done; of a failure it stands "
                           "before them")},
                    "a table with reason")});
}

shape write_events_shape() {
  return record_shape(
      "events of writes",
      {maybe("created", event_shape(), "Normal, after the server took the new object"),
       maybe("updated", event_shape(), "Normal, after the server took a change"),
       maybe("create_failed", event_shape(), "Warning, with the server's words"),
       maybe("update_failed", event_shape(), "Warning, with the server's words")},
      "a table with created, updated, create_failed, update_failed");
}

shape child_shape() {
  return record_shape(
      "child",
      {{"object", map_shape(shape()),
        "as Kubernetes writes it: apiVersion, kind, metadata.name and its fields. `{}` is "
        "an empty object, `list()` an empty list. Of a Secret, `data` is in clear; a value may "
        "be "
        "`{ generate = \"ed25519\" | \"password\" | \"bytes\", length = 32 }`, `{ public_of = "
        "key }` or `{ copy = { secret = name, key = key } }`: it is filled in and never seen"},
       maybe(
           "way", word_shape({"own", "create", "add-keys", "lines"}),
           "own: fields are applied and repaired (also without it); create: made again when it is "
           "gone, else left alone; add-keys: keys of its data, each until a person edits it; "
           "lines: a block in a text"),
       maybe("adopt", flag_shape(),
             "an object of that name without an owner is taken over; else it is a conflict"),
       maybe("lines", map_shape(block_shape()), "of the way lines, by key of data"),
       maybe("inputs", list_shape(text_shape("such as Secret/auth")),
             "of related and children, or of this answer: written once they are there and "
             "ready; their digest goes to the annotations of its pods"),
       maybe("inputs_as", text_shape("an annotation"), "windlass.dev/inputs without it"),
       maybe("events", write_events_shape(),
             "about the parent, told once a write of this object has ended. Without create_failed "
             "and "
             "update_failed a failure is the event Held")},
      "a table with object");
}

/// What went wrong, where.
struct place {
  std::string path;
  reactor::fault wrong(std::string_view at, std::string_view why) const {
    return make_fault(errc::malformed, {}, path + std::string(at) + ": " + std::string(why));
  }
};

std::size_t bytes_in(const value& v) {
  if (const std::string* text = v.if_string()) return text->size();
  std::size_t n = 8;
  if (const auto* list = std::get_if<value::array>(&v.data))
    for (const value& one : *list) n += bytes_in(one);
  if (const auto* members = std::get_if<value::object>(&v.data))
    for (const auto& [key, member] : *members) n += key.size() + bytes_in(member);
  return n;
}

bool is_condition_word(std::string_view text) {
  return !text.empty() && text.size() <= 64 && is_code(text);
}

class child_reader {
public:
  child_reader(const declaration& about, const object& parent) : about_(about), parent_(parent) {}

  result<child> read(const value& v, std::size_t number) {
    at_.path = "children[" + std::to_string(number) + "]";
    child c;
    const value& given = *v.find("object");
    if (bytes_in(given) > most_text_bytes) return at_.wrong(".object", "more than 512 KiB");
    if (auto fine = read_identity(given, c); !fine) return fine.error();
    if (auto fine = read_way(v, c); !fine) return fine.error();
    c.body = given;
    auto& members = std::get<value::object>(c.body.data);
    if (members.contains("status")) return at_.wrong(".object.status", "a status is its owner's");
    if (auto fine = read_metadata(members); !fine) return fine.error();
    if (c.is_secret()) {
      if (auto fine = read_secret(members, c); !fine) return fine.error();
    }
    if (auto fine = read_inputs(v, c); !fine) return fine.error();
    if (auto fine = read_events(v, c); !fine) return fine.error();
    return c;
  }

private:
  result<void> read_identity(const value& given, child& c) {
    c.id.kind = {given.text_of("apiVersion"), given.text_of("kind")};
    if (c.id.kind.api_version.empty() || c.id.kind.kind.empty())
      return at_.wrong(".object", "expected apiVersion and kind");
    if (!about_.is_child(c.id.kind))
      return at_.wrong(".object.kind", c.id.kind.api_version + " " + c.id.kind.kind +
                                           " is not among composes.children of the pack");
    const value* metadata = given.find("metadata");
    if (metadata == nullptr) return at_.wrong(".object.metadata", "expected a table with name");
    c.id.name = metadata->text_of("name");
    if (!is_dns_subdomain(c.id.name))
      return at_.wrong(
          ".object.metadata.name",
          "'" + reactor::printable(c.id.name, shown_characters) + "' is no name of an object");
    c.id.ns = metadata->text_of("namespace");
    if (!c.id.ns.empty() && (!is_dns_subdomain(c.id.ns) || c.id.ns.size() > 63))
      return at_.wrong(
          ".object.metadata.namespace",
          "'" + reactor::printable(c.id.ns, shown_characters) + "' is no name of a namespace");
    if (!parent_.ns.empty()) {
      if (!c.id.ns.empty() && c.id.ns != parent_.ns)
        return at_.wrong(".object.metadata.namespace",
                         "children of an object lie in its namespace, " + parent_.ns);
      c.id.ns = parent_.ns;
    }
    if (c.id == parent_.id()) return at_.wrong(".object", "it is the parent itself");
    return {};
  }

  result<void> read_way(const value& v, child& c) {
    const std::string word = v.text_of("way");
    c.how = word == "create"     ? way::create
            : word == "add-keys" ? way::add_keys
            : word == "lines"    ? way::lines
                                 : way::own;
    if (const value* adopt = v.find("adopt")) c.adopt = *adopt->if_bool();
    const bool has_data =
        c.id.kind.api_version == "v1" && (c.id.kind.kind == "ConfigMap" || c.is_secret());
    if (c.how == way::add_keys && !has_data)
      return at_.wrong(".way", "add-keys is for ConfigMaps and Secrets");
    if (c.how == way::lines && (!has_data || c.is_secret()))
      return at_.wrong(".way", "lines is for ConfigMaps");
    const value* lines = v.find("lines");
    if ((lines != nullptr) != (c.how == way::lines))
      return at_.wrong(".lines", c.how == way::lines ? "expected the blocks of the way lines"
                                                     : "it belongs to the way lines");
    if (lines == nullptr) return {};
    for (const auto& [key, one] : *lines->if_object()) {
      text_block b;
      b.key = key;
      b.text = one.text_of("text");
      b.name = one.text_of("name");
      if (b.name.empty()) b.name = about_.pack;
      b.after = one.text_of("after");
      if (const std::string comment = one.text_of("comment"); !comment.empty()) b.comment = comment;
      for (const std::string* line : {&b.name, &b.after, &b.comment})
        if (line->find_first_of("\r\n") != std::string::npos)
          return at_.wrong(".lines[\"" + reactor::printable(key, shown_characters) + "\"]",
                           "name, after and comment are one line each");
      if (const value* without = one.find("without"))
        for (const value& name : *without->if_array()) b.without.push_back(*name.if_string());
      c.blocks.push_back(std::move(b));
    }
    return {};
  }

  result<void> read_metadata(value::object& members) {
    auto& metadata = std::get<value::object>(members["metadata"].data);
    for (const auto& [key, member] : metadata) {
      if (key == "name" || key == "namespace") continue;
      const std::string where = ".object.metadata." + reactor::printable(key, shown_characters);
      if (key != "labels" && key != "annotations")
        return at_.wrong(where, "only name, namespace, labels and annotations are a policy's");
      if (member.if_object() == nullptr) return at_.wrong(where, "expected a table of texts");
      for (const auto& [name, text] : *member.if_object()) {
        if (text.if_string() == nullptr || !is_qualified_name(name))
          return at_.wrong(where + "[\"" + reactor::printable(name, shown_characters) + "\"]",
                           "expected a qualified name and a text");
        if (name.starts_with("windlass.dev/composed"))
          return at_.wrong(where + "[\"" + name + "\"]", "it is the core's own");
      }
    }
    metadata.erase("name");
    metadata.erase("namespace");
    return {};
  }

  result<void> read_secret(value::object& members, child& c) {
    for (const char* other : {"stringData", "binaryData"})
      if (members.contains(other))
        return at_.wrong(std::string(".object.") + other, "a Secret's values go into data");
    const auto data = members.find("data");
    if (data == members.end()) return {};
    if (data->second.if_object() == nullptr) return at_.wrong(".object.data", "expected a table");
    for (const auto& [key, v] : *data->second.if_object()) {
      if (const std::string* text = v.if_string()) {
        c.data.emplace(key, *text);
        continue;
      }
      auto ask = read_ask(v, ".object.data[\"" + reactor::printable(key, shown_characters) + "\"]");
      if (!ask) return ask.error();
      c.asks.emplace(key, std::move(*ask));
    }
    members.erase("data");
    if (c.asks.size() > most_asks) return at_.wrong(".object.data", "more than 64 asked values");
    for (const auto& [key, ask] : c.asks) {
      if (ask.from != asked_value::source::public_key) continue;
      const auto of = c.asks.find(ask.of);
      if (of == c.asks.end() || of->second.from != asked_value::source::ed25519)
        return at_.wrong(".object.data[\"" + reactor::printable(key, shown_characters) + "\"]",
                         "public_of: expected a key that is generated beside it");
      if (c.how == way::add_keys)
        return at_.wrong(".object.data",
                         "a pair of keys is made whole, not added to another object's");
    }
    return {};
  }

  result<asked_value> read_ask(const value& v, const std::string& where) {
    const value::object* members = v.if_object();
    if (members == nullptr)
      return at_.wrong(where, "expected a text, or what is to be generated or copied");
    asked_value a;
    for (const auto& [key, ignored] : *members)
      if (key != "generate" && key != "length" && key != "public_of" && key != "copy")
        return at_.wrong(where, "unknown entry '" + reactor::printable(key, shown_characters) +
                                    "'; known are copy, generate, length, public_of");
    const std::string generate = v.text_of("generate"), of = v.text_of("public_of");
    const value* copy = v.find("copy");
    if ((generate.empty() ? 0 : 1) + (of.empty() ? 0 : 1) + (copy == nullptr ? 0 : 1) != 1)
      return at_.wrong(where, "expected one of generate, public_of and copy");
    if (const value* length = v.find("length")) {
      const double* n = length->if_number();
      if (n == nullptr || !(*n >= 8 && *n <= longest_secret) ||
          *n != static_cast<double>(static_cast<std::size_t>(*n)))
        return at_.wrong(where + ".length", "expected a whole number from 8 to 1024");
      a.length = static_cast<std::size_t>(*n);
    }
    if (copy != nullptr) {
      a.from = asked_value::source::copy;
      a.secret = copy->text_of("secret");
      a.key = copy->text_of("key");
      if (!is_dns_subdomain(a.secret) || a.key.empty())
        return at_.wrong(where + ".copy", "expected { secret = name, key = key }");
    } else if (!of.empty()) {
      a.from = asked_value::source::public_key;
      a.of = of;
    } else if (generate == "ed25519") {
      a.from = asked_value::source::ed25519;
    } else if (generate == "password") {
      a.from = asked_value::source::password;
    } else if (generate == "bytes") {
      a.from = asked_value::source::bytes;
    } else {
      return at_.wrong(where + ".generate", "'" + reactor::printable(generate, shown_characters) +
                                                "'; known are bytes, ed25519, password");
    }
    return a;
  }

  result<void> read_inputs(const value& v, child& c) {
    c.inputs_as = v.text_of("inputs_as");
    if (c.inputs_as.empty()) c.inputs_as = mark::inputs;
    if (!is_qualified_name(c.inputs_as)) return at_.wrong(".inputs_as", "it is no annotation");
    const value* inputs = v.find("inputs");
    if (inputs == nullptr) return {};
    if (c.how == way::add_keys || c.how == way::lines)
      return at_.wrong(".inputs", "they are for the ways own and create");
    for (const value& one : *inputs->if_array()) {
      const std::string& text = *one.if_string();
      const std::string where = ".inputs[" + std::to_string(c.inputs.size() + 1) + "]";
      const auto slash = text.find('/');
      object_name name;
      for (const auto* kinds : {&about_.children, &about_.related})
        for (const kind_name& k : *kinds)
          if (name.kind.kind.empty() && k.kind == text.substr(0, slash)) name.kind = k;
      if (slash == text.npos || name.kind.kind.empty())
        return at_.wrong(where, "'" + reactor::printable(text, shown_characters) +
                                    "': expected a declared kind and a name, Secret/auth");
      name.name = text.substr(slash + 1);
      name.ns = c.id.ns;
      if (!is_dns_subdomain(name.name)) return at_.wrong(where, "it is no name");
      if (name == c.id) return at_.wrong(where, "it is the child itself");
      c.inputs.push_back(std::move(name));
    }
    if (c.inputs.size() > most_inputs) return at_.wrong(".inputs", "more than 64");
    return {};
  }

  result<void> read_events(const value& v, child& c) {
    const value* events = v.find("events");
    if (events == nullptr) return {};
    for (auto [name, warns, into] : {std::tuple{"created", false, &c.events.created},
                                     std::tuple{"updated", false, &c.events.updated},
                                     std::tuple{"create_failed", true, &c.events.create_failed},
                                     std::tuple{"update_failed", true, &c.events.update_failed}}) {
      const value* one = events->find(name);
      if (one == nullptr) continue;
      const std::string* reason = one->if_string();
      *into = {warns, reason != nullptr ? *reason : one->text_of("reason"),
               reason != nullptr ? std::string() : one_line(one->text_of("message"))};
      if (!is_condition_word(into->reason))
        return at_.wrong(".events." + std::string(name), "expected a reason of one word");
    }
    return {};
  }

  const declaration& about_;
  const object& parent_;
  place at_;
};

result<void> read_stated(const value& answer, sync_answer& out) {
  if (const value* conditions = answer.find("conditions")) {
    std::set<std::string> types;
    for (const value& one : *conditions->if_array()) {
      const place at{"conditions[" + std::to_string(out.conditions.size() + 1) + "]"};
      stated_condition c{one.text_of("type"), one.text_of("status"), one.text_of("reason"),
                         one_line(one.text_of("message"))};
      if (!is_condition_word(c.type)) return at.wrong(".type", "expected one word");
      if (!is_condition_word(c.reason)) return at.wrong(".reason", "expected one word");
      for (const std::string_view own : core_conditions)
        if (c.type == own) return at.wrong(".type", c.type + " is the core's own");
      if (!types.insert(c.type).second) return at.wrong(".type", c.type + " is there twice");
      out.conditions.push_back(std::move(c));
    }
    if (out.conditions.size() > most_conditions)
      return make_fault(errc::malformed, {}, "conditions: more than 30");
  }
  if (const value* events = answer.find("events")) {
    for (const value& one : *events->if_array()) {
      const place at{"events[" + std::to_string(out.events.size() + 1) + "]"};
      stated_event e{one.text_of("type") == "Warning", one.text_of("reason"),
                     one_line(one.text_of("message"))};
      if (!is_condition_word(e.reason)) return at.wrong(".reason", "expected one word");
      out.events.push_back(std::move(e));
    }
    if (out.events.size() > most_events)
      return make_fault(errc::malformed, {}, "events: more than 20");
  }
  return {};
}

}  // namespace

const shape& answer_shape() {
  static const shape all = record_shape(
      "composition",
      {{"children", list_shape(child_shape()),
        "all that should exist; what was made for the parent and is not among them is "
        "deleted. 500 at most"},
       maybe("status", map_shape(shape()),
             "of the parent, whole: what is not in it is taken out; without it only conditions "
             "are written"),
       maybe(
           "conditions",
           list_shape(record_shape("condition",
                                   {{"type", text_shape("one word"), ""},
                                    {"status", word_shape({"True", "False", "Unknown"}), ""},
                                    {"reason", text_shape("one word"), ""},
                                    maybe("message", text_shape("a sentence"), "for people")},
                                   "a table with type, status and reason")),
           "of the parent, all of them; the core keeps the time of each change and adds Composed"),
       maybe("events",
             list_shape(record_shape("event",
                                     {maybe("type", word_shape({"Normal", "Warning"}), ""),
                                      {"reason", text_shape("one word"), ""},
                                      {"message", text_shape("a sentence"), ""}},
                                     "a table with reason and message")),
             "about the parent, told when they were not told by the answer before"),
       {"look_again",
        number_shape("seconds, 0 or more", 0),
        "ask again after that long although nothing changed; kept between a second and a day",
        "seconds",
        true,
        {}},
       maybe(
           "finalized", flag_shape(),
           "false: a parent that is being deleted must stay although its children are as wanted")},
      "a table with children");
  return all;
}

const shape& related_shape() {
  static const shape all = record_shape(
      "related objects", {{"objects", list_shape(object_shape()), "what to look at; 200 at most"}},
      "a table with objects");
  return all;
}

result<sync_answer> read_answer(const value& answer, const declaration& about,
                                const object& parent) {
  if (auto fine = check(answer, answer_shape()); !fine) return fine.error();
  if (parent.uid.empty())
    return make_fault(errc::malformed, {}, "the parent has no uid, so nothing can be its child");
  sync_answer out;
  const value::array& children = *answer.find("children")->if_array();
  if (children.size() > most_children)
    return make_fault(errc::malformed, {},
                      "children: " + std::to_string(children.size()) + " are more than 500");
  std::set<object_name> seen;
  child_reader reader(about, parent);
  for (const value& one : children) {
    auto c = reader.read(one, out.children.size() + 1);
    if (!c) return c.error();
    if (!seen.insert(c->id).second)
      return place{"children[" + std::to_string(out.children.size() + 1) + "]"}.wrong(
          "", c->id.text(parent.ns) + " is there twice");
    out.children.push_back(std::move(*c));
  }
  if (const value* status = answer.find("status")) {
    out.status = *status;
    if (status->find("conditions") != nullptr)
      return make_fault(errc::malformed, {}, "status.conditions: they go into conditions");
  }
  if (auto fine = read_stated(answer, out); !fine) return fine.error();
  if (const value* seconds = answer.find("look_again"))
    out.look_again = bounded_wait(*seconds->if_number());
  if (const value* finalized = answer.find("finalized")) out.finalized = *finalized->if_bool();
  return out;
}

bool related_query::matches(const object_name& o,
                            const std::map<std::string, std::string>& its_labels) const {
  // What lies in no namespace is seen from each.
  if (!(o.kind == kind) || (!ns.empty() && !o.ns.empty() && o.ns != ns)) return false;
  if (!name.empty()) return o.name == name;
  return std::all_of(labels.begin(), labels.end(), [&](const auto& wanted) {
    const auto found = its_labels.find(wanted.first);
    return found != its_labels.end() && found->second == wanted.second;
  });
}

result<std::vector<related_query>> read_related(const value& answer, const declaration& about,
                                                const object& parent) {
  if (auto fine = check(answer, related_shape()); !fine) return fine.error();
  std::vector<related_query> out;
  const value::array& objects = *answer.find("objects")->if_array();
  if (objects.size() > most_related)
    return make_fault(errc::malformed, {}, "objects: more than 200");
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const value& one = objects[i];
    const place at{"objects[" + std::to_string(i + 1) + "]"};
    related_query q;
    q.kind = {one.text_of("apiVersion"), one.text_of("kind")};
    if (!about.may_see(q.kind))
      return at.wrong(".kind",
                      reactor::printable(q.kind.api_version + " " + q.kind.kind, shown_characters) +
                          " is neither in composes.related nor in composes.children");
    q.name = one.text_of("name");
    q.ns = one.text_of("namespace");
    if (const value* labels = one.find("labels"))
      for (const auto& [key, text] : *labels->if_object()) q.labels.emplace(key, *text.if_string());
    const bool by_name = one.find("name") != nullptr;
    if (by_name != q.labels.empty()) return at.wrong("", "expected either name or labels");
    // Who may make a parent must not read through it what lies elsewhere.
    if (!parent.ns.empty()) {
      if (!q.ns.empty() && q.ns != parent.ns)
        return at.wrong(".namespace", "an object looks only into its own namespace, " + parent.ns);
      q.ns = parent.ns;
    }
    // It may be what a user wrote into the parent: nothing of that name is there, and the pack
    // tells the user so.
    const bool can_be =
        (!by_name || is_dns_subdomain(q.name)) && (q.ns.empty() || is_dns_subdomain(q.ns));
    if (can_be) out.push_back(std::move(q));
  }
  return out;
}

std::string short_digest(std::string_view digest) {
  const auto colon = digest.find(':');
  if (colon != digest.npos) digest.remove_prefix(colon + 1);
  return std::string(digest.substr(0, 16));
}

std::string write_wrote(const std::map<std::string, std::string>& digests) {
  value::object out;
  for (const auto& [key, digest] : digests) out.emplace(key, digest);
  return to_text(value(std::move(out)));
}

// Keys of data have letters, digits, '-', '_' and '.', digests are hexadecimal: nothing is escaped.
std::map<std::string, std::string> read_wrote(std::string_view annotation) {
  std::map<std::string, std::string> out;
  const auto quoted = [&]() -> std::optional<std::string> {
    if (annotation.empty() || annotation.front() != '"') return std::nullopt;
    const auto end = annotation.find('"', 1);
    if (end == annotation.npos) return std::nullopt;
    std::string text(annotation.substr(1, end - 1));
    annotation.remove_prefix(end + 1);
    return text;
  };
  if (annotation.empty() || annotation.front() != '{') return out;
  for (annotation.remove_prefix(1); !annotation.empty();) {
    auto key = quoted();
    if (!key || annotation.empty() || annotation.front() != ':') break;
    annotation.remove_prefix(1);
    auto digest = quoted();
    if (!digest) break;
    out.insert_or_assign(std::move(*key), std::move(*digest));
    if (annotation.empty() || annotation.front() != ',') break;
    annotation.remove_prefix(1);
  }
  return out;
}

}  // namespace policies::compose
