// 20,000 pairs of a range and a version, always the same, with what we say of each:
// "range\tversion\tholds".
#include "formats/version_range.hpp"

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

namespace {

std::mt19937_64 engine(20261122);

std::size_t below(std::size_t n) {
  return static_cast<std::size_t>(engine() % n);
}

template <std::size_t N>
const char* one_of(const char* const (&choices)[N]) {
  return choices[below(N)];
}

std::string number() {
  return std::to_string(below(4));
}

std::string version(std::size_t prereleases_in_a_hundred) {
  std::string text = number() + "." + number() + "." + number();
  if (below(100) < prereleases_in_a_hundred)
    text += std::string("-") + one_of({"rc.1", "rc.2", "rc.10", "gs9", "gs10", "2", "alpha", "0"});
  return text;
}

std::string operand() {
  const std::string v = below(10) == 0 ? "v" : "";
  switch (below(12)) {
    case 0: return v + number() + "." + one_of({"x", "X", "*"});
    case 1: return v + number() + "." + number() + "." + one_of({"x", "X", "*"});
    default: return v + version(15);
  }
}

std::string range() {
  std::string text;
  const std::size_t count = 1 + below(3);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += one_of({" ", ", ", " || ", ","});
    text += one_of({"", "=", "==", "!=", ">", ">=", "<", "<=", ">= ", "< "});
    text += operand();
  }
  return text;
}

}  // namespace

int main() {
  for (int i = 0; i < 20'000; ++i) {
    const std::string r = range(), v = version(25);
    const auto answer = formats::range_holds(r, *formats::view_strict_version(v));
    std::printf("%s\t%s\t%s\n", r.c_str(), v.c_str(),
                answer.wrong != nullptr ? "wrong"
                : answer.holds          ? "holds"
                                        : "fails");
  }
}
