#pragma once

#include "k8s/client/client.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "k8s/fleet/member_token.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"

#include <boost/json/object.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cli {

/// Where the kubeconfig Secrets of a fleet are, on home.
struct secret_place {
  std::string ns = "default", label = "sigs.k8s.io/multicluster-runtime-kubeconfig",
              key = "kubeconfig";
};

/// A kubeconfig Secret as it is at home.
struct noted_member {
  std::string name;
  std::vector<std::pair<std::string, std::string>>
      labels;             // but the one that makes it a kubeconfig
  bool in_fleet = false;  // it has that label
  reactor::secret kubeconfig;
  std::vector<std::string> keys;  // of the Secret's data
  /// What `cluster add` noted; none when a person wrote the Secret, or wrote over it.
  std::optional<k8s::member_token> member;
};

/// None when there is no such Secret.
reactor::awaitable<k8s::result<std::optional<noted_member>>> find_member(
    k8s::client& home,  // borrowed
    secret_place at, std::string name);
/// Every kubeconfig Secret of the fleet.
reactor::awaitable<k8s::result<std::vector<noted_member>>> all_members(
    k8s::client& home,  // borrowed
    secret_place at);

/// As the service reads the Secret of a member.
/// Errors   those that `cluster list` shows of the member.
reactor::result<k8s::connection> connection_of(const noted_member& m, const secret_place& at,
                                               const std::vector<k8s::allowed_program>& programs);

/// None when it is not there.
reactor::awaitable<k8s::result<std::optional<boost::json::object>>> find_object(
    k8s::client& api, k8s::resource what, k8s::object_key key);  // borrowed
/// Of kube-system.
reactor::awaitable<k8s::result<std::string>> uid_of(k8s::client& api);  // borrowed
/// Two states of an object that differ at most in what the server notes by itself.
bool same_content(boost::json::object a, boost::json::object b);

/// A sentence as a fault.
reactor::fault sentence(std::string text);
/// Asks on the terminal; false where there is none. Blocks: not while a loop runs.
bool is_confirmed(std::string_view question);
bool can_ask();

}  // namespace cli
