#include "compose/rules/declaration.hpp"

#include <algorithm>

namespace policies::compose {
namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::size_t most_kinds = 32, longest_label = 63, most_variables = 32;
/// The environment of a process has passwords in it as well.

constexpr const char* finalizer_keeps =
    "keeps a parent that is deleted until its children are as `sync` wants them then";

shape finalizer_shape() {
  return text_shape("such as example.com/finalizer");
}

shape kind_shape() {
  return record_shape("composed kind",
                      {{"apiVersion", text_shape("such as apps/v1"), "group and version, or v1"},
                       {"kind", text_shape("such as Deployment"), "in the singular"}},
                      "a table with apiVersion and kind");
}

shape related_kind_shape() {
  shape all = kind_shape();
  all.name = "related kind";
  all.members.push_back(
      maybe("optional", flag_shape(),
            "where it is not served, or may not be listed, nothing of it is there; "
            "else that holds the pack"));
  return all;
}

shape parent_shape() {
  return record_shape(
      "composed parent",
      {{"apiVersion", text_shape("such as example.com/v1"), "group and version"},
       {"kind", text_shape("such as Shop"), "in the singular"},
       maybe("finalizer", finalizer_shape(), "of this kind alone, in place of that of `composes`"),
       maybe("reporter", text_shape("such as shop-controller"),
             "who events about this kind name as their controller; windlass without it")},
      "a table with apiVersion and kind");
}

bool all_of(std::string_view text, bool (*fine)(char)) {
  return std::all_of(text.begin(), text.end(), fine);
}
bool is_lower(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_letter(char c) {
  return is_lower(c) || (c >= 'A' && c <= 'Z');
}

bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= longest_label && is_lower(text.front()) &&
         is_lower(text.back()) && all_of(text, [](char c) { return is_lower(c) || c == '-'; });
}

bool is_api_version(std::string_view text) {
  const auto slash = text.find('/');
  const std::string_view version = slash == text.npos ? text : text.substr(slash + 1);
  return (slash == text.npos || is_dns_subdomain(text.substr(0, slash))) && is_label(version);
}

bool is_finalizer(std::string_view text) {
  return is_qualified_name(text) && text.find('/') != text.npos;
}

result<std::vector<kind_name>> read_kinds(const value& composes, const std::string& of) {
  std::vector<kind_name> out;
  const value* list = composes.find(of);
  if (list == nullptr) return out;
  for (const value& one : *list->if_array()) {
    const std::string where = "composes." + of + "[" + std::to_string(out.size() + 1) + "]";
    kind_name k{*one.find("apiVersion")->if_string(), *one.find("kind")->if_string()};
    if (!is_api_version(k.api_version))
      return make_fault(errc::malformed, {}, where + ".apiVersion: expected such as apps/v1");
    if (k.kind.empty() || k.kind.size() > longest_label || !all_of(k.kind, is_letter))
      return make_fault(errc::malformed, {}, where + ".kind: expected such as Deployment");
    if (std::find(out.begin(), out.end(), k) != out.end())
      return make_fault(errc::malformed, {}, where + ": it is there twice");
    out.push_back(std::move(k));
    if (out.size() > most_kinds)
      return make_fault(errc::limit, {}, "composes." + of + ": more than 32 kinds");
  }
  return out;
}

}  // namespace

bool is_qualified_name(std::string_view text) noexcept {
  const auto slash = text.find('/');
  if (slash != text.npos && !is_dns_subdomain(text.substr(0, slash))) return false;
  const std::string_view name = slash == text.npos ? text : text.substr(slash + 1);
  return !name.empty() && name.size() <= longest_label && is_letter(name.front()) &&
         is_letter(name.back()) &&
         all_of(name, [](char c) { return is_letter(c) || c == '-' || c == '_' || c == '.'; });
}

bool declaration::is_child(const kind_name& k) const {
  return std::find(children.begin(), children.end(), k) != children.end();
}

bool declaration::may_see(const kind_name& k) const {
  return is_child(k) || std::find(related.begin(), related.end(), k) != related.end();
}

const std::string& declaration::finalizer_of(const kind_name& parent) const {
  const auto own = own_finalizers.find(parent);
  return own == own_finalizers.end() ? finalizer : own->second;
}

