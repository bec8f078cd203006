#pragma once

#include "bench/watched/messages.hpp"

#include <boost/json/fwd.hpp>

#include <cstddef>
#include <string>

namespace bench {

/// What a server process serves, below each first part of a path ("/c12") the same.
struct served_corpus {
  std::string collection = "pods";
  std::size_t objects = 0;  // in each list
  message_form form;
  std::string encoded;  // path of the objects as protobuf; none for JSON
  /// Events of all streams together, about at most 500 objects each. They begin when so many
  /// streams are open; 0 = none ever.
  std::size_t events = 0, streams = 1;
  double per_second = 0;  // of all streams together; 0 = as fast as they are read

  std::string text() const;
  /// Errors  throws what Boost.JSON throws.
  static served_corpus of(const std::string& text);
};

/// Serves it over TLS until it is killed, on the last core; prints URL and CA file as run_sender()
/// does. Lists come in pages where they are asked for, and whole at resourceVersion=0, as
/// kube-apiserver's do. Beside them:
/// GET /state     {"open": watches, "requests": so far, "recovered_s": from the last cut until as
///                many watches were open as before, or null, "sender_us_per_event": or null,
///                "event_bytes"}
/// POST /cut      ends the connection of every watch
/// POST /expire   tells every watch that its version is too old, with newer ones in the next list
int run_corpus_server(const std::string& corpus);

}  // namespace bench
