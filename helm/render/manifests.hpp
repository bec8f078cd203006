#pragma once

#include "helm/go.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace helm {

/// One document of a rendered file.
struct manifest {
  std::string path;
  std::string content;
  std::string api_version;
  std::string kind;
  std::string name;
};

/// A document that carries helm.sh/hook.
struct hook {
  std::string name;
  std::string kind;
  std::string path;
  std::string content;
  std::vector<std::string> events;
  int weight = 0;
  std::vector<std::string> delete_policies;
  std::vector<std::string> output_log_policies;
};

struct sorted_manifests {
  std::vector<hook> hooks;
  std::vector<manifest> manifests;
};

enum class kind_order : bool { install, uninstall };

/// Cuts a file into documents as Helm does: not a YAML parser, so the quirks at separators are
/// kept.
std::vector<std::string> split_documents(std::string_view text);

/// Documents of all files, hooks apart, in the order in which they are applied.
/// Errors   "YAML parse error on <path>: …"
outcome<sorted_manifests> sort_manifests(const std::map<std::string, std::string>& files,
                                         kind_order order,
                                         const std::function<void(const std::string&)>& log);

/// The position of a kind in an order; unknown kinds come last.
std::size_t kind_rank(std::string_view kind, kind_order order);

}  // namespace helm
