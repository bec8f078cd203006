#pragma once

#include "helm/go.hpp"

#include <cstdint>
#include <initializer_list>
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

/// The files of a chart. Copies share them until one of them is changed, so that a chart can be
/// copied for each render.
class file_list {
public:
  using value_type = chart_file;
  using const_iterator = std::vector<chart_file>::const_iterator;

  file_list() = default;
  file_list(std::initializer_list<chart_file> files)
      : files_(std::make_shared<std::vector<chart_file>>(files)) {}
  file_list(std::vector<chart_file> files)
      : files_(std::make_shared<std::vector<chart_file>>(std::move(files))) {}

  const_iterator begin() const { return all().begin(); }
  const_iterator end() const { return all().end(); }
  std::size_t size() const { return all().size(); }
  bool empty() const { return all().empty(); }
  const chart_file& operator[](std::size_t i) const { return all()[i]; }
  /// The text of a file, for those who keep it; nothing is copied.
  std::shared_ptr<const std::string> text(std::size_t i) const { return {files_, &all()[i].data}; }
  /// The same for copies that share.
  const void* identity() const { return files_.get(); }
  void push_back(chart_file f) {
    if (!files_)
      files_ = std::make_shared<std::vector<chart_file>>();
    else if (files_.use_count() > 1)
      files_ = std::make_shared<std::vector<chart_file>>(*files_);
    files_->push_back(std::move(f));
  }

private:
  const std::vector<chart_file>& all() const {
    static const std::vector<chart_file> none;
    return files_ ? *files_ : none;
  }
  std::shared_ptr<std::vector<chart_file>> files_;
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
  /// `dependencies` is a list, which may be empty. Helm works on an empty one: conditions of charts
  /// below charts that are not declared count then.
  bool has_dependencies = false;
};

struct locked_dependency {
  std::string name, repository, version;
};
struct schema_memo;
struct chart_lock {
  std::string digest, generated;
  std::vector<locked_dependency> dependencies;
};

/// A chart's name and the chart above it, which its path is made of. Helm keeps one pointer to the
/// parent in each chart: where copies under several aliases share a subchart, the copy that was
/// processed last is its parent, and a copy that declares nothing leaves its subcharts to the chart
/// that was loaded.
struct chart_place {
  std::string name;
  std::shared_ptr<const chart_place> parent;
};

/// A chart as loaded. Copies share the files, not the metadata, so that one chart can appear under
/// several aliases.
struct chart {
  metadata meta;
  std::optional<chart_lock> lock;
  value values;  // a map, or nil when there is no values.yaml
  std::optional<std::string> schema;
  /// The schema once it is compiled; copies of a chart have it in common. Set by the code that
  /// loads the chart.
  std::shared_ptr<schema_memo> compiled;
  file_list values_files;  // values.yaml as written; an archive may hold several
  file_list templates;
  file_list files;
  std::vector<std::shared_ptr<chart>> dependencies;
  /// Null until process_dependencies: then the chart stands where the tree has it.
  std::shared_ptr<chart_place> place;
  /// As a release's record holds it, where another process has it and here are only its name and
  /// versions; empty: it was left out, and the record cannot be written again.
  std::shared_ptr<const std::string> recorded;

  const std::string& name() const { return meta.name; }
};
using chart_ptr = std::shared_ptr<chart>;

/// Helm's ChartFullPath: "root/charts/child". `above` is the path of the chart that has this one
/// among its dependencies; empty for the root.
std::string chart_path(const chart& c, const std::string& above);

inline constexpr std::uint64_t chart_bytes_limit = 100u << 20;
inline constexpr std::uint64_t chart_file_bytes_limit = 5u << 20;

/// What one chart may be, with every archive that lies in it and in those.
/// Units    unpacked_bytes: of all files of all archives together. nesting: archives inside one
///          another. memory_bytes: all that is made of them, files and values, at a time. steps:
///          those of work_limit.
struct chart_limits {
  std::uint64_t unpacked_bytes = chart_bytes_limit;
  std::uint64_t file_bytes = chart_file_bytes_limit;
  std::size_t files = 50'000;  // an umbrella of 480 charts has 10,000 and more
  int nesting = 8;
  std::uint64_t memory_bytes = 1u << 30;
  std::uint64_t steps = 200'000'000;
};
/// Of the service, in the memory that deploy/chart gives it: its own third, a chart that is loaded,
/// and one render.
inline constexpr chart_limits service_chart_limits{
    .unpacked_bytes = 12u << 20, .files = 4'000, .memory_bytes = 32u << 20, .steps = 64'000'000};

/// What is left of the limits while a chart is read; one for all that unpacks and parses.
struct chart_budget {
  chart_limits all;
  std::uint64_t bytes = all.unpacked_bytes;
  std::size_t files = all.files;
  int nesting = all.nesting;
  chart_budget() = default;
  explicit chart_budget(const chart_limits& l) : all(l) {}
};

/// Sorts files into a chart and loads what lies in charts/.
/// Errors   Helm's: "Chart.yaml file is missing", "cannot load values.yaml: …", "validation: …";
///          ours, for what goes over the limits.
outcome<chart_ptr> load_files(std::vector<chart_file> files, std::vector<std::string>& warnings,
                              chart_budget& left);
outcome<chart_ptr> load_files(std::vector<chart_file> files, std::vector<std::string>& warnings);
/// The chart in an archive (.tgz), within limits of memory and steps, too.
/// Errors   also "the chart cannot be loaded: it takes more memory than it may".
outcome<chart_ptr> load_archive(std::string_view bytes, std::vector<std::string>& warnings,
                                const chart_limits& limits = {});
/// A directory, honouring .helmignore, or a .tgz file.
outcome<chart_ptr> load_chart(const std::string& path, std::vector<std::string>& warnings);

/// Reads Chart.yaml into `out`, on top of what is there.
outcome<bool> read_metadata(std::string_view yaml, metadata& out);
/// The same from a value that was read already.
outcome<bool> metadata_from(const value& v, metadata& out);
/// Chart.yaml's own rules; also cleans its texts.
outcome<bool> validate_metadata(metadata& m);

}  // namespace helm
