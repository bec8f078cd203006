#pragma once

#include "helm/release/rendering.hpp"
#include "k8s/client/discovery.hpp"
#include "reactor/awaitable.hpp"

#include <cstddef>
#include <string>
#include <utility>

namespace k8s {
class client;
}

namespace helm::release {

/// What a command looks up at most: with so much, pages are as large as the client's.
inline constexpr std::size_t lookup_bytes_of_a_person = 64u << 20;

/// Answers `lookup`: reads what a template asked for.
/// Secrets  where `secrets_of` names a namespace, of that one alone: a chart that is rendered with
///          the rights of a service must not copy what its release's users cannot read. With
///          `nothing_else` the same holds for objects of every kind.
/// Limits   `bytes` of answers in all. Users of a namespace fill it with objects as large as they
///          like, and a render has some copies of what was looked up.
/// Lifetime client and discovery outlive it.
class cluster_lookups {
public:
  cluster_lookups(k8s::client& api, k8s::discovery& kinds, std::string secrets_of,
                  std::size_t bytes, bool nothing_else = false)
      : api_(api),
        kinds_(kinds),
        secrets_of_(std::move(secrets_of)),
        nothing_else_(nothing_else),
        bytes_(bytes),
        left_(bytes) {}

  /// An object, or a list when the name is empty; of all namespaces when that is empty too. What is
  /// not there is an empty answer; an unknown group version and refused requests are errors, as in
  /// Helm.
  reactor::awaitable<lookup_answer> find(lookup_key key);

private:
  reactor::awaitable<lookup_answer> find_without_kind(std::string name);
  reactor::awaitable<lookup_answer> find_list(k8s::resource r, std::string ns);
  lookup_answer within_budget(lookup_answer a);
  k8s::client& api_;
  k8s::discovery& kinds_;
  std::string secrets_of_;  // empty: of all
  bool nothing_else_;
  std::size_t bytes_, left_;
};

}  // namespace helm::release
