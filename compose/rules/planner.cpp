// One plan from one answer: the ways of children share what is already decided of the others, so
// they stay together.
#include "compose/rules/planner.hpp"

#include "compose/rules/difference.hpp"
#include "compose/rules/names.hpp"
#include "compose/rules/text_blocks.hpp"
#include "formats/digest.hpp"
#include "reactor/plain/printable.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

namespace policies::compose {
namespace {

constexpr std::size_t holds_in_a_message = 5, lines_in_a_message = 3;

std::string digest_of(const value& v) {
  return short_digest(formats::digest_of(to_text(v)));
}

value texts(const std::map<std::string, std::string>& map) {
  value::object out;
  for (const auto& [key, text] : map) out.emplace(key, text);
  return out;
}

/// The member of an object, made where it is missing; what stands there and is none is replaced.
value::object& inner(value::object& of, const std::string& key) {
  value& member = of[key];
  if (!std::holds_alternative<value::object>(member.data)) member = value::object{};
  return std::get<value::object>(member.data);
}

/// As it reads: what a hook could have asked for.
value as_sent(const object& o) {
  value::object out;
  if (const value::object* rest = o.rest.if_object()) out = *rest;
  if (!o.spec.is_null()) out["spec"] = o.spec;
  if (!o.data.is_null()) out["data"] = o.data;
  out["metadata"] =
      value::object{{"labels", texts(o.labels)}, {"annotations", texts(o.annotations)}};
  return out;
}

class planner {
public:
  planner(const sync_input& s, const sync_answer& a) : s_(s), a_(a), parent_(*s.parent) {}

  sync_plan plan() {
    if (parent_.annotations.contains(std::string(mark::paused))) {
      hold_all(hold_code::paused, "the annotation windlass.dev/paused is there",
               "the annotation is taken away");
      return std::move(out_);
    }
    const bool is_kept = is_kept_by_its_finalizer(parent_, *s_.about);
    if (parent_.deleting && !is_kept) return std::move(out_);
    if (!parent_.deleting && !finalizer().empty() && !is_kept) add_finalizer();
    plan_children();
    const bool rest_is_gone = prune();
    hold_refused();
    state_events();
    out_.events = a_.events;
    for (const hold& h : out_.holds)
      if (h.code == hold_code::conflict || h.code == hold_code::claimed)
        out_.events.push_back({true, "Conflict", h.child + ": " + h.sentence});
    if (parent_.deleting && rest_is_gone && a_.finalized && out_.actions.empty())
      remove_finalizer();
    else
      plan_status();
    out_.look_again = a_.look_again;
    return std::move(out_);
  }

  sync_plan fault(std::string_view code, std::string_view sentence, std::string_view released_by) {
    hold_all(code, sentence, released_by);
    if (parent_.deleting) return std::move(out_);
    set_status(parent_.status, {core_condition()});
    return std::move(out_);
  }

private:
  using kind = action::kind;

  void hold_all(std::string_view code, std::string_view sentence, std::string_view released_by) {
    out_.holds.push_back({std::string(code), {}, std::string(sentence), std::string(released_by)});
  }
  void hold_child(std::string_view code, const object_name& id, std::string sentence,
                  std::string released_by) {
    out_.holds.push_back(
        {std::string(code), id.text(parent_.ns), std::move(sentence), std::move(released_by)});
    untouched_.insert(id);
  }
  /// What was refused and is wanted still is tried again, and said.
  void hold_refused() {
    for (std::size_t i = 0; i < out_.actions.size(); ++i) {
      const object_name id = out_.actions[i].of;
      const auto said = s_.refused.find(id);
      if (said != s_.refused.end())
        hold_child(hold_code::write_failed, id, said->second, "the server takes it");
    }
  }
  /// What is told of each write of a child, once it has ended.
  void state_events() {
    std::map<object_name, const child*> asked;
    for (const child& c : a_.children) asked.emplace(c.id, &c);
    for (action& a : out_.actions) {
      const auto found = asked.find(a.of);
      if (found == asked.end() || a.what == kind::remove) continue;
      const write_events& of = found->second->events;
      const bool makes = a.what == kind::create;
      a.done = makes ? of.created : of.updated;
      a.failed = makes ? of.create_failed : of.update_failed;
      if (a.done.message.empty()) a.done.message = done_message(a);
    }
  }
  std::string done_message(const action& a) const {
    std::string out =
        a.of.text(parent_.ns) + (a.what == kind::create ? " is created" : " is changed");
    for (std::size_t i = 0; i < a.lines.size() && i < lines_in_a_message; ++i)
      out += (i == 0 ? ": " : "; ") + a.lines[i];
    if (a.lines.size() > lines_in_a_message)
      out += "; and " + std::to_string(a.lines.size() - lines_in_a_message) + " more";
    return out;
  }
  const object* live(const object_name& id) const {
    const auto found = s_.live.find(id);
    return found == s_.live.end() ? nullptr : found->second.get();
  }
  const std::string& finalizer() const { return s_.about->finalizer_of(parent_.what()); }
  sibling self() const { return {parent_.id(), parent_.uid, parent_.created}; }

