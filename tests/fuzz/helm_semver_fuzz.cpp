#include "formats/semver.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

/// "CONSTRAINT\nVERSION\nVERSION": versions print as themselves and have one order; constraints
/// answer for each.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto line = [&rest] {
    const auto end = rest.find('\n');
    const auto out = rest.substr(0, end);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    return out;
  };
  const auto constraint = formats::version_constraint::parse(line());
  const auto a = formats::parse_lenient_version(line());
  const auto b = formats::parse_lenient_version(line());
  for (const auto* v : {&a, &b}) {
    if (!*v || (*v)->text().size() > 256) continue;  // more is no strict version
    const auto printed = formats::parse_strict_version((*v)->text());
    must(printed.has_value() && printed->text() == (*v)->text() && printed->compare(**v) == 0);
    if (constraint) must(constraint->check(**v) == constraint->check(*printed));
  }
  if (a && b) must(a->compare(*b) == -b->compare(*a));
  return 0;
}
