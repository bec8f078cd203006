#include "bench/charts/chart_copies.hpp"

#include "k8s/sim/api_server.hpp"

#include <boost/json.hpp>

#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace bench {
namespace {

namespace json = boost::json;

constexpr std::string_view kinds[] = {"namespaces", "serviceaccounts", "services", "secrets"};

std::string text_in(const json::object& o, std::string_view key) {
  const json::value* v = o.if_contains(key);
  return v && v->is_string() ? std::string(v->get_string()) : std::string();
}

std::string name_of(const json::object& o) {
  return text_in(o.at("metadata").as_object(), "name");
}

std::string in_metadata(const json::object& o, std::string_view key) {
  return text_in(o.at("metadata").as_object(), key);
}

json::object without_version(json::object o) {
  o["metadata"].as_object().erase("resourceVersion");
  return o;
}

/// What the service wrote down about records: the copies have other UIDs and versions.
struct record_identities {
  std::map<std::string, std::string> versions;  // by the record's name
  std::map<std::string, std::string> uids;      // by the UID of the original

  void add(const json::object& from, const json::object& to) {
    versions[name_of(to)] = in_metadata(to, "resourceVersion");
    uids[in_metadata(from, "uid")] = in_metadata(to, "uid");
  }
  std::string renewed(const std::string& text) const {
    boost::system::error_code none;
    json::value read = json::parse(text, none);
    if (none || !read.is_object()) return text;
    json::object& o = read.get_object();
    if (const auto found = versions.find(text_in(o, "record")); found != versions.end())
      o["version"] = found->second;
    if (json::value* records = o.if_contains("records"); records && records->is_array())
      for (json::value& one : records->get_array())
        if (const auto found = uids.find(text_in(one.as_object(), "uid")); found != uids.end())
          one.as_object()["uid"] = found->second;
    return json::serialize(o);
  }
};

}  // namespace

std::size_t copy_releases(const k8s::sim::api_server& from, k8s::sim::api_server& to) {
  record_identities records;
  for (const std::string_view kind : kinds)
    for (const json::object& o : from.list("", kind)) {
      const json::object put = to.put(without_version(o));
      if (text_in(put, "type") == "helm.sh/release.v1") records.add(o, put);
    }
  for (json::object& o : from.list("", "configmaps")) {
    if (name_of(o).starts_with("windlass-"))
      for (auto& member : o["data"].as_object())
        member.value() = records.renewed(std::string(member.value().as_string()));
    to.put(without_version(std::move(o)));
  }
  return records.versions.size();
}

}  // namespace bench