  // ---------------------------------------------------------------- finalizer

  void patch_finalizers(kind what, std::vector<std::string> all, const std::string& line) {
    value::array list;
    for (std::string& f : all) list.emplace_back(std::move(f));
    value::object metadata{{"finalizers", list.empty() ? value() : value(std::move(list))},
                           {"resourceVersion", parent_.resource_version}};
    act(what, parent_.id(), value::object{{"metadata", std::move(metadata)}}, &parent_, {line});
  }
  void add_finalizer() {
    std::vector<std::string> all = parent_.finalizers;
    all.push_back(finalizer());
    patch_finalizers(kind::add_finalizer, std::move(all), "finalizer " + finalizer());
  }
  void remove_finalizer() {
    std::vector<std::string> all = parent_.finalizers;
    std::erase(all, finalizer());
    patch_finalizers(kind::remove_finalizer, std::move(all), "finalizer " + finalizer());
  }

  action& act(kind what, const object_name& id, value body, const object* on,
              std::vector<std::string> lines) {
    action a;
    a.what = what;
    a.of = id;
    a.body = std::move(body);
    a.lines = std::move(lines);
    if (on != nullptr) {
      a.uid = on->uid;
      a.resource_version = on->resource_version;
    }
    out_.actions.push_back(std::move(a));
    return out_.actions.back();
  }

  // ---------------------------------------------------------------- children

  /// Those come first whose inputs are known.
  void plan_children() {
    std::set<object_name> asked, through;
    for (const child& c : a_.children) asked.insert(c.id);
    std::vector<const child*> left;
    for (const child& c : a_.children) left.push_back(&c);
    while (!left.empty()) {
      const std::size_t before = left.size();
      std::vector<const child*> later;
      for (const child* c : left) {
        const bool ready = std::all_of(c->inputs.begin(), c->inputs.end(), [&](const auto& i) {
          return !asked.contains(i) || through.contains(i);
        });
        if (!ready) {
          later.push_back(c);
          continue;
        }
        plan_child(*c);
        through.insert(c->id);
      }
      left = std::move(later);
      if (left.size() == before) break;
    }
    for (const child* c : left)
      hold_child(hold_code::circle, c->id, "its inputs depend on itself", "a newer policy");
  }

  void plan_child(const child& c) {
    if (!fits_scope(c) || !is_ours_to_write(c)) return;
    const object* there = live(c.id);
    if (there != nullptr && there->deleting)
      return hold_child(hold_code::ending, c.id, "it is being deleted", "its end");
    if (there != nullptr && !there->controller_uid.empty() && there->controller_uid != parent_.uid)
      return take_over(c, *there);
    std::string digest;
    if (!inputs_are_there(c, digest)) return;
    value body = marked(c, digest);
    if (there == nullptr) return create(c, std::move(body));
    switch (c.how) {
      case way::create:
        if (!is_marked(*there) || there->controller_uid.empty()) adopt(c, *there);
        return;
      case way::own:
        if (c.is_secret()) return change_keys(c, *there, std::move(body));
        return apply(c, *there, std::move(body));
      case way::add_keys: return change_keys(c, *there, std::move(body));
      case way::lines: return change_lines(c, *there);
    }
  }

  bool fits_scope(const child& c) {
    const bool nowhere = s_.without_namespace.contains(c.id.kind);
    if (nowhere && !c.id.ns.empty()) {
      hold_child(hold_code::scope, c.id,
                 "its kind lies in no namespace, and its parent in one cannot own it",
                 "a newer policy");
      return false;
    }
    if (!nowhere && c.id.ns.empty()) {
      hold_child(hold_code::scope, c.id, "it needs a namespace", "a newer policy");
      return false;
    }
    return true;
  }

