#pragma once

#include <span>
#include <string_view>

namespace cli {

/// A file of deploy/chart, put into the program at build time by embed_chart.cmake.
struct chart_file {
  std::string_view path;  // "templates/daemon.yaml"
  std::string_view content;
};

std::span<const chart_file> embedded_chart();

}  // namespace cli
