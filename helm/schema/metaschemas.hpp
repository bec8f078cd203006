#pragma once

#include "helm/go.hpp"

#include <optional>
#include <string>

namespace helm::schemas {

/// The document at an address of json-schema.org that describes schemas, or a part of them; nothing
/// for other addresses.
/// Source: the keywords and their types as the drafts 4, 6, 7, 2019-09 and 2020-12 define them.
std::optional<value> metaschema_document(const std::string& url);

}  // namespace helm::schemas