  bool is_marked(const object& o) const {
    const auto found = o.annotations.find(std::string(mark::manager));
    return found != o.annotations.end() && found->second == s_.about->manager;
  }

  /// Which pods are its own is settled when it is made: no other can take it over, so a younger
  /// parent deletes it and the older one makes it again.
  static bool has_fixed_selector(const object& o) {
    const value* selector = o.spec.find("selector");
    return selector != nullptr && selector->find("matchLabels") != nullptr;
  }

  bool is_ours_to_write(const child& c) {
    const object* there = live(c.id);
    const auto rival = s_.claims.find(c.id);
    if (rival != s_.claims.end() && is_older(rival->second, self())) {
      hold_child(hold_code::claimed, c.id,
                 rival->second.id.text(parent_.ns) + " asks for it too and is older",
                 "the other no longer asks for it");
      if (there != nullptr && there->controller_uid == parent_.uid && !there->deleting &&
          is_marked(*there) && has_fixed_selector(*there))
        act(kind::remove, c.id, value(), there,
            {rival->second.id.text(parent_.ns) + " asks for it too and is older"});
      return false;
    }
    if (there == nullptr) return true;
    const auto& owners = parent_.owner_uids;
    if (there->uid == parent_.uid ||
        std::find(owners.begin(), owners.end(), there->uid) != owners.end()) {
      hold_child(hold_code::conflict, c.id, "it owns its own parent", "a newer policy");
      return false;
    }
    if (there->controller_uid == parent_.uid) return true;
    if (!there->controller_uid.empty()) {
      const auto other = s_.parents.find(there->controller_uid);
      if (other != s_.parents.end() && is_marked(*there) && is_older(self(), other->second) &&
          !has_fixed_selector(*there))
        return true;
      hold_child(hold_code::conflict, c.id,
                 "it belongs to " + reactor::printable(there->controller, 120),
                 "its end, or another name");
      return false;
    }
    const bool everybodys = c.how == way::add_keys || c.how == way::lines;
    if (is_marked(*there) || c.adopt || everybodys || is_given_to_us(*there)) return true;
    hold_child(hold_code::conflict, c.id, "it is there already, and no owner has it",
               "its annotation " + std::string(mark::given_to) + ": " + name_of_parent() +
                   ", which gives it away; its end; or another name of the parent");
    return false;
  }

  std::string name_of_parent() const { return parent_.kind + "/" + parent_.name; }
  bool is_given_to_us(const object& there) const {
    const auto found = there.annotations.find(std::string(mark::given_to));
    return found != there.annotations.end() && found->second == name_of_parent();
  }

  value owner_reference() const {
    return value::object{{"apiVersion", parent_.api_version},
                         {"kind", parent_.kind},
                         {"name", parent_.name},
                         {"uid", parent_.uid},
                         {"controller", true},
                         {"blockOwnerDeletion", true}};
  }

  /// How a plan says that a child becomes ours.
  std::string owned_instead_of(const std::string& who) const {
    return "owner: " + who + " → " + parent_.kind + "/" + parent_.name;
  }

  /// Of a younger parent: the owner changes now, the rest with the next pass.
  void take_over(const child& c, const object& there) {
    value::array owners;
    owners.push_back(owner_reference());
    value::object metadata{{"ownerReferences", std::move(owners)},
                           {"resourceVersion", there.resource_version}};
    act(kind::patch, c.id, value::object{{"metadata", std::move(metadata)}}, &there,
        {owned_instead_of(reactor::printable(there.controller, 120))});
    touched_.insert(c.id);
  }

  void adopt(const child& c, const object& there) {
    value::array owners;
    owners.push_back(owner_reference());
    value::object metadata{
        {"ownerReferences", std::move(owners)},
        {"annotations", value::object{{std::string(mark::manager), s_.about->manager}}},
        {"resourceVersion", there.resource_version}};
    std::vector<std::string> lines;
    if (there.controller_uid != parent_.uid) lines.push_back(owned_instead_of("none"));
    if (!is_marked(there))
      lines.push_back("metadata.annotations." + std::string(mark::manager) + ": nothing → \"" +
                      s_.about->manager + "\"");
    act(kind::patch, c.id, value::object{{"metadata", std::move(metadata)}}, &there,
        std::move(lines));
    touched_.insert(c.id);
  }

