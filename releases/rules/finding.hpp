#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace policies::releases {

/// What was found while reading, before a policy says how much it matters.
struct problem {
  std::string id;       // stable: "release.schema"
  std::string subject;  // "component/etcd", "app/cilium", "release/aws-34.5.0"
  std::string from,
      to;           // what was there and what it became or should be, where that says something
  std::string why;  // a sentence
  std::string evidence;  // document and field: "capa/v34.5.0.yaml: spec.components[etcd].version"
  friend bool operator==(const problem&, const problem&) = default;
};

/// "expected a, b or c, got 'd'": how every refusal of a word says which words there are. Empty
/// ones are not named.
std::string expected_one_of(std::initializer_list<std::string_view> known, std::string_view got);

enum class severity { info, warn, error };
std::string_view to_string(severity s);

/// What a policy found. `blocking` is "approval" on a warning that waits for consent,
/// else empty; an error blocks as it is.
struct finding {
  std::string id;
  severity how = severity::info;
  std::string blocking, subject, from, to;
  std::string rule;  // the row of the tables that says so
  std::string why, evidence;
  std::string clears;  // the smallest change that clears it, where the tables know one
  friend bool operator==(const finding&, const finding&) = default;
};

enum class decision { allow, needs_approval, deny };
std::string_view to_string(decision d);

/// deny: there is an error; needs_approval: a warning blocks; else allow.
decision decide(const std::vector<finding>& findings);

/// The worst first, then by id and subject, bytewise; equal ones once.
void put_in_order(std::vector<finding>& findings);

}  // namespace policies::releases
