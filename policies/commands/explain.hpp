#pragma once

#include "policies/commands/policy_arguments.hpp"
#include "policies/host/record/record.hpp"
#include "app/api/api.hpp"

#include <boost/json/fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace cli {

/// One question to policies as far as it was about one unit.
struct explained_question {
  std::string cluster, hook, pack, version, digest, fault;
  policies::value unit, fleet;       // what it was given, without what is long
  policies::value answer;            // null with a fault
  std::vector<std::string> clamped;  // what the core did not take of it
  friend bool operator==(const explained_question& a, const explained_question& b) {
    return a.cluster == b.cluster && a.hook == b.hook && a.pack == b.pack && a.digest == b.digest &&
           a.fault == b.fault && policies::to_text(a.answer) == policies::to_text(b.answer) &&
           policies::to_text(a.unit) == policies::to_text(b.unit) && a.clamped == b.clamped;
  }
};

/// Nothing when it was about others.
std::optional<explained_question> question_about(const policies::question_note& n,
                                                 const std::string& unit);

boost::json::object explained_document(const std::string& unit,
                                       const std::vector<explained_question>& all);
page explained_text(const std::vector<explained_question>& all);

/// `windlass policy explain [CLUSTER/]UNIT`
int explain_policy(const policy_arguments& a, const invocation& i);

}  // namespace cli