  bool inputs_are_there(const child& c, std::string& digest) {
    if (c.inputs.empty()) return true;
    value::object all;
    for (object_name i : c.inputs) {
      if (s_.without_namespace.contains(i.kind)) i.ns.clear();
      const object* there = live(i);
      if (there == nullptr || touched_.contains(i) || untouched_.contains(i)) {
        hold_child(hold_code::waits_for_input, c.id,
                   i.text(parent_.ns) +
                       (there == nullptr ? " is not there yet" : " differs from what is wanted"),
                   i.text(parent_.ns));
        return false;
      }
      const bool by_digest = !there->digests.empty() || there->kind == "Secret";
      all.emplace(i.text(),
                  by_digest ? texts(there->digests)
                            : value(value::object{{"spec", there->spec}, {"rest", there->rest}}));
    }
    digest = "sha256:" + formats::sha256_hex(to_text(value(std::move(all))));
    return true;
  }

  /// What the hook asked for with what the core adds.
  value marked(const child& c, const std::string& inputs) const {
    value body = c.body;
    auto& members = std::get<value::object>(body.data);
    if (!inputs.empty()) {
      value::object* at = &members;
      const value* spec = body.find("spec");
      if (spec != nullptr && spec->find("template") != nullptr)
        at = &inner(inner(members, "spec"), "template");
      inner(inner(*at, "metadata"), "annotations")[c.inputs_as] = inputs;
    }
    value::object& metadata = inner(members, "metadata");
    inner(metadata, "annotations")[std::string(mark::manager)] = s_.about->manager;
    value::array owners;
    owners.push_back(owner_reference());
    metadata["ownerReferences"] = std::move(owners);
    return body;
  }

  void note_asked(value& body, const std::string& digest) const {
    inner(inner(std::get<value::object>(body.data), "metadata"),
          "annotations")[std::string(mark::asked)] = digest;
  }

  bool is_settled(const object_name& id, const object& there, const std::string& asked) const {
    const auto found = s_.settled.find(id);
    return found != s_.settled.end() && found->second == settled_write{asked, content_of(there)};
  }

  // ---------------------------------------------------------------- own

  void apply(const child& c, const object& there, value body) {
    const std::string asked = digest_of(body);
    note_asked(body, asked);
    value seen = body;
    auto& metadata = inner(std::get<value::object>(seen.data), "metadata");
    metadata.erase("ownerReferences");
    auto& members = std::get<value::object>(seen.data);
    members.erase("apiVersion");
    members.erase("kind");
    const bool owned = there.controller_uid == parent_.uid;
    const value now = as_sent(there);
    if (owned && covers(now, seen)) return;
    if (owned && is_settled(c.id, there, asked)) return;
    std::vector<std::string> lines = differences(now, seen);
    std::erase_if(lines, [](const std::string& l) {
      return l.starts_with("metadata.annotations.windlass.dev/composed");
    });
    if (!owned) lines.push_back(owned_instead_of("none"));
    if (lines.empty()) lines.push_back("fields that are no longer asked for");
    act(kind::apply, c.id, std::move(body), &there, std::move(lines)).asked = asked;
    touched_.insert(c.id);
  }

  void create(const child& c, value body) {
    auto& members = std::get<value::object>(body.data);
    std::vector<std::string> lines;
    std::map<std::string, std::string> wrote;
    std::map<std::string, asked_value> asks = c.asks;
    for (const auto& [key, ask] : c.asks) {
      const std::string digest = source_digest(ask, c.id.ns);
      if (ask.from == asked_value::source::copy && digest.empty()) {
        if (c.how != way::add_keys)
          return hold_child(hold_code::waits_for_source, c.id,
                            "Secret " + ask.secret + " has no " + reactor::printable(ask.key, 60),
                            "Secret " + ask.secret);
        asks.erase(key);
        continue;
      }
      wrote.emplace(key, short_digest(digest));
    }
    for (const auto& [key, text] : c.data)
      wrote.insert_or_assign(key, short_digest(formats::digest_of(text)));
    if (!c.blocks.empty() || (c.how == way::add_keys && !c.is_secret())) {
      value::object& data = inner(members, "data");
      for (const text_block& b : c.blocks) {
        const auto base = data.find(b.key);
        const std::string* text = base == data.end() ? nullptr : base->second.if_string();
        data[b.key] = with_block(text == nullptr ? std::string_view() : *text, b);
      }
      for (const auto& [key, text] : data)
        if (text.if_string() != nullptr && c.how == way::add_keys)
          wrote.insert_or_assign(key, short_digest(formats::digest_of(*text.if_string())));
    }
    if (!wrote.empty())
      inner(inner(members, "metadata"), "annotations")[std::string(mark::wrote)] =
          write_wrote(wrote);
    const std::string asked = digest_of(body);
    if (c.how == way::own) note_asked(body, asked);
    action& a = act(kind::create, c.id, std::move(body), nullptr, std::move(lines));
    a.asked = asked;
    a.data = c.data;
    a.asks = std::move(asks);
    touched_.insert(c.id);
  }

