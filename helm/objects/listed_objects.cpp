#include "helm/objects/listed_objects.hpp"

#include "k8s/client/client.hpp"
#include "k8s/client/list_pages.hpp"

#include <boost/json.hpp>

#include <utility>

namespace helm::objects {
namespace {

namespace json = boost::json;

// A release that shares its namespace with many others asks for its own objects instead.
constexpr std::uint32_t page_limit = 100;

std::string path_of(const k8s::resource& of, const std::string& ns) {
  return of.collection_path(ns).value_or("");
}

}  // namespace

std::vector<collection> worth_listing(const object_list& wanted) {
  std::map<std::string, std::pair<collection, std::size_t>> counted;
  for (const object& o : wanted) {
    if (!o.resource.namespaced || o.ns.empty() || o.name.empty()) continue;
    auto& [c, count] = counted[path_of(o.resource, o.ns)];
    if (count++ == 0) c = {o.resource, o.ns};
  }
  std::vector<collection> out;
  for (auto& [path, one] : counted)
    if (!path.empty() && one.second >= worth_a_list) out.push_back(std::move(one.first));
  return out;
}

reactor::awaitable<void> listed_objects::read(const object_list& wanted) {
  const std::vector<collection> all = worth_listing(wanted);
  for (std::size_t i = 0; i < all.size(); ++i) {
    k8s::list_options options;
    options.ns = all[i].ns;
    options.limit = page_limit;
    options.metadata_only = true;
    options.most_bytes = most_bytes_;
    auto page = co_await api_.list(all[i].of, std::move(options));
    if (page) take(all[i], std::move(*page));
  }
}

void listed_objects::take(const collection& c, json::object page) {
  if (!k8s::items_of(page)) return;
  listed& to = all_[path_of(c.of, c.ns)];
  const json::value* head = page.if_contains("metadata");
  to.whole = head && head->is_object() && metadata_text(page, "continue").empty();
  for (json::value& item : page["items"].get_array()) {
    if (!item.is_object()) continue;
    std::string name = metadata_text(item.get_object(), "name");
    to.by_name.insert_or_assign(std::move(name), std::move(item.get_object()));
  }
}

listed_objects::finding listed_objects::find(const object& o) const {
  finding out;
  const auto listed = all_.find(path_of(o.resource, o.ns));
  if (o.name.empty() || listed == all_.end()) return out;
  const auto found = listed->second.by_name.find(o.name);
  if (found != listed->second.by_name.end()) {
    out.is = presence::present;
    out.object = &found->second;
  } else if (listed->second.whole) {
    out.is = presence::absent;
  }
  return out;
}

}  // namespace helm::objects
