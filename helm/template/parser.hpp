#pragma once

#include "helm/template/node.hpp"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace helm {

/// What ends a parse or a render: the complete text as Helm words it. The engine unwinds by
/// exception because every level of a template would otherwise test for a failure that ends the
/// whole render; it is caught where the engine is entered.
struct template_error : std::runtime_error {
  explicit template_error(const std::string& text, bool from_execution = false)
      : std::runtime_error(text), execution(from_execution) {}
  bool execution;
};

/// Looks a function up by name; templates that name an unknown one do not parse.
using function_finder = std::function<const function*(std::string_view)>;

/// Parses one text: the template `name` and everything it defines, definitions first.
/// Errors   template_error with "template: <name>:<line>: <problem>".
/// Shape    the templates share `text` and hold no copy of it.
std::vector<template_ptr> parse_template(std::string name, std::shared_ptr<const std::string> text,
                                         const function_finder& functions);
std::vector<template_ptr> parse_template(std::string name, std::string text,
                                         const function_finder& functions);

}  // namespace helm
