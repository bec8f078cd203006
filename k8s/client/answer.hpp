#pragma once

#include "k8s/client/fault.hpp"
#include "reactor/http/message.hpp"

#include <boost/json/fwd.hpp>
#include <boost/json/storage_ptr.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace k8s {

/// An answer's body as JSON, or the fault it stands for. `doing` names the request.
/// Errors  what the status says (see errc), with the Status object's reason, message, causes and
/// retry-after;
///         errc::malformed for a page, a redirect or anything else that no Kubernetes API server
///         sends.
/// Its memory comes from `storage`.
result<boost::json::value> read_answer(int status, const reactor::http::headers& fields,
                                       std::string_view body, std::string doing,
                                       boost::json::storage_ptr storage = {});

/// Why a good answer is not an object's JSON by the look of it, as read_answer says; none for one
/// that may be. For who reads it later, and less of it.
std::optional<fault> no_object_in(int status, const reactor::http::headers& fields,
                                  std::string_view body, std::string doing);

/// The fault of a metav1.Status object, as it also comes inside a watch's ERROR event. `status` is
/// used where the object names no code.
fault fault_from_status(const boost::json::object& status_object, int status, std::string doing);

/// True for 429 that a disruption budget answered, which says nothing about the server's load.
bool is_budget_refusal(const fault& f);

}  // namespace k8s
