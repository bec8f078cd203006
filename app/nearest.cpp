#include "app/nearest.hpp"

#include "formats/plain/nearest.hpp"

namespace app {

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& candidates) {
  const std::string meant(formats::nearest(candidates, typed));
  return meant.empty() ? std::string() : "; did you mean \"" + meant + "\"?";
}

}  // namespace app
