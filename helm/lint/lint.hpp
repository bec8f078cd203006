#pragma once

#include "helm/go.hpp"
#include "helm/lint/lint_options.hpp"
#include "helm/template/executor.hpp"

#include <string>
#include <vector>

namespace helm {

enum class severity : unsigned char { unknown, info, warning, error };

struct lint_message {
  severity level;
  std::string path;
  std::string text;
};

struct lint_result {
  std::vector<lint_message> messages;
  std::string failure;  // why the chart could not be looked at
};

/// Looks for what Helm's linter looks for: Chart.yaml, values and schema, templates, dependencies.
/// runtime.log is told what Helm logs meanwhile.
lint_result lint_chart(const std::string& folder, const value& values, const lint_options& o,
                       const render_runtime& runtime);
/// An archive's chart as files, for the rules that look at files: its folder below `into`.
/// Errors   as Helm words them.
outcome<std::string> unpack_for_lint(const std::string& archive, const std::string& into);
/// What --with-subcharts looks at besides the chart at `path`: every folder with a Chart.yaml and
/// every archive in its charts/, however deep, by name.
std::vector<std::string> charts_within(const std::string& path);
/// "[WARNING] templates/x.yaml: …"
std::string message_text(const lint_message& m);

}  // namespace helm