  // ---------------------------------------------------------------- keys

  /// Of what a copy is made; empty: it is not there. A value that was emptied counts as absent: a
  /// certificate of no bytes serves no pod, and the copy keeps the last good one.
  std::string source_digest(const asked_value& ask, const std::string& ns) const {
    if (ask.from != asked_value::source::copy) return {};
    const object* source = live({{"v1", "Secret"}, ns, ask.secret});
    if (source == nullptr) return {};
    static const std::string of_nothing = formats::digest_of("");
    const auto found = source->digests.find(ask.key);
    const bool has = found != source->digests.end() && found->second != of_nothing;
    return has ? found->second : std::string();
  }

  /// The keys of a ConfigMap or a Secret, each for itself: own repairs them, add_keys leaves alone
  /// what others edited.
  void change_keys(const child& c, const object& there, value body) {
    std::map<std::string, std::string> wrote;
    if (const auto noted = there.annotations.find(std::string(mark::wrote));
        noted != there.annotations.end())
      wrote = read_wrote(noted->second);
    std::map<std::string, std::string> texts_wanted = c.data;
    if (!c.is_secret())
      if (const value* data = c.body.find("data"); data != nullptr && data->if_object() != nullptr)
        for (const auto& [key, text] : *data->if_object())
          if (text.if_string() != nullptr) texts_wanted.emplace(key, *text.if_string());
    const auto digest_there = [&](const std::string& key) {
      const auto found = there.digests.find(key);
      return found == there.digests.end() ? std::string() : found->second;
    };
    const auto is_edited = [&](const std::string& key) {
      if (c.how == way::own || digest_there(key).empty()) return false;
      const auto ours = wrote.find(key);
      return ours == wrote.end() || ours->second != short_digest(digest_there(key));
    };
    action change;
    value::object data;  // of a ConfigMap, and keys that go
    std::map<std::string, std::string> written;
    for (const auto& [key, text] : texts_wanted) {
      const std::string wanted = formats::digest_of(text);
      if (is_edited(key)) {
        if (wrote.contains(key)) written.emplace(key, wrote[key]);
        continue;
      }
      written.emplace(key, short_digest(wanted));
      if (digest_there(key) == wanted) continue;
      change.lines.push_back(line_for(c, there, key, text, wanted));
      if (c.is_secret())
        change.data.emplace(key, text);
      else
        data[key] = text;
    }
    // A pair that lost its private half gets two new halves; what was derived alone is derived
    // again.
    for (const auto& [key, ask] : c.asks) {
      const std::string there_now = digest_there(key);
      if (ask.from == asked_value::source::copy) {
        const std::string source = source_digest(ask, c.id.ns);
        if (source.empty()) {
          if (there_now.empty())
            hold_child(hold_code::waits_for_source, c.id,
                       "Secret " + ask.secret + " has no " + reactor::printable(ask.key, 60),
                       "Secret " + ask.secret);
          if (wrote.contains(key)) written.emplace(key, wrote[key]);
          continue;
        }
        if (is_edited(key)) {
          if (wrote.contains(key)) written.emplace(key, wrote[key]);
          continue;
        }
        written.emplace(key, short_digest(source));
        if (there_now == source) continue;
        change.lines.push_back("data." + reactor::printable(key, 60) + ": copied from Secret " +
                               ask.secret + " (" + short_digest(source) + ")");
        change.asks.emplace(key, ask);
        continue;
      }
      written.emplace(key, std::string());
      const bool derived = ask.from == asked_value::source::public_key;
      const bool base_is_new = derived && digest_there(ask.of).empty();
      if (!there_now.empty() && !base_is_new) continue;
      change.lines.push_back("data." + reactor::printable(key, 60) + ": " +
                             (derived ? "derived" : "generated"));
      change.asks.emplace(key, ask);
    }
    for (const auto& [key, digest] : wrote) {
      if (written.contains(key) || digest_there(key).empty()) continue;
      if (texts_wanted.contains(key) || c.asks.contains(key)) continue;
      if (is_edited(key)) continue;
      data[key] = value();
      change.lines.push_back("data." + reactor::printable(key, 60) + ": taken out");
    }
    // What stands around the keys is followed by own alone; others only note what they wrote.
    value::object members{};
    value::object annotations;
    const std::string noted = written.empty() ? std::string() : write_wrote(written);
    const auto before = there.annotations.find(std::string(mark::wrote));
    const bool noted_before = before != there.annotations.end() && before->second == noted;
    if (!noted_before && !(noted.empty() && before == there.annotations.end()))
      annotations[std::string(mark::wrote)] = noted.empty() ? value() : value(noted);
    if (c.how == way::own) {
      auto wanted = std::get<value::object>(body.data);
      wanted.erase("apiVersion");
      wanted.erase("kind");
      wanted.erase("data");
      auto& metadata = inner(wanted, "metadata");
      const bool owned = there.controller_uid == parent_.uid;
      value owners = metadata["ownerReferences"];
      metadata.erase("ownerReferences");
      const value now = as_sent(there);
      if (!owned) {
        inner(members, "metadata")["ownerReferences"] = std::move(owners);
        change.lines.push_back(owned_instead_of("none"));
      }
      const value asked(std::move(wanted));
      if (!covers(now, asked)) {
        for (std::string& line : differences(now, asked)) change.lines.push_back(std::move(line));
        for (const auto& [key, member] : *asked.if_object())
          if (key != "metadata") members[key] = member;
        for (const char* map : {"labels", "annotations"})
          if (const value* some = asked.find("metadata")->find(map);
              some != nullptr && some->if_object() != nullptr)
            for (const auto& [key, text] : *some->if_object())
              inner(inner(members, "metadata"), map)[key] = text;
      }
    }
    for (auto& [key, text] : annotations)
      inner(inner(members, "metadata"), "annotations")[key] = std::move(text);
    if (!data.empty()) members["data"] = std::move(data);
    if (members.empty() && change.data.empty() && change.asks.empty()) return;
    value whole(members);
    change.asked = digest_of(value(value::object{{"body", whole}, {"keys", write_wrote(written)}}));
    if (change.asks.empty() && is_settled(c.id, there, change.asked)) return;
    inner(std::get<value::object>(whole.data), "metadata")["resourceVersion"] =
        there.resource_version;
    change.what = kind::patch;
    change.of = c.id;
    change.body = std::move(whole);
    change.uid = there.uid;
    change.resource_version = there.resource_version;
    if (change.lines.empty()) change.lines.push_back("what was written is noted");
    out_.actions.push_back(std::move(change));
    touched_.insert(c.id);
  }

