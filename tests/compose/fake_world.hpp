#pragma once

#include "compose/objects.hpp"
#include "compose/rules/difference.hpp"
#include "compose/rules/names.hpp"
#include "compose/rules/planner.hpp"
#include "formats/digest.hpp"

#include <boost/json.hpp>

#include <string>
#include <vector>

namespace policies::compose {

inline value json(const std::string& text) {
  return ::compose::from_json(boost::json::parse(text));
}

/// A cluster of one map, as far as the planner can tell: it does what a plan says, and knows what a
/// plan must never say.
class fake_world {
public:
  fake_world() {
    about.pack = "shops";
    about.manager = "windlass-shops";
    about.parents = {{"example.com/v1", "Shop"}};
    about.children = {{"v1", "ConfigMap"}, {"v1", "Secret"}, {"apps/v1", "Deployment"}};
    about.related = {{"v1", "Secret"}, {"v1", "Namespace"}};
    put(json(R"({"apiVersion":"example.com/v1","kind":"Shop",
      "metadata":{"name":"blue","namespace":"shops","generation":1}})"));
  }

  declaration about;
  std::map<object_name, value> objects;
  std::map<object_name, settled_write> settled;
  std::map<object_name, std::string> refused;
  std::map<object_name, sibling> claims;
  std::map<std::string, sibling> parents;
  object_name parent{{"example.com/v1", "Shop"}, "shops", "blue"};
  std::vector<std::string> violations;
  std::size_t writes = 0;
  reactor::wall_time now{std::chrono::seconds(1'800'000'000)};

  static object_name id_of(const value& o) {
    const auto text = [](const value* v) {
      return v && v->if_string() ? *v->if_string() : std::string();
    };
    const value* m = o.find("metadata");
    return {{text(o.find("apiVersion")), text(o.find("kind"))},
            m ? text(m->find("namespace")) : "",
            m ? text(m->find("name")) : ""};
  }

  void put(value o) {
    const object_name id = id_of(o);
    auto& metadata = std::get<value::object>(std::get<value::object>(o.data)["metadata"].data);
    if (!metadata.contains("uid")) metadata["uid"] = "uid-" + std::to_string(++uids_);
    if (!metadata.contains("creationTimestamp"))
      metadata["creationTimestamp"] = "2026-01-01T00:00:00Z";
    metadata["resourceVersion"] = std::to_string(++versions_);
    objects.insert_or_assign(id, std::move(o));
  }
  void edit(const object_name& id, const std::string& merge_patch) {
    merge(objects.at(id), json(merge_patch));
    put(objects.at(id));
  }
  object see(const object_name& id) const {
    object o = read_object(id.kind, objects.at(id));
    return o;
  }
  object_name child(const char* kind, const char* name) const {
    for (const kind_name& k : about.children)
      if (k.kind == kind) return {k, "shops", name};
    return {};
  }
  const value* at(const object_name& id, std::initializer_list<const char*> path) const {
    const auto found = objects.find(id);
    const value* v = found == objects.end() ? nullptr : &found->second;
    for (const char* key : path) v = v ? v->find(key) : nullptr;
    return v;
  }
  std::string text(const object_name& id, std::initializer_list<const char*> path) const {
    const value* v = at(id, path);
    return !v ? "" : v->if_string() ? *v->if_string() : to_text(*v);
  }

  sync_input look() const {
    sync_input s;
    s.about = std::make_shared<declaration>(about);
    s.parent = std::make_shared<object>(see(parent));
    for (const auto& [id, o] : objects)
      if (!(id == parent)) s.live.emplace(id, std::make_shared<object>(see(id)));
    s.settled = settled;
    s.refused = refused;
    s.claims = claims;
    s.parents = parents;
    s.without_namespace = {{"v1", "Namespace"}};
    s.now = now;
    return s;
  }
  reactor::result<sync_answer> read(const value& answer) const {
    return read_answer(answer, about, see(parent));
  }
  sync_plan plan(const std::string& answer) const {
    auto read_it = read(json(answer));
    if (!read_it) throw std::runtime_error(read_it.error().message());
    return plan_sync(look(), *read_it);
  }
  /// Plans and carries out until nothing is left, `most` times.
  sync_plan settle(const std::string& answer, int most = 6) {
    sync_plan p = plan(answer);
    while (!p.actions.empty() && most-- > 0) {
      carry_out(p);
      p = plan(answer);
    }
    return p;
  }

  void carry_out(const sync_plan& p, std::size_t first = 1'000) {
    const sync_input s = look();
    for (const action& a : p.actions) {
      if (first-- == 0) return;
      judge(a, s);
      carry_out(a);
    }
  }

  static void merge(value& into, const value& patch) {
    const auto* changes = std::get_if<value::object>(&patch.data);
    if (!changes) {
      into = patch;
      return;
    }
    if (!std::holds_alternative<value::object>(into.data)) into = value::object{};
    auto& members = std::get<value::object>(into.data);
    for (const auto& [key, member] : *changes) {
      if (member.is_null())
        members.erase(key);
      else
        merge(members[key], member);
    }
  }

private:
  void wrong(const action& a, const std::string& why) {
    violations.push_back(std::string(verb(a.what)) + " " + a.of.text() + ": " + why);
  }
  /// What must hold for every action, whatever a hook answered.
  void judge(const action& a, const sync_input& s) {
    const bool of_parent = a.of == parent;
    const bool is_child = about.is_child(a.of.kind);
    const auto there = s.live.find(a.of);
    switch (a.what) {
      case action::kind::add_finalizer:
      case action::kind::remove_finalizer:
      case action::kind::set_status:
        if (!of_parent) wrong(a, "it is not the parent");
        return;
      default: break;
    }
    if (of_parent) wrong(a, "it is the parent");
    if (!is_child) wrong(a, "its kind is not declared");
    if (a.of.ns != parent.ns) wrong(a, "it lies elsewhere");
    if (a.what == action::kind::create && there != s.live.end()) wrong(a, "it is there");
    if (a.what != action::kind::create && there == s.live.end()) wrong(a, "it is not there");
    if (there == s.live.end()) return;
    const object& o = *there->second;
    if (std::find(s.parent->owner_uids.begin(), s.parent->owner_uids.end(), o.uid) !=
        s.parent->owner_uids.end())
      wrong(a, "it owns the parent");
    const bool foreign = !o.controller_uid.empty() && o.controller_uid != s.parent->uid &&
                         !s.parents.contains(o.controller_uid);
    if (foreign) wrong(a, "it belongs to somebody else");
    if (a.what == action::kind::remove &&
        (o.controller_uid != s.parent->uid ||
         o.annotations.find(std::string(mark::manager)) == o.annotations.end()))
      wrong(a, "it is not marked as ours");
    if (a.resource_version != o.resource_version || a.uid != o.uid)
      wrong(a, "it says not what it was decided on");
    for (const auto& [key, ask] : a.asks)
      if (o.digests.contains(key) &&
          (ask.from == asked_value::source::ed25519 || ask.from == asked_value::source::password ||
           ask.from == asked_value::source::bytes))
        wrong(a, key + " is generated again");
  }

  void carry_out(const action& a) {
    ++writes;
    if (a.what == action::kind::remove) {
      objects.erase(a.of);
      return;
    }
    value body = a.body;
    if (!std::holds_alternative<value::object>(body.data)) body = value::object{};
    auto& members = std::get<value::object>(body.data);
    if (auto m = members.find("metadata"); m != members.end())
      if (auto* all = std::get_if<value::object>(&m->second.data)) all->erase("resourceVersion");
    value& o = objects[a.of];
    if (!std::holds_alternative<value::object>(o.data)) o = value::object{};
    if (a.what == action::kind::create) {
      merge(o,
            value(value::object{{"apiVersion", a.of.kind.api_version}, {"kind", a.of.kind.kind}}));
      merge(o, value(value::object{{"metadata", value::object{{"name", a.of.name}}}}));
      if (!a.of.ns.empty())
        merge(o, value(value::object{{"metadata", value::object{{"namespace", a.of.ns}}}}));
    }
    const bool secret = a.of.kind.kind == "Secret";
    if (secret)
      if (auto data = members.find("data"); data != members.end()) {
        members["digests"] = data->second;
        members.erase("data");
      }
    merge(o, body);
    if (secret) {
      value::object digests;
      for (const auto& [key, text] : a.data) digests[key] = formats::digest_of(text);
      for (const auto& [key, ask] : a.asks) {
        if (ask.from == asked_value::source::copy) {
          const object_name source{{"v1", "Secret"}, a.of.ns, ask.secret};
          digests[key] = text(source, {"digests", ask.key.c_str()});
        } else {
          digests[key] = formats::digest_of("random " + std::to_string(++draws_));
        }
      }
      if (!digests.empty()) merge(o, value(value::object{{"digests", std::move(digests)}}));
    }
    put(o);
    if (a.asked.empty()) return;
    const object seen = see(a.of);
    settled[a.of] = {
        a.asked, a.what == action::kind::set_status ? status_content_of(seen) : content_of(seen)};
  }

  std::size_t uids_ = 0, versions_ = 0, draws_ = 0;
};

/// Objects in the way: foreign, unowned, of a younger and an older parent, ending, ours.
inline void furnish(fake_world& w, std::uint8_t how) {
  const auto add = [&](const char* kind, const char* name, const std::string& owner,
                       const char* mark) {
    const bool apps = std::string_view(kind) == "Deployment";
    w.put(json(std::string(R"({"apiVersion":")") + (apps ? "apps/v1" : "v1") + R"(","kind":")" +
               kind + R"(","metadata":{"namespace":"shops","name":")" + name +
               R"(","annotations":{)" +
               (*mark ? std::string(R"("windlass.dev/composed-by":")") + mark + "\"" : "") + "}" +
               (owner.empty()
                    ? ""
                    : R"(,"ownerReferences":[{"controller":true,"kind":"Shop","name":"x","uid":")" +
                          owner + R"("}])") +
               R"(},"data":{"a":"b"}})"));
  };
  if (how & 1) add("ConfigMap", "a", "", "");
  if (how & 2) add("ConfigMap", "b", "stranger", "");
  if (how & 4) add("Secret", "c", "uid-1", "windlass-shops");
  if (how & 8) add("Deployment", "d", "young", "windlass-shops");
  if (how & 16) add("ConfigMap", "e", "uid-1", "windlass-shops");
  if (how & 32) w.edit(w.parent, R"({"metadata":{"deletionTimestamp":"2026-01-02T00:00:00Z"}})");
  if (how & 64) w.about.finalizer = "example.com/f";
  w.parents["young"] = {{{"example.com/v1", "Shop"}, "shops", "young"}, "young", 1e12};
  if (how & 128)
    w.claims[w.child("ConfigMap", "a")] = {{{"example.com/v1", "Shop"}, "shops", "old"}, "old", 1};
}

}  // namespace policies::compose
