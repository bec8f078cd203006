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
lint_result lint_chart(const std::string& path, const value& values, const lint_options& o,
                       const render_runtime& runtime);
/// "[WARNING] templates/x.yaml: …"
std::string message_text(const lint_message& m);

}  // namespace helm
