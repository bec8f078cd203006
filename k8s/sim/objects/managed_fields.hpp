#pragma once

#include "k8s/sim/objects/failure.hpp"
#include "k8s/sim/objects/json.hpp"
#include "k8s/sim/objects/kind.hpp"

#include <string>
#include <string_view>

namespace k8s::sim {

/// Who is writing, as managedFields records it.
struct field_writer {
  std::string manager, subresource, time;
};

/// Brings `after`'s managedFields up to date: what `who` changed between the two is theirs now.
/// `before` may be null.
void track_update(const kind_info& kind, const json::object* before, json::object& after,
                  const field_writer& who);

/// Server-side apply: `live` (null when the object does not exist) with `applied` merged in and the
/// fields removed that `who` applied before and does not any more. managedFields of the result are
/// up to date.
/// Errors: 409 with one cause per field that another manager owns with another value, unless
/// `force`.
outcome<json::object> apply_fields(const kind_info& kind, const json::object* live,
                                   const json::object& applied, const field_writer& who,
                                   bool force);

}  // namespace k8s::sim
