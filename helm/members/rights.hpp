#pragma once

#include "k8s/client/client.hpp"
#include "reactor/awaitable.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// One thing that an account may do, and why Windlass needs it.
struct right {
  std::string verb, group, resource, subresource;
  std::string ns, name;  // empty: of any
  std::string path;      // of no resource ("/version"): group to name are empty then
  std::string why;       // "to drain a node within its disruption budgets"

  /// `create pods/eviction`, `get namespaces "kube-system"`, `get /version`
  std::string text() const;
  friend bool operator==(const right&, const right&) = default;
};

/// What the account of a member needs there; the chart's ClusterRole and Roles grant exactly
/// that, and a test says so.
std::vector<right> rights_of_service(const k8s::object_key& account);
/// What a person needs on a cluster to make it a member.
std::vector<right> rights_of_member_admin(const k8s::object_key& account);

/// What a person needs on the cluster that becomes Windlass's home: to install the chart, which
/// takes the rights that its roles grant.
std::vector<right> rights_of_installer(const k8s::object_key& account);

/// Those that the server says no to: for the caller (SelfSubjectAccessReview) or, where one is
/// named, for that user (SubjectAccessReview). Errors: it does not answer at all.
reactor::awaitable<k8s::result<std::vector<right>>> missing_rights(k8s::client& api,  // borrowed
                                                                   std::vector<right> wanted,
                                                                   std::string user = {});

/// "…: the right to <verb> <resource> is missing; Windlass needs it <why>" where the server
/// refused, else the fault's own words.
std::string explained(const k8s::fault& f, std::string_view verb, const k8s::resource& on,
                      std::string_view why);

}  // namespace cli
