#include "helm/placed/plan/names.hpp"

namespace helm::placed::names {

std::optional<owner_reference> read_owner(std::string_view annotation) {
  const auto first = annotation.find('/');
  if (first == annotation.npos) return std::nullopt;
  const auto second = annotation.find('/', first + 1);
  if (second == annotation.npos) return std::nullopt;
  owner_reference out;
  out.kind = annotation.substr(0, first);
  out.key.ns = annotation.substr(first + 1, second - first - 1);
  out.key.name = annotation.substr(second + 1);
  if (out.kind.empty() || out.key.ns.empty() || out.key.name.empty() ||
      out.key.name.find('/') != std::string::npos)
    return std::nullopt;
  return out;
}

}  // namespace helm::placed::names