const shape& declaration_shape() {
  static const shape all = record_shape(
      "composes",
      {{"parents", list_shape(parent_shape()), "whose objects are asked about; custom resources"},
       {"children", list_shape(kind_shape()),
        "what may be made for them; nothing else is made, changed or deleted"},
       maybe("related", list_shape(related_kind_shape()), "what else may be looked at"),
       maybe("manager", text_shape("a name"),
             "of the fields that are applied, and the mark of what was made; `windlass-` "
             "and the pack's "
             "name without it"),
       maybe("finalizer", finalizer_shape(), finalizer_keeps),
       maybe("data", text_shape("a folder of the pack"),
             "whose files every call gets; their edits count at once"),
       maybe("data_from", text_shape("such as MY_TEMPLATES_DIR"),
             "a variable of the environment, ending in _TEMPLATES_DIR or _DATA_DIR, that names the "
             "folder to read instead"),
       maybe("namespaces_from", text_shape("such as MY_NAMESPACES"),
             "a variable of the environment, ending in _NAMESPACES, with the namespaces "
             "whose parents "
             "are asked about, between commas; without it, and where no other API runs, "
             "WATCH_NAMESPACES; all where neither says any"),
       maybe("lease", text_shape("a name"),
             "a Lease beside that of the API: with `--leader-elect` the pack is asked "
             "only while this "
             "process holds it"),
       maybe(
           "environment", list_shape(text_shape("such as OPERATOR_IMAGE_NAME")),
           "variables of the environment: every call gets what those say that have _IMAGE_NAME in "
           "their names, and `true` or `false` of others")},
      "a table with parents and children");
  return all;
}

result<declaration> read_declaration(const manifest& m) {
  const auto wrong = [](const std::string& why) {
    return make_fault(errc::malformed, {}, "composes" + why);
  };
  if (m.composes.is_null()) return wrong(" is missing");
  if (auto fine = check(m.composes, declaration_shape()); !fine)
    return wrong(": " + fine.error().detail);
  declaration d;
  d.pack = m.name;
  d.version = m.version;
  for (auto [name, into] : {std::pair{"parents", &d.parents}, std::pair{"children", &d.children},
                            std::pair{"related", &d.related}}) {
    auto kinds = read_kinds(m.composes, name);
    if (!kinds) return kinds.error();
    *into = std::move(*kinds);
  }
  if (d.parents.empty()) return wrong(".parents: expected one kind at least");
  const value::array& parents = *m.composes.find("parents")->if_array();
  for (std::size_t i = 0; i < parents.size(); ++i) {
    const std::string where = ".parents[" + std::to_string(i + 1) + "].";
    if (const value* own = parents[i].find("finalizer")) {
      if (!is_finalizer(*own->if_string()))
        return wrong(where + "finalizer: expected such as example.com/finalizer");
      d.own_finalizers.emplace(d.parents[i], *own->if_string());
    }
    if (const value* reporter = parents[i].find("reporter")) {
      if (!is_qualified_name(*reporter->if_string()))
        return wrong(where + "reporter: expected such as shop-controller");
      d.reporters.emplace(d.parents[i], *reporter->if_string());
    }
  }
  if (const value* related = m.composes.find("related"))
    for (std::size_t i = 0; i < d.related.size(); ++i)
      if (const value* optional = (*related->if_array())[i].find("optional");
          optional != nullptr && *optional->if_bool())
        d.optional.insert(d.related[i]);
  const auto text = [&](const char* key) {
    const value* v = m.composes.find(key);
    return v == nullptr ? std::string() : *v->if_string();
  };
  d.manager = text("manager");
  if (d.manager.empty()) {
    d.manager = "windlass-" + m.name;
    std::replace_if(d.manager.begin(), d.manager.end(), [](char c) { return !is_letter(c); }, '-');
    while (d.manager.ends_with('-')) d.manager.pop_back();
    d.manager.resize(std::min(d.manager.size(), longest_label));
  }
  if (d.manager.size() > longest_label || !is_qualified_name(d.manager))
    return wrong(".manager: expected letters, digits, '-', '_', '.' (63 at most)");
  d.finalizer = text("finalizer");
  if (!d.finalizer.empty() && !is_finalizer(d.finalizer))
    return wrong(".finalizer: expected such as example.com/finalizer");
  d.data = text("data");
  if (!d.data.empty() && (d.data.starts_with('/') || d.data.find("..") != std::string::npos))
    return wrong(".data: expected a folder of the pack");
  if (!d.data.empty() && !d.data.ends_with('/')) d.data += '/';
  d.data_from = text("data_from");
  const bool named = d.data_from.ends_with("_TEMPLATES_DIR") || d.data_from.ends_with("_DATA_DIR");
  if (!d.data_from.empty() && !named)
    return wrong(".data_from: expected a name that ends in _TEMPLATES_DIR or _DATA_DIR");
  d.namespaces_from = text("namespaces_from");
  if (!d.namespaces_from.empty() && !d.namespaces_from.ends_with("_NAMESPACES"))
    return wrong(".namespaces_from: expected a name that ends in _NAMESPACES");
  d.lease = text("lease");
  if (!d.lease.empty() && !is_dns_subdomain(d.lease))
    return wrong(".lease: expected the name of an object");
  if (const value* names = m.composes.find("environment"))
    for (const value& one : *names->if_array()) d.environment.push_back(*one.if_string());
  if (d.environment.size() > most_variables) return wrong(".environment: more than 32 names");
  return d;
}

}  // namespace policies::compose