  std::string line_for(const child& c, const object& there, const std::string& key,
                       const std::string& text, const std::string& wanted) const {
    const std::string name = "data." + reactor::printable(key, 60) + ": ";
    if (c.is_secret()) {
      const auto now = there.digests.find(key);
      return name + (now == there.digests.end() ? "nothing" : short_digest(now->second)) + " → " +
             short_digest(wanted);
    }
    const value* now = there.data.find(key);
    return name + (now == nullptr ? "nothing" : shown(*now)) + " → " + shown(value(text));
  }

  // ---------------------------------------------------------------- lines

  void change_lines(const child& c, const object& there) {
    value::object data;
    std::vector<std::string> lines;
    const value* initial = c.body.find("data");
    for (const text_block& b : c.blocks) {
      const value* now = there.data.find(b.key);
      const value* first = initial == nullptr ? nullptr : initial->find(b.key);
      const std::string* text = now != nullptr     ? now->if_string()
                                : first != nullptr ? first->if_string()
                                                   : nullptr;
      std::string made = with_block(text == nullptr ? std::string_view() : *text, b);
      if (now != nullptr && now->if_string() != nullptr && made == *now->if_string()) continue;
      lines.push_back("data." + reactor::printable(b.key, 60) + ": the lines of " +
                      reactor::printable(b.name, 60));
      data[b.key] = std::move(made);
    }
    if (data.empty()) return;
    value::object body{{"data", std::move(data)}};
    const std::string asked = digest_of(value(body));
    if (is_settled(c.id, there, asked)) return;
    body["metadata"] = value::object{{"resourceVersion", there.resource_version}};
    act(kind::patch, c.id, std::move(body), &there, std::move(lines)).asked = asked;
    touched_.insert(c.id);
  }

