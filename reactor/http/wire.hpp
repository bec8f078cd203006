#pragma once

// HTTP/1.1 between bytes and messages, shared by client and server. Decides, never waits.

#include "reactor/http/message.hpp"
#include "reactor/net/read_window.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/result.hpp"
#include "reactor/plain/secret.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace reactor::http {

/// The start line and header fields of either kind of message.
struct message_head {
  int version = 11;            // 10 or 11
  int status = 0;              // responses
  std::string method, target;  // requests
  headers fields;
};

/// Takes one message apart while its bytes arrive.
/// Limits: a head, and the fields behind a chunked body, have header_limit_bytes; what else chunks
///         consist of besides data has 16 bytes a chunk, twice the data and 16 KiB, as with Go.
/// Errors: errc::limit, errc::malformed with what is wrong, errc::closed for a message that was cut
///         short. No further call after one.
class wire_parser {
public:
  enum class kind { request, response };
  enum class body { expected, none };  // none: the answer to HEAD or CONNECT

  wire_parser(kind k, std::size_t header_limit_bytes, body b = body::expected);
  ~wire_parser();
  wire_parser(wire_parser&&) noexcept;
  wire_parser& operator=(wire_parser&&) noexcept;

  enum class event {
    need_more,  // nothing further in these bytes
    head,       // head() is complete
    piece,      // some of the body
    done,       // the message is complete; what follows belongs to the next one
  };
  struct step {
    event what;
    std::size_t consumed;    // bytes not to be presented again
    std::string_view piece;  // views the bytes
  };
  /// Looks at the unconsumed bytes; unless need_more, call again.
  result<step> advance(std::string_view bytes);
  /// The peer ended the stream behind what was presented. True when that completes the message,
  /// false when none had begun.
  result<bool> end_of_stream();

  message_head& head() noexcept;
  bool complete() const noexcept;
  /// Whether the connection can carry another message after this one.
  bool keep_alive() const;
  std::optional<std::uint64_t> content_length() const;
  bool chunked() const;

private:
  struct impl;
  template <bool is_request>
  struct typed;
  std::unique_ptr<impl> impl_;
};

/// True for a method or field name (RFC 9110, token).
bool is_token(std::string_view text) noexcept;
/// True for a field value or a target that cannot smuggle a line in.
bool is_single_line(std::string_view text) noexcept;

/// "GET /x HTTP/1.1" and what must accompany it.
/// Errors: errc::refused for text that would not stay on its line.
result<wiped_string> write_request_head(const request& r, std::string_view target,
                                        std::string_view host,
                                        std::string_view proxy_authorization);

enum class framing { length, chunked, until_close, none };
/// A response's head. `length_bytes` is for framing::length.
result<std::string> write_response_head(int status, const headers& fields, framing how,
                                        std::uint64_t length_bytes, bool keep_alive);
/// "2a\r\n", before a chunk of that size.
std::string chunk_header(std::size_t size_bytes);
std::string_view reason_phrase(int status) noexcept;

/// A byte stream and what was read of it but not consumed.
class wire {
public:
  explicit wire(std::unique_ptr<reactor::stream> s);

  reactor::stream& stream() noexcept { return *stream_; }
  read_window& window() noexcept { return window_; }
  /// Replaces the stream by one on top of it. Requires an empty window.
  std::unique_ptr<reactor::stream> take_stream() noexcept { return std::move(stream_); }

  /// Reads what is there into the window: nothing = would block, 0 = the peer ended the stream.
  /// Errors: errc::limit when unconsumed bytes fill the window.
  result<std::optional<std::size_t>> try_fill();
  /// Writes all, without suspending where the stream takes it at once.
  awaitable<result<void>> write(std::string bytes);
  /// The same; what it wrote is overwritten.
  awaitable<result<void>> write_secret(wiped_string bytes);

private:
  std::size_t try_write(std::string_view bytes);
  std::unique_ptr<reactor::stream> stream_;
  read_window window_;
};

/// So many interim answers (1xx) may precede one answer.
constexpr unsigned most_interim_answers = 32;

/// The largest header_limit_bytes that the window has room for.
constexpr std::size_t most_header_bytes = 96 * 1024;

}  // namespace reactor::http
