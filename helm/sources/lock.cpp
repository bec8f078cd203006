#include "helm/sources/lock.hpp"

#include "formats/digest.hpp"
#include "formats/json/json.hpp"
#include "formats/json/record.hpp"
#include "formats/yaml/writer.hpp"
#include "helm/go.hpp"
#include "helm/sources/record.hpp"

namespace helm::sources {
namespace {

std::string json_digest(const value& v) {
  const auto text = write_json(v);
  return digest_of(text ? *text : "");
}

}  // namespace

std::string lock_digest(const dependency_list& wanted,
                        const std::vector<locked_dependency>& chosen) {
  dependency_list locked;
  for (const auto& c : chosen) {
    auto d = std::make_shared<dependency>();
    d->name = c.name;
    d->version = c.version;
    d->repository = c.repository;
    locked.push_back(std::move(d));
  }
  return json_digest(
      value::list_type{dependencies_value(wanted), dependencies_value(std::move(locked))});
}

std::string old_lock_digest(const dependency_list& wanted) {
  return json_digest(record({{"dependencies", dependencies_value(wanted)}}));
}

std::string write_lock(const chart_lock& lock) {
  value::list_type list;
  for (const auto& d : lock.dependencies) {
    value::map_type m{{"name", d.name}, {"repository", d.repository}};
    if (!d.version.empty()) m.emplace("version", d.version);
    list.push_back(std::move(m));
  }
  const auto text = write_go_yaml(value::map_type{{"dependencies", value(std::move(list))},
                                                  {"digest", lock.digest},
                                                  {"generated", lock.generated}});
  return text ? *text : "";
}

bool lock_is_current(const chart_lock& lock, const metadata& m, const dependency_list& resolved) {
  if (lock_digest(resolved, lock.dependencies) == lock.digest) return true;
  return m.api_version == "v1" && old_lock_digest(m.dependencies) == lock.digest;
}

}  // namespace helm::sources
