#pragma once

#include "reactor/http/client.hpp"
#include "reactor/http/message.hpp"
#include "reactor/plain/result.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace reactor::http {

/// What a request says that is answered by one of these.
inline constexpr const char* accepted_encoding = "gzip";

/// The same answer with its body's Content-Encoding undone piece by piece, through memory that all
/// of them share; `from` itself when there is nothing to undo. The head stays as it was sent.
/// Errors: errc::malformed for another coding. read() also fails with errc::malformed for bytes
///         that are not gzip or that end too soon, errc::limit past `limit_bytes` of plain text, or
///         where 32 KiB more than twice the text went into it.
result<std::unique_ptr<exchange>> decoded(std::unique_ptr<exchange> from, std::size_t limit_bytes);

/// A whole body with its Content-Encoding undone, in one go: for the worker where it may be large.
/// Errors: as above.
result<std::string> decoded(const headers& fields, std::string body, std::size_t limit_bytes);

}  // namespace reactor::http
