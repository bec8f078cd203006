#pragma once

#include "reactor/awaitable.hpp"
#include "registry/manifest.hpp"

#include <boost/json/value.hpp>

#include <cstddef>
#include <string>

namespace reactor {
class loop;
}

namespace registry {

using reactor::awaitable;

/// Reads JSON that a registry sent: a list of tags.
/// Shape    a long text is read on a worker, so that the loop goes on meanwhile.
/// Bounds   most_values: a value may take fifty times the bytes that it has in the text.
/// Errors   what is wrong with the text; "it has more than N values".
awaitable<outcome<boost::json::value>> read_bounded(reactor::loop& l, std::string text,
                                                    std::size_t most_values);

/// A manifest and the digest of its text.
struct digested_manifest {
  std::string text, digest;
  outcome<oci_manifest> content;
};
/// read_manifest() and the digest, of a long text on a worker.
awaitable<digested_manifest> read_digested(reactor::loop& l, std::string text,
                                           std::string content_type);

/// A text and its digest, of a long one made on a worker.
struct digested_text {
  std::string text, digest;
};
awaitable<digested_text> digested(reactor::loop& l, std::string text);

}  // namespace registry
