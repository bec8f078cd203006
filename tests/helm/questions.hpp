#pragma once

#include "helm/go.hpp"
#include "helm/template/executor.hpp"

#include <map>
#include <string>
#include <string_view>

namespace helm::tests {

/// What a question of the comparison gives: the text, or the error.
struct answer {
  std::string out;
  std::string err;
  friend bool operator==(const answer&, const answer&) = default;
};

/// The time at which the rows in data/ were recorded: a few of them print parts of it.
render_runtime recorded_day();

/// `question` as generate.py writes it: kind, and files, values, lines, constraint, version as that
/// kind needs.
answer ask(const value& question, const render_runtime& runtime = recorded_day());
/// One JSON line in, one out.
std::string answer_line(const std::string& line, const render_runtime& runtime = recorded_day());

/// Counts the identifiers of a template text.
void count_words(std::string_view text, std::map<std::string, int>& count);

}  // namespace helm::tests
