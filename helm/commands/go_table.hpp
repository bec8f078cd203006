#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace helm {

/// Columns as Helm prints them: cells padded to the widest of their column, tabs between, long ones
/// cut with dots.
class go_table {
public:
  /// `most` is the widest a column may get; 0 = as wide as it needs.
  explicit go_table(std::size_t most = 0) : most_(most) {}
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// Lines joined by newlines, none at the end.
  std::string text() const;

private:
  std::size_t most_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace helm