  // ---------------------------------------------------------------- what is over

  /// Whether nothing is left of what is no longer asked for.
  bool prune() {
    std::set<object_name> asked;
    for (const child& c : a_.children) asked.insert(c.id);
    bool gone = true;
    for (const auto& [id, o] : s_.live) {
      if (asked.contains(id) || !s_.about->is_child(id.kind)) continue;
      if (o->controller_uid != parent_.uid || parent_.uid.empty() || !is_marked(*o)) continue;
      const auto& owners = parent_.owner_uids;
      if (o->uid == parent_.uid || std::find(owners.begin(), owners.end(), o->uid) != owners.end())
        continue;
      gone = false;
      if (!o->deleting) act(kind::remove, id, value(), o.get(), {"no longer asked for"});
    }
    return gone;
  }

  // ---------------------------------------------------------------- status

  stated_condition core_condition() const {
    if (out_.holds.empty())
      return {"Composed", "True", "AsAsked", "all that is asked for is there"};
    std::string message;
    for (std::size_t i = 0; i < out_.holds.size() && i < holds_in_a_message; ++i) {
      const hold& h = out_.holds[i];
      message += (i == 0 ? "" : "; ") + (h.child.empty() ? "" : h.child + ": ") + h.sentence;
    }
    if (out_.holds.size() > holds_in_a_message)
      message += "; and " + std::to_string(out_.holds.size() - holds_in_a_message) + " more";
    std::string reason;  // "waits-for-input" → "WaitsForInput"
    bool capital = true;
    for (const char c : out_.holds.front().code) {
      if (c == '-') {
        capital = true;
        continue;
      }
      reason += capital && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
      capital = false;
    }
    return {"Composed", "False", reason, reactor::printable(message, 1024)};
  }

  void plan_status() {
    std::vector<stated_condition> conditions = a_.conditions;
    if (!s_.data_problem.empty())
      conditions.push_back(
          {"DataLoaded", "False", "Broken", reactor::printable(s_.data_problem, 1024)});
    else if (!s_.about->data.empty() || !s_.about->data_from.empty())
      conditions.push_back({"DataLoaded", "True", "Loaded", "the newest files are in force"});
    conditions.push_back(core_condition());
    value status = a_.status ? *a_.status : parent_.status;
    withhold_ready(status, conditions);
    set_status(status, conditions, a_.status ? keep::these : keep::others);
  }

  /// Nothing is ready that lacks a child, whatever its pack read from the children there are.
  void withhold_ready(value& status, std::vector<stated_condition>& conditions) {
    const hold* lacking = nullptr;
    for (const child& c : a_.children)
      if (live(c.id) == nullptr && untouched_.contains(c.id))
        for (const hold& h : out_.holds)
          if (lacking == nullptr && h.child == c.id.text(parent_.ns)) lacking = &h;
    if (lacking == nullptr) return;
    out_.lacks_a_child = true;
    for (stated_condition& c : conditions)
      if (c.type == "Ready" && c.status == "True")
        c = {c.type, "False", "ChildMissing",
             reactor::printable(lacking->child + ": " + lacking->sentence, 1024)};
    if (const value* ready = status.find("isReady");
        ready != nullptr && ready->if_bool() != nullptr)
      std::get<value::object>(status.data)["isReady"] = false;
  }

  /// Whether conditions that the answer does not state stay.
  enum class keep { these, others };

