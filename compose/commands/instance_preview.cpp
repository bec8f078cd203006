#include "compose/commands/instance_preview.hpp"

#include "compose/objects.hpp"
#include "formats/json/member.hpp"
#include "compose/rules/difference.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/secret.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <set>

namespace cli {
namespace {

namespace json = boost::json;
using policies::value;
using policies::compose::hold;
using policies::compose::object;
using policies::compose::object_name;
using reactor::result;

constexpr const char *group_version = "confidentialcontainers.org/v1alpha1",
                     *version_mark = "trustee-operator.confidentialcontainers.org/template-version";

using object_map = std::map<object_name, value>;

const value* at(const object_map& all, const object_name& id) {
  const auto found = all.find(id);
  return found == all.end() ? nullptr : &found->second;
}

const value* within(const value* v, std::initializer_list<const char*> path) {
  for (const char* key : path) v = v != nullptr ? v->find(key) : nullptr;
  return v;
}

void wipe_texts(json::value& v) {
  if (json::string* text = v.if_string()) reactor::wipe(text->data(), text->size());
  if (json::array* list = v.if_array())
    for (json::value& one : *list) wipe_texts(one);
  if (json::object* members = v.if_object())
    for (auto& [key, member] : *members) wipe_texts(member);
}

std::map<std::string, std::string> texts_in(const value* data) {
  std::map<std::string, std::string> out;
  const value::object* members = data != nullptr ? data->if_object() : nullptr;
  if (members == nullptr) return out;
  for (const auto& [key, member] : *members) {
    const std::string* text = member.if_string();
    out[key] = text != nullptr ? *text : policies::compose::shown(member);
  }
  return out;
}

trustee_file file_between(const object_name& id, const value* was, const value* is,
                          const std::string& release) {
  trustee_file f;
  f.name = id.name;
  const auto before = texts_in(within(was, {"data"})), after = texts_in(within(is, {"data"}));
  bool only_new = true;
  for (const auto& [key, text] : after) {
    const auto old = before.find(key);
    if (old != before.end() && old->second == text) continue;
    only_new = only_new && old == before.end();
    f.keys.push_back(key);
  }
  for (const auto& [key, text] : before) {
    if (after.contains(key)) continue;
    only_new = false;
    f.keys.push_back(key);
  }
  std::sort(f.keys.begin(), f.keys.end());
  const std::string made_for =
      is != nullptr ? text_at(*is, {"metadata", "annotations", version_mark}) : std::string();
  if (was == nullptr) {
    f.action = "create";
  } else if (is == nullptr) {
    f.action = "delete";
  } else if (f.keys.empty()) {
    f.action = "keep";
    if (!made_for.empty() && made_for != release) f.why = "made for " + made_for;
  } else if (only_new) {
    f.action = "add-keys";
  } else {
    f.action = made_for == release ? "replace" : "edit";
  }
  return f;
}

}  // namespace

std::string text_at(const value& o, std::initializer_list<const char*> path) {
  const value* v = within(&o, path);
  const std::string* text = v != nullptr ? v->if_string() : nullptr;
  return text != nullptr ? *text : std::string();
}

std::vector<policies::compose::stated_condition> conditions_in(const value& o) {
  std::vector<policies::compose::stated_condition> out;
  const value* all = within(&o, {"status", "conditions"});
  const value::array* list = all != nullptr ? all->if_array() : nullptr;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const value& c = (*list)[i];
    out.push_back({text_at(c, {"type"}), text_at(c, {"status"}), text_at(c, {"reason"}),
                   text_at(c, {"message"})});
  }
  return out;
}

instance_preview::instance_preview(reactor::loop& l, std::shared_ptr<const policies::pack> by,
                                   std::shared_ptr<const policies::compose::declaration> about,
                                   std::shared_ptr<const policies::compose::data_files> files)
    : loop_(l), world_(l, std::move(by), std::move(about), std::move(files)) {}

void instance_preview::put(json::object o) {
  const policies::compose::kind_name kind{formats::text_member(o, "apiVersion"),
                                          formats::text_member(o, "kind")};
  world_.put(compose::plain_answer(kind, o));
  if (kind.kind != "Secret") return;
  for (auto& [key, member] : o) wipe_texts(member);
}

std::vector<object_name> instance_preview::instances() const {
  std::vector<object_name> all;
  for (const auto& [id, o] : world_.objects())
    if (id.kind.kind == "TrusteeConfig" && id.kind.api_version == group_version) all.push_back(id);
  return all;
}

