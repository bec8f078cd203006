#pragma once

#include "k8s/client/login_session.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/secret.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace reactor {
class loop;
}

namespace k8s {

/// Something secret or large that a kubeconfig carries itself or names a file for. The file wins
/// when both are there and is read again when it changes.
struct material {
  reactor::secret bytes;
  std::string file;
  bool empty() const { return bytes.empty() && file.empty(); }
};

/// Where one API server is and who we are there.
struct connection {
  std::string server;  // "https://10.0.0.1:6443/prefix", http or https
  std::string tls_server_name;
  bool insecure = false;  // the server's certificate is not verified
  material ca, certificate, key, token;
  std::string username;
  reactor::secret password;
  std::shared_ptr<login_session> login;  // `exec`: a program gives token or certificate
  reactor::secret proxy_url;             // may hold a password; empty = as the environment says
  std::string ns;                        // the context's namespace; empty = none named
  std::string context, source;           // for people: "prod", "kubeconfig /root/.kube/config"
  // Of home, without which nothing is known of any cluster; no kubeconfig says it.
  reactor::precedence precedence = reactor::precedence::usual;
};

/// What a kubeconfig from this origin may refer to.
enum class kubeconfig_origin {
  discovered,  // from a Secret: bytes only, nothing of this machine
  local,       // a person's own file: paths are followed
};

struct kubeconfig_options {
  // begins every fault: "kubeconfig /etc/a", "Secret default/a, key kubeconfig"
  std::string source;
  std::string context;  // empty = current-context, else the only one
  std::string folder;   // relative paths start here
  kubeconfig_origin origin = kubeconfig_origin::discovered;
  /// Programs that a discovered kubeconfig may name under `exec`; it runs no other.
  std::vector<allowed_program> programs = {};
};

/// Reads a kubeconfig (YAML or JSON).
/// Shape   server, CA, client certificate and key, token, basic auth, exec, tls-server-name,
///         proxy-url, namespace. As for kubectl, a token or a user name goes before exec.
/// Errors  one sentence that names source, field and reason: errc::malformed for what cannot be
///         read, errc::refused for what is forbidden or unsupported (auth-provider, impersonation;
///         file paths and programs if discovered), errc::not_found for a context, cluster, user
///         or file that is not there. Names the field's path and line and the entry's name, and
///         quotes no value.
/// Source  kubeconfig v1, as client-go's clientcmd reads it.
reactor::result<connection> load_kubeconfig(std::string_view bytes, kubeconfig_options options);
/// The same on the worker: keys and certificates of an attacker take long to read.
reactor::awaitable<reactor::result<connection>> load_kubeconfig_aside(reactor::loop& l,
                                                                      reactor::secret bytes,
                                                                      kubeconfig_options options);
/// Blocks on the file; call it at start or through loop::offload, as the next three.
reactor::result<connection> load_kubeconfig_file(std::string path, std::string context = {});
/// $KUBECONFIG: the first file that names a thing wins; files that are not there are skipped.
reactor::result<connection> load_kubeconfig_files(std::vector<std::string> paths,
                                                  std::string context = {});

/// What loading asks of the process; tests bring their own.
struct environment {
  std::function<std::string(std::string_view)> variable;
  std::string service_account = "/var/run/secrets/kubernetes.io/serviceaccount";
  /// With the login program of a kubeconfig. A service has none.
  login_dialogue dialogue = {};
  /// Of a command that a person types: login programs write to its standard error, and may read
  /// from its terminal.
  static environment of_process();
};

/// The Pod's service account. Errors: errc::not_found outside a cluster.
reactor::result<connection> load_in_cluster(const environment& env);
/// tenants.md §2 (3): `file` if not empty, else $KUBECONFIG, else in-cluster, else
/// $HOME/.kube/config.
reactor::result<connection> load_default(std::string file, std::string context,
                                         const environment& env);

/// Names of all contexts of a file, in its order, for listing and completion.
reactor::result<std::vector<std::string>> kubeconfig_contexts(std::string_view bytes,
                                                              std::string_view source);

/// What a file with one value says (a token, a namespace), without the white space around it.
std::string_view trimmed(std::string_view file) noexcept;
/// A small file whole.
/// Errors: errc::not_found or the system's, errc::limit past 4 MiB; the sentence names the path.
reactor::result<reactor::secret> read_small_file(const std::string& path);

}  // namespace k8s
