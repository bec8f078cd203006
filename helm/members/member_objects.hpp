#pragma once

#include "k8s/client/resource.hpp"
#include "reactor/plain/result.hpp"

#include <boost/json/object.hpp>

#include <map>
#include <string>
#include <vector>

namespace cli {

/// How a member is set up.
struct member_settings {
  std::string ns = "bootc-operator";  // of the account; the daemons are in one of their own
  std::string image;                  // of the daemons; empty = to be kept, see keep_images
  enum class daemons { yes, no } with = daemons::yes;
  /// The rights that releases of Tenants take there.
  enum class tenants { no, yes } of_tenants = tenants::no;
  /// The same of FleetCharts.
  enum class fleet_charts { no, yes } of_fleet_charts = fleet_charts::no;
  /// Names of the Secrets in `ns` that pools may name as pull secrets.
  std::vector<std::string> pull_secrets = {};
  /// home: with the service itself.
  enum class part { member, home } as = part::member;
};

/// One object of a member.
struct member_object {
  k8s::resource what;
  k8s::object_key key;
  boost::json::object body;
};

/// The chart that this program was built with, rendered for a member, in the order in which it is
/// applied.
/// Errors: an image that means nothing or names no registry, a namespace that is none.
reactor::result<std::vector<member_object>> member_objects(const member_settings& s);

/// The images of a DaemonSet's containers, by name; empty where it is none.
std::map<std::string, std::string> container_images(const boost::json::object& workload);
/// Makes them those of `there`, for the containers that both have. True: each of them has one.
bool keep_images(boost::json::object& workload, const std::map<std::string, std::string>& there);

/// Whether `o` is a Role on pull secrets. Such a Role names Secrets one by one.
bool is_pull_secret_role(const member_object& o);
/// Makes the Secrets that the Role `o` names those that `there` names. Returns how many they are; a
/// Role of an earlier version that names none is not kept.
std::size_t keep_pull_secrets(member_object& o, const boost::json::object& there);

/// What versions before the daemons' own namespace installed in `ns`: their daemons and account.
std::vector<member_object> earlier_daemons(const std::string& ns);

/// Whose token home gets.
k8s::object_key member_account(const member_settings& s);
/// The DaemonSet that the chart has for an account in `ns`; empty where `ns` is no namespace.
k8s::object_key member_daemon(const std::string& ns);
/// Of a service that runs there itself.
k8s::object_key own_controller(const std::string& ns);

}  // namespace cli
