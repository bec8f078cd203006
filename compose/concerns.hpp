#pragma once

#include "compose/rules/answer.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace compose {

/// Which parents a change of an object concerns: those that name it, and those that ask for its
/// labels.
class concerns {
public:
  using object_name = policies::compose::object_name;
  using query = policies::compose::related_query;

  /// In place of what the parent had before.
  void put(const object_name& parent, std::set<object_name> named, const std::vector<query>& asked);
  void forget(const object_name& parent) { put(parent, {}, {}); }

  /// Parents that name the object.
  const std::set<object_name>& naming(const object_name& one) const;
  /// Whether some parent asks for labels of that kind.
  bool asks(const policies::compose::kind_name& kind) const { return by_labels_.contains(kind); }
  /// Parents that ask for an object of that kind with such labels.
  std::vector<object_name> asking(const object_name& one,
                                  const std::map<std::string, std::string>& labels) const;
  /// What the parent names.
  const std::set<object_name>& named_by(const object_name& parent) const;

private:
  std::map<object_name, std::set<object_name>> named_;    // parent → objects
  std::map<object_name, std::set<object_name>> parents_;  // object → parents
  std::map<policies::compose::kind_name, std::map<object_name, std::vector<query>>> by_labels_;
};

}  // namespace compose
