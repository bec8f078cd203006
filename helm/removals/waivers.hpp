#pragma once

#include "formats/plain/problem.hpp"
#include "helm/removals/findings.hpp"
#include "reactor/plain/time.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace helm::removals {

/// Findings that are known and accepted for a time.
struct waiver {
  std::string cluster = "*";  // a glob
  std::string object;         // "[NAMESPACE/]KIND/NAME", globs
  std::string api;            // "policy/v1beta1", a glob
  std::string reason;
  std::string until;  // "2027-01-31", its last day
  bool covers(const finding& f) const;
};

/// A YAML text {waivers: [{object, api, reason, until, cluster}]}; `cluster` may be left out.
/// Errors   a sentence that names source, entry (from 1) and field.
formats::outcome<std::vector<waiver>> read_waivers(std::string_view text,
                                                   const std::string& source);

/// Marks what is waived; a waiver whose last day is over is told of beside what it was for, which
/// counts. Returns a sentence for each waiver that covers nothing.
std::vector<std::string> waive(std::vector<finding>& rows, const std::vector<waiver>& all,
                               reactor::wall_time now);

}  // namespace helm::removals
