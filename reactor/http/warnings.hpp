#pragma once

#include "reactor/http/message.hpp"

#include <string>
#include <vector>

namespace reactor::http {

/// The texts of an answer's Warning fields, as API servers write them: code 299, an agent and a
/// quoted text, several in one field or in many. Other codes and broken fields are left out, and
/// so are control characters.
/// Source: RFC 7234, section 5.5; client-go's ParseWarningHeaders.
std::vector<std::string> warnings_in(const headers& fields);

}  // namespace reactor::http
