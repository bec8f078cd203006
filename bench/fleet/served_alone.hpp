#pragma once

#include <boost/json/object.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <string>

namespace k8s::sim {
class api_server;
class server;
}  // namespace k8s::sim
namespace reactor {
class loop;
}

namespace bench {

/// An API server over TLS on a loopback address of its own, with a certificate authority of its
/// own.
/// Lifetime  loop and API server outlive it.
class served_alone {
public:
  /// Throws std::runtime_error where it cannot listen.
  served_alone(reactor::loop& l, k8s::sim::api_server& api, const std::string& address);
  ~served_alone();
  std::string kubeconfig;

private:
  std::unique_ptr<k8s::sim::server> front_;
};

/// 127.0.1.1, 127.0.1.2, …: one for each cluster; 127.0.0.1 is home's.
std::string address_of(std::size_t cluster);
inline constexpr std::size_t clusters_in_a_block = 250;

/// The Secret at home that makes it a cluster of the fleet, with these labels beside the usual one.
boost::json::object secret_of(const std::string& name, const served_alone& cluster,
                              const std::map<std::string, std::string>& labels);

/// Raises the limit of open files to what 10,000 servers need. The process is no part of what is
/// measured.
void allow_more_descriptors();

/// Writes home's kubeconfig to a file and prints its path, which the other process reads.
void tell_kubeconfig(const std::string& text);

}  // namespace bench
