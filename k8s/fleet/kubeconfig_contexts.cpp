#include "k8s/fleet/kubeconfig_contexts.hpp"

#include "reactor/plain/printable.hpp"

#include <map>
#include <utility>

namespace k8s {

namespace {

std::string in_marks(std::string_view context) {
  return '"' + reactor::printable(context, 128) + '"';
}

/// A context of a file with whatever it names there, else in the other files: contexts of one file
/// belong together, also where an earlier file has a cluster or user of the same name.
reactor::result<connection> connection_in(const std::string& file, const std::string& context,
                                          const std::vector<std::string>& readable) {
  auto merged = load_kubeconfig_files(readable, context);
  if (!merged || readable.front() == file) return merged;
  const auto alone = load_kubeconfig_file(file, context);
  if (alone && alone->server != merged->server)
    return reactor::make_fault(
        reactor::errc::refused, "kubeconfig " + file,
        "context " + in_marks(context) + " names a cluster of " + alone->server +
            ", and an earlier file has another cluster of that name, which kubectl takes; give "
            "one of the two another name");
  return merged;
}

}  // namespace

std::vector<context_connection> every_kubeconfig_context(const std::vector<std::string>& files) {
  std::vector<context_connection> all;
  std::vector<std::string> readable;
  std::vector<std::pair<std::string, std::vector<std::string>>> named;  // by file
  for (const std::string& file : files) {
    const std::string source = "kubeconfig " + file;
    auto bytes = read_small_file(file);
    if (!bytes) {
      const bool missing = bytes.error().code == make_error_code(reactor::errc::not_found);
      // kubectl passes over files that are not there.
      if (!missing || files.size() == 1)
        all.push_back({source, reactor::make_fault(
                                   bytes.error().code, source,
                                   missing ? bytes.error().detail : bytes.error().code.message())});
      continue;
    }
    auto names = kubeconfig_contexts(bytes->reveal(), source);
    if (!names) {
      all.push_back({source, names.error()});
      continue;
    }
    readable.push_back(file);
    named.emplace_back(file, *std::move(names));
  }
  std::map<std::string, std::string> seen;  // the file of each name
  for (const auto& [file, names] : named)
    for (const std::string& name : names) {
      const auto [first, is_new] = seen.emplace(name, file);
      if (is_new) {
        all.push_back({name, connection_in(file, name, readable)});
        continue;
      }
      all.push_back(
          {name + " (" + file + ")",
           reactor::make_fault(reactor::errc::refused, "kubeconfig " + file,
                               "context " + in_marks(name) + " is also one of " + first->second +
                                   ", which counts; give one of the two another name")});
    }
  return all;
}

}  // namespace k8s
