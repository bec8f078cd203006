#include "helm/placed/plan/object_changes.hpp"

#include "formats/base64.hpp"
#include "formats/json/member.hpp"
#include "helm/objects/three_way_merge.hpp"
#include "k8s/merge/merge_patch.hpp"
#include "k8s/merge/merge_schema.hpp"
#include "k8s/merge/strategic_merge.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <set>

namespace helm::placed {
namespace {

namespace json = boost::json;

constexpr std::size_t most_lines = 40, longest = 60;

std::string name_in(const json::value& element) {
  const json::object* o = element.if_object();
  return o ? formats::text_member(*o, "name") : std::string();
}

bool is_named(const json::array& list) {
  std::set<std::string> names;
  return !list.empty() && std::ranges::all_of(list, [&](const json::value& one) {
    const std::string name = name_in(one);
    return !name.empty() && names.insert(name).second;
  });
}

const json::value* named(const json::array& list, const std::string& name) {
  const auto found = std::ranges::find(list, name, name_in);
  return found == list.end() ? nullptr : &*found;
}

/// As the server keeps it: what a manifest says in stringData stands in data.
json::object as_kept(json::object o, std::string_view kind) {
  const json::value* plain = kind == "Secret" ? o.if_contains("stringData") : nullptr;
  if (!plain || !plain->is_object()) return o;
  const json::object texts = plain->get_object();
  json::value& data = o["data"];
  if (!data.is_object()) data.emplace_object();
  for (const auto& m : texts)
    if (m.value().is_string())
      data.get_object()[m.key()] = formats::encode_base64(m.value().get_string());
  o.erase("stringData");
  return o;
}

class line_writer {
public:
  enum class values : std::uint8_t { shown, hidden };
  explicit line_writer(values how) : how_(how) {}

  void compare(const json::value* from, const json::value* to) {
    if (from && to && *from == *to) return;
    if (from && to && from->is_object() && to->is_object()) {
      compare(from->get_object(), to->get_object());
    } else if (from && to && from->is_array() && to->is_array() &&
               (is_named(from->get_array()) || from->get_array().empty()) &&
               (is_named(to->get_array()) || to->get_array().empty())) {
      compare(from->get_array(), to->get_array());
    } else {
      lines_.push_back(path_ + ": " + text_of(from) + " → " + text_of(to));
    }
  }
  std::vector<std::string> take() {
    if (lines_.size() > most_lines) {
      const std::size_t more = lines_.size() - most_lines;
      lines_.resize(most_lines);
      lines_.push_back("and " + std::to_string(more) + " more");
    }
    return std::move(lines_);
  }

private:
  void compare(const json::object& from, const json::object& to) {
    std::set<std::string> keys;
    for (const auto& m : from) keys.emplace(m.key());
    for (const auto& m : to) keys.emplace(m.key());
    for (const std::string& key : keys)
      below((path_.empty() ? "" : ".") + reactor::printable(key, longest), from.if_contains(key),
            to.if_contains(key));
  }
  void compare(const json::array& from, const json::array& to) {
    for (const json::value& one : from)
      below("[" + reactor::printable(name_in(one), longest) + "]", &one, named(to, name_in(one)));
    for (const json::value& one : to)
      if (!named(from, name_in(one)))
        below("[" + reactor::printable(name_in(one), longest) + "]", nullptr, &one);
  }
  void below(const std::string& step, const json::value* from, const json::value* to) {
    const std::size_t length = path_.size();
    path_ += step;
    compare(from, to);
    path_.resize(length);
  }
  std::string text_of(const json::value* v) const {
    if (!v || v->is_null()) return "nothing";
    if (how_ == values::hidden && (path_.starts_with("data") || path_.starts_with("stringData")))
      return "…";
    return reactor::printable(json::serialize(*v), longest);
  }

  values how_;
  std::string path_;
  std::vector<std::string> lines_;
};

object_change about(std::string_view action, const objects::object& o) {
  object_change out;
  out.action = action;
  out.api_version = o.resource.api_version();
  out.kind = o.kind;
  out.ns = o.ns;
  out.name = o.name;
  return out;
}

}  // namespace

std::vector<std::string> lines_between(const json::object& from, const json::object& to,
                                       std::string_view kind) {
  line_writer w(kind == "Secret" ? line_writer::values::hidden : line_writer::values::shown);
  const json::value before(from), after(to);
  w.compare(&before, &after);
  return w.take();
}

outcome<std::optional<object_change>> change_of(const objects::object& target,
                                                const objects::object* before,
                                                const json::object* live) {
  std::optional<object_change> out;
  if (!live) {
    out = about("create", target);
    return out;
  }
  const json::object& old = before ? before->body : *live;
  const k8s::merge_type* typed = k8s::merge_type_of(target.resource.api_version(), target.kind);
  json::object then;
  if (typed) {
    auto patch = objects::strategic_three_way_patch({old, target.body, *live}, *typed);
    if (!patch) return patch.error();
    auto done = k8s::apply_strategic_patch(*live, std::move(*patch), *typed);
    if (!done) return problem{done.error().text};
    then = std::move(*done);
  } else {
    then = k8s::apply_merge_patch(*live, objects::merge_patch(old, target.body)).as_object();
  }
  then = as_kept(std::move(then), target.kind);
  std::vector<std::string> lines = lines_between(*live, then, target.kind);
  if (lines.empty()) return out;
  out = about("change", target);
  out->lines = std::move(lines);
  return out;
}

std::optional<object_change> removal_of(const objects::object& dropped, const json::object* live) {
  if (!live) return std::nullopt;
  return about(objects::kept_by_policy(*live) ? "keep" : "delete", dropped);
}

}  // namespace helm::placed
