#include "formats/version_range.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

/// "RANGE\nRANGE\nVERSION\nVERSION": versions have one order; what is in two ranges says that they
/// overlap; more alternatives take nothing away, and more comparators add nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto line = [&rest] {
    const auto end = rest.find('\n');
    const auto out = rest.substr(0, end);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    return out;
  };
  const std::string_view first = line(), second = line();
  const auto a = formats::view_strict_version(line()), b = formats::view_strict_version(line());
  const auto f = formats::read_range(first), s = formats::read_range(second);
  must(f.position <= 512 && s.position <= 512);
  if (a && b) must(formats::compare_versions(*a, *b) == -formats::compare_versions(*b, *a));
  if (f.wrong != nullptr || s.wrong != nullptr || !a) return 0;
  const bool in_first = formats::range_holds(first, *a).holds;
  const bool in_second = formats::range_holds(second, *a).holds;
  if (in_first && in_second) must(formats::ranges_overlap(first, second));
  must(formats::ranges_overlap(first, second) == formats::ranges_overlap(second, first));
  const std::string either = std::string(first) + "||" + std::string(second);
  const auto both = formats::range_holds(either, *a);
  if (both.wrong == nullptr) must(both.holds == (in_first || in_second));
  return 0;
}
