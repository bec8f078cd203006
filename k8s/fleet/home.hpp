#pragma once

#include "k8s/client/kubeconfig.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/plain/result.hpp"

#include <string>
#include <vector>

namespace reactor {
class loop;
}

namespace k8s {

/// Where the home connection comes from; empty = not given.
struct home_options {
  std::string secret;  // --watch-kubeconfig-secret: preferred
  std::string secret_ns = "default", secret_key = "kubeconfig";
  std::string file;          // --watch-kubeconfig
  std::string context;       // --watch-context, of whichever kubeconfig is used
  std::string default_file;  // --kubeconfig
  std::vector<allowed_program> programs = {};  // --allow-exec, for the Secret
};

/// Finds the cluster that holds the discovery Secrets.
/// Order    a kubeconfig in a Secret, read through the default connection; a file; the default
///          connection itself.
/// Errors   one sentence with source, namespace, name and key; the process cannot start then.
/// Source   docs/adr/0001 and 0002.
/// Lifetime the loop outlives it.
class home_finder {
public:
  home_finder(reactor::loop& l, home_options options, environment env)
      : loop_(l), options_(std::move(options)), env_(std::move(env)) {}
  reactor::awaitable<reactor::result<connection>> find();

private:
  reactor::awaitable<reactor::result<connection>> from_secret();
  reactor::loop& loop_;
  home_options options_;
  environment env_;
};

}  // namespace k8s
