#pragma once

#include "bench/watched/corpus.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// How a client wants objects to be written.
struct message_form {
  bool protobuf = false, metadata_only = false;
  bool without_managers = false;  // JSON without metadata.managedFields
};

/// The objects of a collection as a server writes them in one form: lists, events of a watch,
/// bookmarks and the answer that a version is too old. Versions are written in place, so that a
/// server has nothing to serialise.
class messages {
public:
  /// Shape   encoded: for protobuf each object's message behind its length of four bytes, as
  ///         `watch_go encode` writes them; JSON needs none.
  /// Errors  throws std::runtime_error where that is not so.
  messages(const collection& of, std::size_t objects, message_form form, std::string_view encoded);

  std::size_t count() const { return objects_.size(); }
  /// Of an event, on the average.
  std::size_t event_bytes() const;

  /// Objects [from, to) at `version`; `more`: the token of the next page, or empty.
  std::string list(std::size_t from, std::size_t to, std::uint64_t version, std::string_view more);
  /// MODIFIED of one object. Its tier has another last letter where `round` is odd.
  void append_event(std::string& text, std::size_t object, std::uint64_t version,
                    std::uint64_t round);
  std::string bookmark(std::uint64_t version) const;
  std::string expired() const;
  std::string content_type(bool watch) const;

private:
  struct place {
    std::size_t version = 0, tier = 0;
    std::string event;                // a whole event
    std::size_t begin = 0, size = 0;  // of the object as a list has it, in the event
  };
  place placed(std::string object) const;
  std::string enveloped(std::string_view message) const;
  std::string framed(std::string_view type, std::string_view object) const;

  message_form form_;
  std::string api_version_, kind_;
  std::vector<place> objects_;
};

}  // namespace bench
