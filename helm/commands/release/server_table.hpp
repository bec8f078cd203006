#pragma once

#include "helm/objects/shown_objects.hpp"

#include <string>

namespace helm::release {

/// RESOURCES: of `status --show-resources`: the tables of a server as kubectl prints them, by kind.
/// Shape    headings are printed where they differ from those before; columns of a priority are
///          left out; each table is padded by itself. An object that is no table is a line with its
///          name.
std::string tables_text(const objects::shown_objects& tables);

/// The same objects as Helm's JSON has them below info.resources.
std::string objects_json(const objects::shown_objects& all);

}  // namespace helm::release
