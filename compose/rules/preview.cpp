#include "compose/rules/preview.hpp"

#include "compose/rules/difference.hpp"
#include "formats/digest.hpp"
#include "reactor/loop.hpp"
#include "reactor/plain/time.hpp"

#include <utility>

namespace policies::compose {
namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::size_t most_passes = 12;

std::string text_of(const value* v) {
  const std::string* text = v != nullptr ? v->if_string() : nullptr;
  return text != nullptr ? *text : std::string();
}

value::object& members_of(value& v) {
  if (!std::holds_alternative<value::object>(v.data)) v = value::object{};
  return std::get<value::object>(v.data);
}

void merge(value& into, const value& patch) {
  const value::object* changes = patch.if_object();
  if (changes == nullptr) {
    into = patch;
    return;
  }
  value::object& members = members_of(into);
  for (const auto& [key, member] : *changes) {
    if (member.is_null()) {
      members.erase(key);
    } else {
      merge(members[key], member);
    }
  }
}

object_name name_of(const value& o) {
  const value* metadata = o.find("metadata");
  object_name id;
  id.kind = {text_of(o.find("apiVersion")), text_of(o.find("kind"))};
  if (metadata == nullptr) return id;
  id.ns = text_of(metadata->find("namespace"));
  id.name = text_of(metadata->find("name"));
  return id;
}

/// What of an object `fields` (fieldsV1) speaks of; of lists the whole.
value owned_of(const value& o, const value& fields) {
  const value::object* names = fields.if_object();
  if (names == nullptr) return o;
  bool leaf = true;
  for (const auto& [name, inner] : *names) {
    if (name != "." && !name.starts_with("f:")) return o;
    leaf = leaf && name == ".";
  }
  if (leaf) return o;
  value::object out;
  for (const auto& [name, inner] : *names) {
    if (name == ".") continue;
    if (const value* member = o.find(name.substr(2)))
      out.emplace(name.substr(2), owned_of(*member, inner));
  }
  return out;
}

}  // namespace

/// Another spec is another generation, so that an old status is not taken for one of it.
void preview::renew_generation(value& o, objects_at before) const {
  if (before == objects_.end()) return;
  const value *was = before->second.find("spec"), *is = o.find("spec");
  if (was == nullptr || is == nullptr || same(*was, *is)) return;
  value& generation = members_of(members_of(o)["metadata"])["generation"];
  const double* number = generation.if_number();
  generation = (number != nullptr ? *number : 1) + 1;
}

preview::preview(reactor::loop& l, std::shared_ptr<const pack> by,
                 std::shared_ptr<const declaration> about, std::shared_ptr<const data_files> files)
    : loop_(l), pack_(std::move(by)), about_(std::move(about)), files_(std::move(files)) {}

void preview::put(value o) {
  const object_name id = name_of(o);
  value::object& metadata = members_of(members_of(o)["metadata"]);
  if (const auto fields = metadata.find("managedFields"); fields != metadata.end()) {
    const value managed = std::move(fields->second);
    metadata.erase(fields);
    const value::array* all = managed.if_array();
    for (std::size_t i = 0; all != nullptr && i < all->size(); ++i) {
      const value& one = (*all)[i];
      const value* owns = one.find("fieldsV1");
      if (owns == nullptr || text_of(one.find("manager")) != about_->manager ||
          text_of(one.find("operation")) != "Apply" || !text_of(one.find("subresource")).empty())
        continue;
      applied_.insert_or_assign(id, owned_of(o, *owns));
    }
  }
  const std::string number = std::to_string(++made_);
  if (!metadata.contains("uid")) metadata["uid"] = "preview-" + number;
  if (!metadata.contains("creationTimestamp"))
    metadata["creationTimestamp"] = reactor::format_rfc3339(loop_.wall());
  metadata["resourceVersion"] = "preview-" + number;
  objects_.insert_or_assign(id, std::move(o));
}

void preview::edit(const object_name& id, const value& merge_patch) {
  const auto found = objects_.find(id);
  if (found == objects_.end()) return;
  value changed = found->second;
  merge(changed, merge_patch);
  renew_generation(changed, found);
  put(std::move(changed));
}

std::shared_ptr<const object> preview::see(const object_name& id) const {
  const auto found = objects_.find(id);
  if (found == objects_.end()) return nullptr;
  return std::make_shared<const object>(read_object(id.kind, found->second));
}

sync_input preview::look(const object_name& parent, reactor::wall_time now) const {
  sync_input s;
  s.about = about_;
  s.parent = see(parent);
  for (const auto& [id, o] : objects_) {
    if (id == parent) continue;
    auto seen = see(id);
    for (const kind_name& k : about_->parents) {
      if (k != id.kind) continue;
      s.parents.emplace(seen->uid, sibling{id, seen->uid, seen->created});
    }
    s.live.emplace(id, std::move(seen));
  }
  s.settled = settled_;
  s.data_problem = files_->problem;
  s.now = now;
  return s;
}

