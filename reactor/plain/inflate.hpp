#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace reactor {

/// Undoes gzip piece by piece, member after member. Its window is text that it has read, so its
/// memory is overwritten when it is given back. Limits are its callers'.
/// Errors   memory that is not there ends the process, or throws std::bad_alloc where it may be
///          refused.
class inflation {
public:
  inflation();
  ~inflation();
  inflation(const inflation&) = delete;
  inflation& operator=(const inflation&) = delete;

  enum class state : std::uint8_t {
    // more comes of further bytes or of more room; of neither, when nothing was read and written
    running,
    ended,    // a member is complete; a further call begins another
    damaged,  // no further call; why() says more
  };
  struct progress {
    std::size_t read = 0, written = 0;
    state now = state::running;
  };
  progress advance(std::string_view in, char* out, std::size_t room);

  /// What is wrong with the bytes, in zlib's words; "" where it has none.
  const char* why() const noexcept;

private:
  struct stream;
  std::unique_ptr<stream> z_;
};

}  // namespace reactor
