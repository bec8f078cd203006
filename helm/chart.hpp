#pragma once

#include "helm/problem.hpp"
#include "helm/value.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm {

struct chart_file {
  std::string name;
  std::string data;
};

struct maintainer {
  std::string name, email, url;
};

/// One entry of `dependencies` in Chart.yaml.
struct dependency {
  std::string name, version, repository, condition, alias;
  std::vector<std::string> tags;
  bool enabled = false;
  value import_values;  // a list
};

/// Chart.yaml.
struct metadata {
  std::string name, home, version, description, icon, api_version, condition, tags, app_version,
      kube_version, type;
  std::vector<std::string> sources, keywords;
  std::vector<std::shared_ptr<maintainer>> maintainers;  // null where the file holds null
  std::vector<std::shared_ptr<dependency>> dependencies;
  std::map<std::string, std::string> annotations;
  bool deprecated = false;
  bool has_annotations = false;
};

struct locked_dependency {
  std::string name, repository, version;
};
struct chart_lock {
  std::string digest, generated;
  std::vector<locked_dependency> dependencies;
};

/// A chart as loaded. Copies share the files, not the metadata, so that one chart can appear under several aliases.
struct chart {
  metadata meta;
  std::optional<chart_lock> lock;
  value values;  // a map, or nil when there is no values.yaml
  std::optional<std::string> schema;
  std::vector<chart_file> raw;
  std::vector<chart_file> templates;
  std::vector<chart_file> files;
  std::vector<std::shared_ptr<chart>> dependencies;

  const std::string& name() const { return meta.name; }
};
using chart_ptr = std::shared_ptr<chart>;

/// Sorts files into a chart and loads what lies in charts/.
/// Errors   Helm's: "Chart.yaml file is missing", "cannot load values.yaml: …", "validation: …".
outcome<chart_ptr> load_files(std::vector<chart_file> files, std::vector<std::string>& warnings);
/// A directory, honouring .helmignore, or a .tgz file.
outcome<chart_ptr> load_chart(const std::string& path, std::vector<std::string>& warnings);

/// Reads Chart.yaml into `out`, on top of what is there.
outcome<bool> read_metadata(std::string_view yaml, metadata& out);
/// The same from a value that was read already.
outcome<bool> metadata_from(const value& v, metadata& out);
/// Chart.yaml's own rules; also cleans its texts.
outcome<bool> validate_metadata(metadata& m);

/// path.Join and path.Base for names inside charts.
std::string base_name(std::string_view path);
std::string clean_path(std::string_view path);

}  // namespace helm
