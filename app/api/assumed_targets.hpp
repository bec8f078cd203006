#pragma once

#include "app/api/registry_lookup.hpp"

#include <map>
#include <string>

namespace units {

/// What `plan --image` asks: each API plans its rows as if they asked for these targets. One object
/// for a command (flags::shared); empty: rows are planned as they are.
struct assumed_targets {
  std::map<std::string, std::string> by_row;  // "" = every row
  registry_lookup registries = {};            // how it is looked up what they name
  const std::string* of(const std::string& row) const {
    auto found = by_row.find(row);
    if (found == by_row.end()) found = by_row.find("");
    return found == by_row.end() ? nullptr : &found->second;
  }
};

}  // namespace units
