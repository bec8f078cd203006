#pragma once

#include "reactor/plain/time.hpp"

#include <string>
#include <vector>

namespace bench::hostile {

/// What every credential in these tables contains; wherever it is seen in an output, something
/// leaked.
inline constexpr const char* canary = "c4n4ry";

/// A kubeconfig by somebody who means harm, or who has put things in the wrong places.
struct kubeconfig {
  std::string name;  // "a tag in front of the password"
  std::string text;
  std::string says;    // part of the error; empty: it is usable
  bool local = false;  // a person's own file, which may name others; else the bytes of a Secret
};
const std::vector<kubeconfig>& kubeconfigs();

struct kubeconfig_outcome {
  std::string error;  // empty: it was taken, and a client was made of it
  bool leaked = false;
  reactor::nanoseconds took{0};  // the longest turn of the loop, in processor time
};
kubeconfig_outcome try_kubeconfig(const kubeconfig& k);

}  // namespace bench::hostile
