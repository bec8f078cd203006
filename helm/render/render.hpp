#pragma once

#include "helm/charts/chart.hpp"
#include "helm/render/render_context.hpp"
#include "helm/template/executor.hpp"

#include <map>
#include <memory>
#include <string>

namespace helm {

/// How one render differs from another of the same chart.
struct render_options {
  missing_keys missing = missing_keys::zero;
  bool lint = false;
  render_limits limits;
  render_runtime runtime;
};

/// What rendering gave: text by template path ("mychart/templates/x.yaml"), in path order.
using rendered_files = std::map<std::string, std::string>;

/// A chart tree whose templates are parsed, ready to be rendered with different values.
/// Lifetime keeps the chart. Not for two threads at once.
class parsed_chart {
public:
  /// Errors   "parse error at (c/templates/x.yaml:3): function "nope" not defined"
  static outcome<parsed_chart> parse(chart_ptr c);

  /// What is kept of the texts that templates handed to `tpl`, in bytes of text.
  std::size_t text_bytes() const { return texts_->bytes(); }

  /// Renders every template. `values` is the coalesced map of the root chart; templates may change
  /// it.
  /// Errors   Helm's: "execution error at (…): message", "template: …"; or why the render was
  ///          stopped.
  outcome<rendered_files> render(value values, const release_options& release,
                                 const capabilities& caps, const render_options& options) const;
  /// The same with the metadata of `tree`, a chart of the same shape: the same charts under the
  /// same names.
  outcome<rendered_files> render(const chart& tree, value values, const release_options& release,
                                 const capabilities& caps, const render_options& options) const;

private:
  struct file {
    std::string name;
    std::string base_path;
    std::size_t scope;  // whose: an index into the charts, subcharts before what they belong to
    mutable std::size_t printed = 0;  // bytes, by the last render: the next one has room at once
  };
  parsed_chart() = default;
  chart_ptr chart_;
  std::unique_ptr<template_set> templates_;
  std::unique_ptr<parsed_texts> texts_;
  std::vector<file> files_;         // in the order in which they run
  std::vector<value> chart_files_;  // `.Files` by scope
};

}  // namespace helm
