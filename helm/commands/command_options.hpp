#pragma once

#include "helm/commands/flags/chart_flags.hpp"
#include "helm/commands/flags/cluster_flags.hpp"
#include "helm/commands/post_renderer.hpp"
#include "helm/go.hpp"
#include "helm/lint/lint_options.hpp"
#include "helm/values/value_options.hpp"

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace helm {

/// -f and the flags of --set's family, for every command that takes values. Keeps a reference to
/// `into`.
void add_value_flags(command_flags& f, value_options& into);

/// --post-renderer and --post-renderer-args. Keeps a reference to `into`; `of` tells where programs
/// are looked for.
void add_post_renderer_flags(command_flags& f, post_renderer& into, const variables& of);

struct template_options {
  std::string release_name;  // empty: "release-name"
  std::string chart;
  chart_flags origin;
  std::string name_space = "default";
  cluster_flags cluster;
  bool asks_cluster = false;  // for `lookup`
  value_options values;
  std::string kube_version;
  std::vector<std::string> api_versions;
  post_renderer after;
  std::vector<std::string> show_only;
  std::string output_dir;
  std::string name_template;
  bool generate_name = false;
  bool use_release_name = false;
  bool include_crds = false;
  bool skip_tests = false;
  bool no_hooks = false;
  bool is_upgrade = false;
  bool skip_schema_validation = false;
  bool sub_notes = false;
  bool debug = false;
};

enum class show_part : unsigned char { all, chart, values, readme, crds };
struct show_options {
  show_part part = show_part::all;
  std::string chart;
  std::string json_path;  // of `show values`: what of them is shown; empty: the files
  chart_flags origin;
};

/// Reads the arguments after `helm template`, `helm show` and `helm lint`.
/// Errors   an unknown flag as Helm words it; a flag Helm has and we do not, which says so.
outcome<template_options> parse_template_arguments(std::span<const std::string> arguments,
                                                   const variables& of = {});
outcome<show_options> parse_show_arguments(std::span<const std::string> arguments);
struct lint_line {
  lint_options lint;
  cluster_flags cluster;
};
outcome<lint_line> parse_lint_arguments(std::span<const std::string> arguments,
                                        const variables& of = {});

}  // namespace helm
