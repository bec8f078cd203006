#include "bootc/pool/slot_capacity.hpp"

#include <charconv>

namespace bootc {
namespace {

reactor::fault invalid(const std::string& value, std::string_view detail) {
  return reactor::make_fault(reactor::errc::malformed, "",
                             "invalid maxUnavailable \"" + value + "\": " + std::string(detail));
}

}  // namespace

reactor::result<std::size_t> slot_capacity(const node_pool_spec& spec, std::size_t node_count) {
  std::int64_t wanted = 1;
  if (spec.max_unavailable) {
    if (const auto* number = std::get_if<std::int64_t>(&*spec.max_unavailable)) {
      wanted = *number;
    } else {
      const auto& value = std::get<std::string>(*spec.max_unavailable);
      if (!value.ends_with('%'))
        return invalid(value, "a string must be a whole percentage such as \"25%\"");
      std::int32_t percent = 0;
      const char* const end = value.data() + value.size() - 1;
      const auto [stopped, failure] = std::from_chars(value.data(), end, percent);
      if (failure != std::errc{} || stopped != end)
        return invalid(value, "the percentage must be a whole number");
      if (percent > 100) return invalid(value, "the percentage must not be above 100%");
      const auto product =
          static_cast<std::int64_t>(percent) * static_cast<std::int64_t>(node_count);
      wanted = product <= 0 ? 0 : (product + 99) / 100;
    }
  }
  if (spec.paused || wanted <= 0) return std::size_t{0};
  return static_cast<std::size_t>(wanted);
}

}  // namespace bootc
