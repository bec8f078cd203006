#include "helm/release/lookups.hpp"

#include "helm/go.hpp"
#include "k8s/client/apart.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"
#include "reactor/plain/reason.hpp"

#include <boost/json.hpp>

namespace helm::release {
namespace {

namespace json = boost::json;

// A template that lists more than this would not fit into a release.
constexpr std::size_t objects_limit = 50'000;
// As many as are taken at a time, each as large as its author likes.
constexpr std::uint32_t objects_per_page = 8;

/// "apps/v1, Kind=Deployment"
std::string kind_text(const std::string& api_version, const std::string& kind) {
  return (api_version.find('/') == api_version.npos ? "/" : "") + api_version + ", Kind=" + kind;
}

/// Items of a typed list do not say what they are; the list does.
void name_items(json::object& list) {
  const auto* kind = list.if_contains("kind");
  const auto* version = list.if_contains("apiVersion");
  auto* items = list.if_contains("items");
  if (!kind || !kind->is_string() || !version || !items || !items->is_array()) return;
  std::string name(kind->as_string());
  if (name.ends_with("List")) name.resize(name.size() - 4);
  for (auto& item : items->as_array())
    if (auto* o = item.if_object(); o && !o->contains("kind")) {
      (*o)["kind"] = name;
      (*o)["apiVersion"] = *version;
    }
}

/// A page as text: what stands before and behind its items, and these without their brackets.
struct page_text {
  std::string before, items, after;
  std::size_t objects = 0;
};

page_text written(json::object page) {
  name_items(page);
  page_text out;
  out.before = "{";
  std::string* part = &out.before;
  for (const auto& [key, value] : page) {
    if (part->size() > 1 || part == &out.after) *part += ',';
    *part += json::serialize(json::value(key)) + ":";
    const auto* items = value.if_array();
    if (key != "items" || !items) {
      *part += json::serialize(value);
      continue;
    }
    out.before += '[';
    out.after = "]";
    part = &out.after;
    out.objects = items->size();
    for (const auto& item : *items) {
      if (!out.items.empty()) out.items += ',';
      out.items += json::serialize(item);
    }
  }
  out.after += "}";
  return out;
}

}  // namespace

reactor::awaitable<lookup_answer> cluster_lookups::find(lookup_key key) {
  const auto [api_version, kind, ns, name] = key;
  auto known = co_await kinds_.find(api_version, kind);
  auto all = co_await kinds_.resources_of(api_version);
  if (!all || !known) {
    const auto& why = all ? known.error() : all.error();
    const auto text = why.code == k8s::errc::not_found
                          ? std::string("the server could not find the requested resource")
                          : reactor::reason_of(why);
    co_return lookup_answer{{},
                            "unable to get apiresource from unstructured: " +
                                kind_text(api_version, kind) + ": " + text};
  }
  if (!*known) {
    auto odd = co_await find_without_kind(name);
    co_return odd;
  }
  const k8s::resource collection = **known;
  if (!secrets_of_.empty() && collection.group.empty() && collection.plural == "secrets" &&
      ns != secrets_of_)
    co_return lookup_answer{{},
                            "lookup of Secrets in " +
                                (ns.empty() ? "all namespaces" : "namespace " + quote(ns)) +
                                " is not allowed: a chart may look up those of its release's "
                                "namespace " +
                                quote(secrets_of_) + ", others with --allow-secret-lookup"};
  if (nothing_else_ && (!collection.namespaced || ns != secrets_of_))
    co_return lookup_answer{{},
                            "lookup of " + kind + " outside of namespace " + quote(secrets_of_) +
                                " is not allowed: that namespace is all that was granted"};
  if (name.empty()) {
    std::string where = collection.namespaced ? ns : std::string();
    auto listed = co_await find_list(collection, std::move(where));
    co_return within_budget(std::move(listed));
  }
  k8s::object_key at{collection.namespaced ? ns : std::string(), name};
  auto object = co_await api_.get(collection, std::move(at));
  lookup_answer out;
  if (object)
    out.json = json::serialize(*object);
  else if (object.error().code != k8s::errc::not_found)
    out.error = reactor::reason_of(object.error());
  co_return within_budget(std::move(out));
}

lookup_answer cluster_lookups::within_budget(lookup_answer a) {
  if (a.json.size() > left_) {
    a.json.clear();
    a.error = "lookup: more objects than may be looked up by one render, by their bytes";
  }
  left_ -= a.json.size();
  return a;
}

/// Helm asks for such a kind by a path without group, version and plural: what it gets is the list
/// of API versions, or what a name in it leads to.
reactor::awaitable<lookup_answer> cluster_lookups::find_without_kind(std::string name) {
  lookup_answer out;
  // Nothing but a step of that path: "v1%2Fsecrets" would lead past what a chart may look up.
  const bool is_step = name.find_first_not_of(
                           ".-_0123456789abcdefghijklmnopqrstuvwxyz"
                           "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == name.npos;
  if (!is_step || name.starts_with('.')) co_return out;
  std::string at = name.empty() ? "/api" : "/api/" + name;
  auto got = co_await api_.get_path(std::move(at));
  if (!got) {
    if (got.error().code != k8s::errc::not_found) out.error = reactor::reason_of(got.error());
    co_return out;
  }
  auto* object = got->if_object();
  if (!object) co_return out;
  if (name.empty()) object->emplace("items", json::array());
  out.json = json::serialize(*object);
  co_return out;
}

/// Pages are written where they can take their time, and no list is held as a document.
reactor::awaitable<lookup_answer> cluster_lookups::find_list(k8s::resource r, std::string ns) {
  lookup_answer out;
  std::string items, after;
  std::size_t objects = 0;
  k8s::list_options options;
  options.ns = std::move(ns);
  if (bytes_ < lookup_bytes_of_a_person) options.limit = objects_per_page;
  k8s::list_pages pages(api_, std::move(r), std::move(options));
  for (bool first = true;; first = false) {
    auto page = co_await pages.next();
    if (!page) {
      out.json.clear();
      if (page.error().code != k8s::errc::not_found) out.error = reactor::reason_of(page.error());
      co_return out;
    }
    if (!*page) break;
    const auto job = [](json::object& whole) { return written(std::move(whole)); };
    page_text text = co_await api_.off_loop().run(job, std::move(**page));
    objects += text.objects;
    if (first) {
      out.json = std::move(text.before);
      after = std::move(text.after);
    }
    if (!text.items.empty()) items += (items.empty() ? "" : ",") + text.items;
    if (objects > objects_limit) {
      out.json.clear();
      out.error = "lookup: more than 50000 objects";
      co_return out;
    }
    if (items.size() > left_) break;  // within_budget() says so
  }
  out.json += items + after;
  co_return out;
}

}  // namespace helm::release
