#include "helm/schema/document.hpp"

#include "formats/go/function_error.hpp"
#include "formats/go/url.hpp"
#include "formats/plain/deep_stack.hpp"
#include "helm/go.hpp"

#include <algorithm>
#include <array>

namespace helm::schemas {
namespace {

std::string text_member(const value& v, std::string_view name) {
  const auto* t = v.is_map() ? v.find(name) : nullptr;
  return t && t->is_string() ? t->text() : std::string();
}

/// The fragment of an address as it is printed: each step escaped, the slashes kept.
std::string encoded(const std::string& pointer) {
  std::string out;
  for (const auto& step : split(pointer, "/")) out += "/" + escape_path_segment(step);
  return out.substr(1);
}

/// A step of a pointer as a name; nothing when a tilde stands alone.
std::optional<std::string> unescaped(std::string_view step) {
  std::string out;
  for (std::size_t i = 0; i < step.size(); ++i) {
    if (step[i] != '~') {
      out += step[i];
      continue;
    }
    if (++i >= step.size() || (step[i] != '0' && step[i] != '1')) return std::nullopt;
    out += step[i] == '0' ? '~' : '/';
  }
  return out;
}

/// How the members of a schema hold schemas, and since which draft.
enum class holds : unsigned char { schema, list, map };
struct holder {
  std::string_view name;
  holds how;
  int since;
};
constexpr std::array holders{
    holder{"definitions", holds::map, 4},
    holder{"not", holds::schema, 4},
    holder{"allOf", holds::list, 4},
    holder{"anyOf", holds::list, 4},
    holder{"oneOf", holds::list, 4},
    holder{"properties", holds::map, 4},
    holder{"additionalProperties", holds::schema, 4},
    holder{"patternProperties", holds::map, 4},
    holder{"items", holds::schema, 4},
    holder{"items", holds::list, 4},
    holder{"additionalItems", holds::schema, 4},
    holder{"dependencies", holds::map, 4},
    holder{"propertyNames", holds::schema, 6},
    holder{"contains", holds::schema, 6},
    holder{"if", holds::schema, 7},
    holder{"then", holds::schema, 7},
    holder{"else", holds::schema, 7},
    holder{"$defs", holds::map, 2019},
    holder{"dependentSchemas", holds::map, 2019},
    holder{"unevaluatedProperties", holds::schema, 2019},
    holder{"unevaluatedItems", holds::schema, 2019},
    holder{"contentSchema", holds::schema, 2019},
    holder{"prefixItems", holds::list, 2020},
};

std::string_view id_keyword(int draft) {
  return draft == 4 ? "id" : "$id";
}

/// The id without its fragment. Up to draft 7 nothing stands beside a reference.
std::string id_of(const value& schema, int draft) {
  if (draft < 2019 && schema.find("$ref")) return {};
  const auto id = text_member(schema, id_keyword(draft));
  return id.substr(0, id.find('#'));
}

/// The draft of a schema: what its $schema says, else that of what it stands in.
outcome<int> draft_of(const value& schema, int around, const place& at) {
  const auto* given = schema.find("$schema");
  if (!given || !given->is_string()) return around;
  if (const auto known = draft_named(given->text())) return *known;
  const auto url = given->text().substr(0, given->text().find('#'));
  try {
    static_cast<void>(parse_url(url));
  } catch (const function_error& e) {
    return problem{"invalid $schema in " + quote(at.text()) + ": " + e.what()};
  }
  if (at.pointer.empty() && url == at.url)
    return problem{"draft " + quote(url) + " is not supported"};
  if (url.starts_with("urn:")) return around;  // stands for `true`
  return not_loaded(url);
}

}  // namespace

std::string place::text() const {
  return url + "#" + encoded(pointer);
}

std::string pointer_step(std::string_view name) {
  std::string out = "/";
  for (const char c : name) {
    if (c == '~')
      out += "~0";
    else if (c == '/')
      out += "~1";
    else
      out += c;
  }
  return out;
}

outcome<address> join_address(const std::string& base, const std::string& reference) {
  const auto hash = reference.find('#');
  const auto wrong = [](const std::string& text, const function_error& e) {
    return problem{"error in parsing " + quote(text) + ": " + e.what()};
  };
  address out;
  if (hash != reference.npos) try {
      out.fragment = unescape_path(reference.substr(hash + 1));
    } catch (const function_error& e) {
      return wrong(reference, e);
    }
  const auto target = reference.substr(0, hash);
  try {
    out.url = url_text(resolve_url(parse_url(base), parse_url(target)));
  } catch (const function_error& e) {
    return wrong(target, e);
  }
  return out;
}

std::optional<int> draft_named(std::string_view url) {
  const auto hash = url.find('#');
  if (hash != url.npos && hash + 1 != url.size()) return std::nullopt;
  url = url.substr(0, hash);
  for (const std::string_view scheme : {"http://", "https://"})
    if (url.starts_with(scheme)) {
      url.remove_prefix(scheme.size());
      break;
    }
  static constexpr std::pair<std::string_view, int> names[] = {
      {"json-schema.org/schema", 2020},
      {"json-schema.org/draft/2020-12/schema", 2020},
      {"json-schema.org/draft/2019-09/schema", 2019},
      {"json-schema.org/draft-07/schema", 7},
      {"json-schema.org/draft-06/schema", 6},
      {"json-schema.org/draft-04/schema", 4},
  };
  for (const auto& [name, draft] : names)
    if (url == name) return draft;
  return std::nullopt;
}

problem not_loaded(const std::string& url) {
  return problem{"failing loading " + quote(url) +
                 ": a schema of a chart may not read other files or addresses; "
                 "--skip-schema-validation renders without it"};
}

outcome<document> document::read(std::string url, value root) {
  document out;
  out.url_ = std::move(url);
  out.root_ = std::move(root);
  const value whole = out.root_;
  if (auto bad = out.collect(whole, out.url_, "", 2020)) return *bad;
  return out;
}

const resource& document::resource_of(std::string pointer) const {
  for (;;) {
    if (const auto found = resources_.find(pointer); found != resources_.end())
      return found->second;
    const auto slash = pointer.rfind('/');
    if (slash == pointer.npos) return resources_.at("");
    pointer.resize(slash);
  }
}

const resource* document::find(const std::string& id) const {
  if (id == url_) return &resources_.at("");
  for (const auto& [pointer, r] : resources_)
    if (r.id == id) return &r;
  return nullptr;
}

outcome<std::string> document::resolve(const resource& in, const std::string& fragment) const {
  if (fragment.empty() || fragment.starts_with('/')) return in.pointer + fragment;
  const auto found = in.anchors.find(fragment);
  if (found != in.anchors.end()) return found->second;
  return problem{"anchor in " + quote(place{in.id, fragment}.text()) + " not found in schema " +
                 quote(url_)};
}

outcome<const value*> document::at(const std::string& pointer) const {
  const value* v = &root_;
  if (pointer.empty()) return v;
  for (const auto& step : split(std::string_view(pointer).substr(1), "/")) {
    const auto name = unescaped(step);
    if (!name) return problem{"invalid json-pointer " + quote(place{url_, pointer}.text())};
    const value* next = nullptr;
    if (v->is_map()) {
      next = v->find(*name);
    } else if (v->is_list()) {
      const auto n = parse_uint(*name, 10);
      if (n.error == int_error::none && n.number < v->size()) next = &v->items()[n.number];
    }
    if (!next)
      return problem{"json-pointer in " + quote(place{url_, pointer}.text()) + " not found"};
    v = next;
  }
  return v;
}

std::optional<problem> document::add_schema(const std::string& pointer) {
  const auto found = at(pointer);
  if (!found) return found.error();
  const value schema = **found;
  const auto around = resource_of(pointer);
  if (auto bad = collect(schema, around.id, pointer, around.draft)) return bad;
  if (resources_.contains(pointer)) return std::nullopt;
  return collect_anchors(schema, pointer, resources_.at(around.pointer));
}

std::optional<problem> document::collect(const value& schema, const std::string& base,
                                         const std::string& pointer, int draft) {
  if (!schemas_.insert(pointer).second) return std::nullopt;
  std::optional<problem> out;
  with_room([&] { out = collect_here(schema, base, pointer, draft); });
  return out;
}

std::optional<problem> document::collect_here(const value& schema, std::string base,
                                              const std::string& pointer, int around) {
  if (!schema.is_map()) {
    if (pointer.empty()) resources_[pointer] = {pointer, base, around, {}, {}};
    return std::nullopt;
  }
  const auto said = draft_of(schema, around, {url_, pointer});
  if (!said) return said.error();
  int draft = *said;
  auto id = id_of(schema, draft);
  if (id.empty() && !pointer.empty()) {
    draft = around;  // $schema counts at the head of a resource only
    id = id_of(schema, draft);
  }
  if (!id.empty()) {
    const auto joined = join_address(base, id);
    if (!joined) return problem{"error in parsing id at " + quote(place{url_, pointer}.text())};
    base = joined->url;
  }
  if (!id.empty() || pointer.empty()) {
    for (const auto& [other, r] : resources_)
      if (r.id == base && other != pointer)
        return problem{"duplicate id " + quote(base) + " in " + quote(url_) + " at " +
                       quote(pointer) + " and " + quote(other)};
    resources_.try_emplace(pointer, resource{pointer, base, draft, {}, {}});
  }
  const auto own = std::find_if(resources_.begin(), resources_.end(),
                                [&](const auto& r) { return r.second.id == base; });
  if (auto bad = collect_anchors(schema, pointer, own->second)) return bad;
  for (const auto& [name, how, since] : holders) {
    if (since > draft) continue;
    const auto* member = schema.find(name);
    if (!member) continue;
    const auto below = pointer + "/" + std::string(name);
    std::optional<problem> bad;
    if (how == holds::schema) {
      // A list under "items" is looked at by its own row.
      if (!member->is_list()) bad = collect(*member, base, below, own->second.draft);
    } else if (how == holds::list && member->is_list()) {
      for (std::size_t i = 0; i < member->size() && !bad; ++i)
        bad = collect(member->items()[i], base, below + "/" + std::to_string(i), own->second.draft);
    } else if (how == holds::map && member->is_map()) {
      for (const auto& [key, item] : member->entries())
        if (!bad) bad = collect(item, base, below + pointer_step(key), own->second.draft);
    }
    if (bad) return bad;
  }
  return std::nullopt;
}

std::optional<problem> document::collect_anchors(const value& schema, const std::string& pointer,
                                                 resource& in) {
  if (!schema.is_map()) return std::nullopt;
  const auto add = [&](const std::string& anchor) -> std::optional<problem> {
    const auto [found, fresh] = in.anchors.try_emplace(anchor, pointer);
    if (fresh || found->second == pointer) return std::nullopt;
    return problem{"duplicate anchor " + quote(anchor) + " in " + quote(url_) + " at " +
                   quote(found->second) + " and " + quote(pointer)};
  };
  if (in.draft < 2019) {
    if (schema.find("$ref")) return std::nullopt;
    const auto id = text_member(schema, id_keyword(in.draft));
    const auto hash = id.find('#');
    if (hash == id.npos || hash + 1 == id.size()) return std::nullopt;
    std::string anchor;
    try {
      anchor = unescape_path(id.substr(hash + 1));
    } catch (const function_error&) {
      return problem{"error in parsing anchor at " + quote(place{url_, pointer}.text())};
    }
    return anchor.starts_with('/') ? std::nullopt : add(anchor);
  }
  if (const auto anchor = text_member(schema, "$anchor"); !anchor.empty())
    if (auto bad = add(anchor)) return bad;
  if (in.draft < 2020) return std::nullopt;
  if (const auto anchor = text_member(schema, "$dynamicAnchor"); !anchor.empty()) {
    if (auto bad = add(anchor)) return bad;
    in.dynamic_anchors.push_back(anchor);
  }
  return std::nullopt;
}

}  // namespace helm::schemas