std::vector<object_name> instance_preview::belongings(const object_name& instance) const {
  std::vector<object_name> out;
  std::set<std::string> owners;
  if (const value* o = at(world_.objects(), instance))
    owners.insert(text_at(*o, {"metadata", "uid"}));
  // The second look finds what belongs to what the first one found.
  for (int depth = 0; depth < 2; ++depth) {
    for (const auto& [id, o] : world_.objects()) {
      const object seen = policies::compose::read_object(id.kind, o);
      if (!owners.contains(seen.controller_uid) ||
          std::find(out.begin(), out.end(), id) != out.end())
        continue;
      out.push_back(id);
      if (id.kind.kind == "KbsConfig") owners.insert(seen.uid);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

reactor::awaitable<result<std::vector<std::string>>> instance_preview::settle(
    object_name instance) {
  std::vector<std::string> held;
  const auto now = loop_.wall();
  // The servers' state shows in the instance's, so that it is asked again behind them.
  for (int round = 0; round < 2; ++round) {
    held.clear();
    auto config = co_await world_.settle(instance, now);
    if (!config) co_return config.error();
    for (const hold& h : config->holds) held.push_back(h.child + ": " + h.sentence);
    const std::vector<object_name> mine = belongings(instance);
    for (const object_name& id : mine) {
      if (id.kind.kind != "KbsConfig") continue;
      auto servers = co_await world_.settle(id, now);
      if (!servers) co_return servers.error();
      for (const hold& h : servers->holds) held.push_back(h.child + ": " + h.sentence);
    }
  }
  co_return held;
}

void instance_preview::ask_for(const object_name& instance, const std::string& version) {
  value::object spec;
  spec["version"] = version.empty() ? value() : value(version);
  value::object patch;
  patch["spec"] = std::move(spec);
  world_.edit(instance, value(std::move(patch)));
}

reactor::awaitable<result<trustee_change>> instance_preview::change(object_name instance,
                                                                    std::string version) {
  auto settled = co_await settle(instance);
  if (!settled) co_return settled.error();
  const object_map before = world_.objects();
  ask_for(instance, version);
  auto changed = co_await settle(instance);
  if (!changed) co_return changed.error();
  const object_map& after = world_.objects();

  trustee_change c;
  c.name = instance.name;
  c.ns = instance.ns;
  c.holds = std::move(*changed);
  const value &was = before.at(instance), &is = after.at(instance);
  c.from = text_at(was, {"status", "effectiveVersion"});
  c.to = text_at(is, {"status", "effectiveVersion"});
  for (const char* container : {"kbs", "as", "rvps"})
    c.images[container] = {text_at(was, {"status", "images", container}),
                           text_at(is, {"status", "images", container})};
  c.conditions = conditions_in(is);
  std::set<object_name> all;
  for (const object_name& id : belongings(instance)) all.insert(id);
  for (const object_name& id : all) {
    const value *old = at(before, id), *now = at(after, id);
    if (id.kind.kind == "ConfigMap") c.files.push_back(file_between(id, old, now, c.to));
    if (id.kind.kind != "Deployment" || now == nullptr) continue;
    const value *pods = within(now, {"spec", "template"}), *had = within(old, {"spec", "template"});
    if (pods == nullptr || (had != nullptr && policies::compose::same(*had, *pods))) continue;
    trustee_restart r;
    r.name = id.name;
    r.lines = policies::compose::differences(had != nullptr ? *had : value(value::object{}), *pods);
    c.restarts.push_back(std::move(r));
  }
  co_return c;
}

json::object change_json(const trustee_change& c) {
  json::object o{{"name", c.name}, {"namespace", c.ns}};
  json::object version{{"from", c.from}, {"to", c.to}};
  o["version"] = std::move(version);
  json::object images;
  for (const auto& [container, both] : c.images)
    images[container] = json::object{{"from", both.first}, {"to", both.second}};
  o["images"] = std::move(images);
  json::array files, restarts, conditions, holds;
  for (const trustee_file& f : c.files) {
    json::array keys;
    for (const std::string& key : f.keys) keys.emplace_back(key);
    json::object one{{"name", f.name}, {"action", f.action}};
    one["keys"] = std::move(keys);
    if (!f.why.empty()) one["why"] = f.why;
    files.push_back(std::move(one));
  }
  for (const trustee_restart& r : c.restarts) {
    json::array lines;
    for (const std::string& line : r.lines) lines.emplace_back(line);
    json::object one{{"name", r.name}};
    one["why"] = std::move(lines);
    restarts.push_back(std::move(one));
  }
  for (const auto& d : c.conditions)
    conditions.push_back(json::object{
        {"type", d.type}, {"status", d.status}, {"reason", d.reason}, {"message", d.message}});
  for (const std::string& h : c.holds) holds.emplace_back(h);
  o["files"] = std::move(files);
  o["restarts"] = std::move(restarts);
  o["conditions"] = std::move(conditions);
  o["holds"] = std::move(holds);
  return o;
}

}  // namespace cli