  void set_status(const value& wanted, const std::vector<stated_condition>& conditions,
                  keep which = keep::others) {
    value status = wanted;
    if (status.is_null() || status.if_object() == nullptr ||
        !std::holds_alternative<value::object>(status.data))
      status = value::object{};
    auto& members = std::get<value::object>(status.data);
    value::array list, timeless;
    if (which == keep::others)
      if (const value* old = parent_.status.find("conditions");
          old != nullptr && old->if_array() != nullptr)
        for (const value& c : *old->if_array()) {
          const value* type = c.find("type");
          const bool stated =
              type != nullptr && type->if_string() != nullptr &&
              std::any_of(conditions.begin(), conditions.end(),
                          [&](const stated_condition& s) { return s.type == *type->if_string(); });
          if (!stated) list.push_back(c);
        }
    timeless = list;
    for (const stated_condition& c : conditions) {
      value::object one{
          {"type", c.type}, {"status", c.status}, {"reason", c.reason}, {"message", c.message}};
      if (parent_.generation > 0) one["observedGeneration"] = parent_.generation;
      timeless.emplace_back(one);
      const value* old = condition_of(parent_, c.type);
      const value* status_then = old == nullptr ? nullptr : old->find("status");
      const value* since = old == nullptr ? nullptr : old->find("lastTransitionTime");
      const bool stays = status_then != nullptr && *status_then == value(c.status) &&
                         since != nullptr && since->if_string() != nullptr;
      one["lastTransitionTime"] =
          stays ? *since
                : value(reactor::format_rfc3339(std::chrono::floor<std::chrono::seconds>(s_.now)));
      list.emplace_back(std::move(one));
    }
    members["conditions"] = std::move(list);
    value patch = merge_patch_between(parent_.status, status);
    if (patch.is_null()) return;
    members["conditions"] = std::move(timeless);
    const std::string asked = digest_of(status);
    if (const auto found = s_.settled.find(parent_.id());
        found != s_.settled.end() &&
        found->second == settled_write{asked, status_content_of(parent_)})
      return;
    std::vector<std::string> lines;
    if (const value::object* changed = patch.if_object())
      for (const auto& [key, member] : *changed)
        lines.push_back("status." + reactor::printable(key, 60));
    value::object metadata{{"resourceVersion", parent_.resource_version}};
    // Our own write of the finalizer has made a newer version.
    if (!out_.actions.empty() && out_.actions.front().what == kind::add_finalizer) metadata.clear();
    act(kind::set_status, parent_.id(),
        value::object{{"status", std::move(patch)}, {"metadata", std::move(metadata)}}, &parent_,
        std::move(lines))
        .asked = asked;
  }

  const sync_input& s_;
  const sync_answer& a_;
  const object& parent_;
  std::set<object_name> touched_;    // changed by this plan
  std::set<object_name> untouched_;  // held, so not as asked for
  sync_plan out_;
};

}  // namespace

std::string_view verb(action::kind k) noexcept {
  switch (k) {
    case action::kind::create: return "create";
    case action::kind::remove: return "delete";
    case action::kind::set_status: return "report";
    case action::kind::add_finalizer: return "add";
    case action::kind::remove_finalizer: return "take out";
    default: return "change";
  }
}

bool is_older(const sibling& a, const sibling& b) {
  return std::tie(a.created, a.id, a.uid) < std::tie(b.created, b.id, b.uid);
}

std::string content_of(const object& o) {
  value::object all;
  value sent = as_sent(o);
  all.emplace("sent", std::move(sent));
  all.emplace("digests", texts(o.digests));
  all.emplace("owner", o.controller_uid);
  return digest_of(value(std::move(all)));
}

std::string status_content_of(const object& parent) {
  return digest_of(parent.status);
}

const value* condition_of(const object& parent, std::string_view type) {
  const value* list = parent.status.find("conditions");
  if (list == nullptr || list->if_array() == nullptr) return nullptr;
  for (const value& one : *list->if_array()) {
    const value* its = one.find("type");
    if (its != nullptr && its->if_string() != nullptr && *its->if_string() == type) return &one;
  }
  return nullptr;
}

bool is_kept_by_its_finalizer(const object& parent, const declaration& about) {
  const std::string& own = about.finalizer_of(parent.what());
  return !own.empty() && std::ranges::find(parent.finalizers, own) != parent.finalizers.end();
}

sync_plan plan_sync(const sync_input& s, const sync_answer& a) {
  return planner(s, a).plan();
}

sync_plan plan_fault(const sync_input& s, std::string_view code, std::string_view sentence,
                     std::string_view released_by) {
  const sync_answer nothing;
  return planner(s, nothing).fault(code, sentence, released_by);
}

}  // namespace policies::compose
