#pragma once

#include "k8s/client/kubeconfig.hpp"

#include <string>
#include <vector>

namespace k8s {

/// A context of a person's files, or a file that cannot be read: then `name` is the file's.
struct context_connection {
  std::string name;
  reactor::result<connection> to;  // or why it cannot be used
};
/// Every context of $KUBECONFIG's files, as kubectl merges them: what is wrong with one concerns it
/// alone. Files without anything in them and, among others, files that are not there add nothing. A
/// name that an earlier file has is told and not used.
/// Blocks on the files.
std::vector<context_connection> every_kubeconfig_context(const std::vector<std::string>& files);

}  // namespace k8s
