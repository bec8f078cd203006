#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace k8s::sim {

/// A regular expression as schemas use them (RE2 without captures), matched in time linear in the
/// text: patterns and texts both come from clients.
class pattern {
public:
  /// Null for what is not understood; `why` says what.
  static std::shared_ptr<const pattern> compile(std::string_view source,
                                                std::string* why = nullptr);
  /// True when the pattern is found anywhere in `text`.
  bool found_in(std::string_view text) const;
  const std::string& source() const noexcept { return source_; }

private:
  friend class pattern_compiler;
  struct range {
    std::uint32_t low, high;
  };
  struct state {
    enum class op : std::uint8_t { set, split, begin, end, word_edge, no_word_edge, accept };
    op what = op::accept;
    bool negated = false;
    std::vector<range> ranges;
    std::int32_t next = -1, other = -1;
  };
  std::string source_;
  std::vector<state> states_;
  std::int32_t start_ = 0;
};

}  // namespace k8s::sim
