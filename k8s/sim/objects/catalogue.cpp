#include "k8s/sim/objects/catalogue.hpp"

#include <algorithm>

namespace k8s::sim {

kind_ptr catalogue::find(std::string_view group, std::string_view version,
                         std::string_view plural) const {
  for (const kind_ptr& k : *built_in_) {
    if (k->plural == plural && k->group == group && k->version == version) return k;
  }
  if (auto at = custom_.find({std::string(group), std::string(plural)}); at != custom_.end()) {
    for (const kind_ptr& k : at->second) {
      if (k->version == version) return k;
    }
  }
  return nullptr;
}

kind_ptr catalogue::find_kind(std::string_view api_version, std::string_view kind) const {
  for (const kind_ptr& k : *built_in_) {
    if (k->kind == kind && k->api_version() == api_version) return k;
  }
  for (const auto& [name, versions] : custom_) {
    for (const kind_ptr& k : versions) {
      if (k->kind == kind && k->api_version() == api_version) return k;
    }
  }
  return nullptr;
}

kind_ptr catalogue::find_collection(std::string_view group, std::string_view plural) const {
  for (const kind_ptr& k : *built_in_) {
    if (k->plural == plural && k->group == group) return k;
  }
  if (auto at = custom_.find({std::string(group), std::string(plural)}); at != custom_.end()) {
    for (const kind_ptr& k : at->second) {
      if (k->version == k->storage_version) return k;
    }
    if (!at->second.empty()) return at->second.front();
  }
  return nullptr;
}

template <class Predicate>
bool catalogue::any(Predicate fits) const {
  return std::ranges::any_of(*built_in_, fits) ||
         std::ranges::any_of(custom_, [&](const auto& collection) {
           return std::ranges::any_of(collection.second, fits);
         });
}

bool catalogue::has_group_version(std::string_view group, std::string_view version) const {
  return any([&](const kind_ptr& k) { return k->group == group && k->version == version; });
}

void catalogue::set_custom(std::string_view group, std::string_view plural,
                           std::vector<kind_ptr> versions) {
  custom_[{std::string(group), std::string(plural)}] = std::move(versions);
}

void catalogue::remove_custom(std::string_view group, std::string_view plural) {
  custom_.erase({std::string(group), std::string(plural)});
}

std::vector<kind_ptr> catalogue::all() const {
  std::vector<kind_ptr> kinds = *built_in_;
  for (const auto& [name, versions] : custom_)
    kinds.insert(kinds.end(), versions.begin(), versions.end());
  return kinds;
}

std::vector<kind_ptr> catalogue::custom() const {
  std::vector<kind_ptr> kinds;
  for (const auto& [name, versions] : custom_)
    kinds.insert(kinds.end(), versions.begin(), versions.end());
  return kinds;
}

}  // namespace k8s::sim