reactor::awaitable<result<value>> preview::call(std::string hook, std::vector<argument> arguments,
                                                std::int64_t instructions) {
  const auto said = std::make_shared<value>();
  judge accept = [said](const value& v) -> result<void> {
    *said = v;
    return {};
  };
  auto made = co_await pack::call(pack_, std::move(hook), std::move(arguments), instructions,
                                  std::move(accept));
  if (!made) co_return made.error();
  co_return std::move(*said);
}

reactor::awaitable<result<sync_answer>> preview::ask(object_name parent, reactor::wall_time now) {
  auto q = std::make_shared<question>();
  q->parent = see(parent);
  q->files = files_;
  std::vector<related_query> wanted;
  if (pack_->has("compose.related")) {
    auto said = co_await call("compose.related", related_arguments(q), unit_instructions);
    if (!said) co_return said.error();
    auto read = read_related(*said, *about_, *q->parent);
    if (!read) co_return read.error();
    wanted = std::move(*read);
  }
  for (const auto& [id, o] : objects_) {
    if (id == parent) continue;
    auto seen = see(id);
    const std::string key = key_of(id, parent.ns);
    for (const related_query& one : wanted) {
      if (one.matches(id, seen->labels)) q->related.emplace(key, seen);
    }
    if (about_->is_child(id.kind) && seen->controller_uid == q->parent->uid)
      q->children.emplace(key, std::move(seen));
  }
  auto said = co_await call("compose.sync", sync_arguments(q, now), sync_instructions(*q));
  if (!said) co_return said.error();
  co_return read_answer(*said, *about_, *q->parent);
}

void preview::carry_out(const action& a) {
  if (a.what == action::kind::remove) {
    objects_.erase(a.of);
    return;
  }
  value body = a.body;
  value::object& members = members_of(body);
  if (const auto m = members.find("metadata"); m != members.end())
    members_of(m->second).erase("resourceVersion");
  value o;
  if (const auto there = objects_.find(a.of); there != objects_.end()) o = there->second;
  if (a.what == action::kind::create || o.is_null()) {
    value::object metadata{{"name", a.of.name}};
    if (!a.of.ns.empty()) metadata.emplace("namespace", a.of.ns);
    merge(o, value(value::object{{"apiVersion", a.of.kind.api_version},
                                 {"kind", a.of.kind.kind},
                                 {"metadata", std::move(metadata)}}));
  }
  if (a.of.kind.kind == "Secret") {
    value::object digests;
    if (const auto data = members.find("data"); data != members.end()) {
      digests = members_of(data->second);
      members.erase("data");
    }
    for (const auto& [key, text] : a.data) digests[key] = formats::digest_of(text);
    for (const auto& [key, wish] : a.asks) {
      const auto source = objects_.find({{"v1", "Secret"}, a.of.ns, wish.secret});
      const value* all = source == objects_.end() ? nullptr : source->second.find("digests");
      digests[key] = wish.from == asked_value::source::copy && all != nullptr
                         ? text_of(all->find(wish.key))
                         : formats::digest_of("made " + std::to_string(++made_));
    }
    if (!digests.empty()) merge(o, value(value::object{{"digests", std::move(digests)}}));
  }
  // Fields that were asked for and are not any more go with server-side apply.
  const bool makes = a.what == action::kind::create && a.of.kind.kind != "Secret";
  if (a.what == action::kind::apply || makes) {
    const auto before = applied_.find(a.of);
    if (before != applied_.end()) merge(o, merge_patch_between(before->second, body));
    applied_.insert_or_assign(a.of, body);
  }
  merge(o, body);
  renew_generation(o, objects_.find(a.of));
  put(std::move(o));
  if (a.asked.empty()) return;
  const auto seen = see(a.of);
  settled_[a.of] = {
      a.asked, a.what == action::kind::set_status ? status_content_of(*seen) : content_of(*seen)};
}

reactor::awaitable<result<preview::end>> preview::settle(object_name parent,
                                                         reactor::wall_time now) {
  end out;
  if (!objects_.contains(parent))
    co_return make_fault(errc::not_found, "preview " + parent.text(), "it is not there");
  for (out.passes = 1; out.passes <= most_passes; ++out.passes) {
    auto answer = co_await ask(parent, now);
    if (!answer) co_return answer.error();
    sync_plan plan = plan_sync(look(parent, now), *answer);
    if (out.passes == 1) out.events = plan.events;
    out.holds = std::move(plan.holds);
    for (const child& c : answer->children) {
      if (c.how == way::own && !applied_.contains(c.id)) applied_.emplace(c.id, c.body);
    }
    if (plan.idle()) co_return out;
    for (const action& a : plan.actions) carry_out(a);
    co_await loop_.yield();
  }
  co_return make_fault(errc::limit, "preview " + parent.text(), "it never comes to rest");
}

}  // namespace policies::compose
