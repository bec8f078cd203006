#pragma once

#include "k8s/client/fault.hpp"
#include "k8s/client/kubeconfig.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"

#include <boost/json/object.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace k8s {

class client;

/// The Secret by which home is a cluster of its own fleet.
struct self_cluster_options {
  static constexpr std::string_view name = "self-cluster";
  std::string ns = "default";
  std::string label = "sigs.k8s.io/multicluster-runtime-kubeconfig", key = "kubeconfig";
  /// Kubeconfigs that lead home, the first that can be read counts; none: home is where the process
  /// runs, and its own connection says how to get there.
  std::vector<std::string> files;
  std::string context;  // of that file; empty = its current one
};

/// Reads the bytes of a file that a kubeconfig names; none: it cannot be read.
using file_reader = std::function<std::optional<reactor::secret>(const std::string& path)>;

/// A person's kubeconfig as it can be put into a Secret: what it names as files is in it, as far as
/// they can be read. `whole` has all contexts, `reduced` only the one that counts, its cluster and
/// its user; empty where it has no such context.
/// Errors  what is no kubeconfig, without a word of it.
struct portable_kubeconfig {
  boost::json::object whole, reduced;
};
reactor::result<portable_kubeconfig> make_portable(std::string_view bytes,
                                                   const std::string& folder, std::string context,
                                                   const file_reader& read);
/// The same of a connection: cluster, user and context are called "self". A token that the process
/// reads from a file is left out: readers of the Secret are no account of the service.
boost::json::object kubeconfig_of_connection(const connection& to);
/// Whether the kubeconfig of the Secret `self-cluster` is one without credentials, which
/// kubeconfig_of_connection() made. The process's own connection is used in its place, so what the
/// Secret says decides neither where a credential goes nor which one.
bool stands_for_home(const connection& stored);

/// Makes the Secret `self-cluster` at home once.
/// Kept     one whose kubeconfig can be read stays as it is; a label that it lost is put back. One
///          in which an earlier version put the token of a file is written again without it.
/// Made     otherwise: from the connection where its token is in a file, else from the first of
///          `files`, else from the connection; a file whose one context leads nowhere is stored
///          whole.
/// Lifetime loop and client outlive it.
/// Source   the contract on tenants, section 4; docs/adr/0002.
class self_cluster {
public:
  self_cluster(reactor::loop& l, client& home, connection running, self_cluster_options o,
               reactor::logger log)
      : loop_(l),
        home_(home),
        running_(std::move(running)),
        options_(std::move(o)),
        log_(std::move(log)) {}

  reactor::awaitable<result<void>> ensure();

private:
  bool has_token_file() const noexcept { return !running_.token.file.empty(); }
  reactor::awaitable<std::optional<reactor::secret>> from_files();
  reactor::awaitable<bool> leads_somewhere(reactor::secret kubeconfig);
  enum class secret_is : std::uint8_t { absent, there };
  reactor::awaitable<result<void>> write(reactor::secret kubeconfig, secret_is now);

  reactor::loop& loop_;
  client& home_;
  connection running_;
  self_cluster_options options_;
  reactor::logger log_;
};

}  // namespace k8s
