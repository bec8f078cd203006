#pragma once

#include "helm/schema/node.hpp"

#include <string>

namespace helm::schemas {

/// What one check may do before it is given up: schemas that refer to one another twice stand for
/// more work than any machine can do.
inline constexpr std::uint64_t check_steps_limit = 5'000'000;

/// The reasons why `v` is not what `root` asks for, one a line, each indented below what it is a
/// reason for; empty when it is. `resources`, where `v` is itself a schema, are its parts that
/// follow a draft of their own.
/// Errors   std::length_error over the limit.
std::string reasons_against(const node& root, const value& v,
                            const std::map<std::string, resource>* resources = nullptr);

}  // namespace helm::schemas
