#include "bench/charts/chart_copies.hpp"

#include "fleetwide/charts/chart_note.hpp"
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

json::object without_identity(json::object o) {
  json::object& metadata = o["metadata"].as_object();
  for (const char* one : {"uid", "resourceVersion", "creationTimestamp", "managedFields"})
    metadata.erase(one);
  return o;
}

/// The note with the version that its record has here.
std::string renewed(const std::string& note, const std::map<std::string, std::string>& versions) {
  json::object read = json::parse(note).as_object();
  const auto found = versions.find(text_in(read, "record"));
  if (found != versions.end()) read["version"] = found->second;
  return json::serialize(read);
}

}  // namespace

std::size_t copy_releases(const k8s::sim::api_server& from, k8s::sim::api_server& to) {
  std::map<std::string, std::string> versions;  // of records, by name; releases have their own
  for (const std::string_view kind : kinds)
    for (json::object& o : from.list("", kind)) {
      const json::object put = to.put(without_identity(std::move(o)));
      if (text_in(put, "type") != "helm.sh/release.v1") continue;
      versions[name_of(put)] = text_in(put.at("metadata").as_object(), "resourceVersion");
    }
  for (json::object& o : from.list("", "configmaps")) {
    if (name_of(o) == fleetwide::notes_object)
      for (auto& member : o["data"].as_object())
        member.value() = renewed(std::string(member.value().as_string()), versions);
    to.put(without_identity(std::move(o)));
  }
  return versions.size();
}

}  // namespace bench
