#pragma once

#include "reactor/plain/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace policies::releases {

/// One object of a chart as it was rendered.
struct rendered_object {
  std::string kind, name;
  std::string digest;  // SHA-256 of all that it says beside its metadata
};

/// What a chart rendered, in its order: whether machines are replaced by another version of a chart
/// is told by their templates alone.
struct rendered_chart {
  std::string file;
  std::vector<rendered_object> objects;
};

/// Reads what `helm template` printed; labels and annotations do not count, since they name the
/// chart's own version.
/// Limits   8 MiB, 200,000 values, 5,000 objects.
/// Errors   errc::malformed, errc::limit; `doing` names `file`.
reactor::result<rendered_chart> read_rendered(std::string_view text, std::string file);

}  // namespace policies::releases
