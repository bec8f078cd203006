#include "reactor/http/wire.hpp"

#include "reactor/loop_slice.hpp"
#include "reactor/per_thread.hpp"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>

#include <algorithm>
#include <charconv>

namespace reactor::http {
namespace {

namespace beast = boost::beast;
namespace bhttp = boost::beast::http;

/// The largest accepted head plus a full TLS record.
constexpr std::size_t window_bytes = most_header_bytes + 64 * 1024;
/// Enough for several records and most objects: one that is cut has its beginning copied, and what
/// was read is overwritten.
constexpr std::size_t fill_bytes = 64 * 1024;
/// As many as curl and Go accept in 64 KB in practice; each costs two strings.
constexpr std::size_t most_fields = 1000;

/// What may accompany the data of a chunked body (Go, net/http/internal, chunkedReader).
constexpr std::uint64_t overhead_of_a_chunk = 16, overhead_of_all_chunks = 16 * 1024;

/// "0\r\n\r\n": every chunked body has at least these ahead of it where a chunk's header begins.
constexpr std::size_t shortest_chunked_end = 5;

struct plaintext_buffer : shared_buffer {
  plaintext_buffer() : shared_buffer(window_bytes) {}
};
shared_buffer& plaintext() {
  return of_this_thread<plaintext_buffer>();
}

std::string_view view(beast::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

/// What does not depend on the kind of message.
struct wire_parser::impl {
  virtual ~impl() = default;
  virtual std::size_t put(std::string_view bytes, error_code& ec) = 0;
  virtual void put_eof(error_code& ec) = 0;
  virtual bool header_done() const = 0;
  virtual bool done() const = 0;
  virtual bool got_some() const = 0;
  virtual bool stays_open() const = 0;
  virtual bool is_chunked() const = 0;
  virtual std::optional<std::uint64_t> length() const = 0;

  message_head head;
  std::string_view piece;
  std::uint64_t chunk_left = 0;
  std::uint64_t overhead = 0;  // of chunks, beyond what is usual
  bool head_reported = false;
};

template <bool is_request>
struct wire_parser::typed final : wire_parser::impl, bhttp::basic_parser<is_request> {
  using base = bhttp::basic_parser<is_request>;

  typed(std::size_t header_limit_bytes, wire_parser::body b) : header_limit_(header_limit_bytes) {
    this->header_limit(static_cast<std::uint32_t>(header_limit_bytes));
    this->body_limit(boost::none);  // the reader counts
    if (b == wire_parser::body::none) this->skip(true);
  }

  std::size_t put(std::string_view bytes, error_code& ec) override {
    return base::put({bytes.data(), bytes.size()}, ec);
  }
  void put_eof(error_code& ec) override { base::put_eof(ec); }
  bool header_done() const override { return this->is_header_done(); }
  bool done() const override { return this->is_done(); }
  bool got_some() const override { return base::got_some(); }
  bool stays_open() const override { return this->base::keep_alive(); }
  bool is_chunked() const override { return this->base::chunked(); }
  std::optional<std::uint64_t> length() const override {
    const auto n = this->base::content_length();
    return n ? std::optional<std::uint64_t>(*n) : std::nullopt;
  }

  void on_request_impl(bhttp::verb, beast::string_view method, beast::string_view target,
                       int version, error_code&) override {
    head.method = view(method);
    head.target = view(target);
    head.version = version;
    header_bytes_ = method.size() + target.size() + 12;
  }
  void on_response_impl(int status, beast::string_view reason, int version, error_code&) override {
    head.status = status;
    head.version = version;
    header_bytes_ = reason.size() + 15;
  }
  void on_field_impl(bhttp::field known, beast::string_view name, beast::string_view value,
                     error_code& ec) override {
    // Beast limits what is in one buffer only, so that a head that comes in pieces has no end.
    header_bytes_ += name.size() + value.size() + 4;
    if (header_bytes_ > header_limit_ || ++fields_ > most_fields) {
      ec = bhttp::error::header_limit;
      return;
    }
    // A coding that we do not undo would leave the end of the message to interpretation.
    if (known == bhttp::field::transfer_encoding &&
        (!same_name(view(value), "chunked") || head.version < 11)) {
      ec = bhttp::error::bad_transfer_encoding;
      return;
    }
    if (in_trailer_) return;  // not used here
    head.fields.add(std::string(view(name)), std::string(view(value)));
  }
  void on_header_impl(error_code&) override {
    in_trailer_ = true;
    header_bytes_ = 0;
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(beast::string_view body, error_code&) override {
    piece = view(body);
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t size, beast::string_view, error_code&) override {
    chunk_left = size;
    const std::uint64_t data = std::min(size, overhead);
    overhead -= std::min(overhead, overhead_of_a_chunk + 2 * data);
  }
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view body, error_code&) override {
    piece = view(body);
    chunk_left -= body.size();
    return body.size();
  }
  void on_finish_impl(error_code&) override {}

  std::size_t header_limit_;
  std::size_t header_bytes_ = 0;
  std::size_t fields_ = 0;
  bool in_trailer_ = false;
};

namespace {

fault parse_fault(const error_code& ec) {
  if (ec == bhttp::error::header_limit || ec == bhttp::error::buffer_overflow)
    return make_fault(errc::limit, {}, "the message's header is too large");
  if (ec == bhttp::error::partial_message || ec == bhttp::error::end_of_stream)
    return make_fault(errc::closed, {}, "the message was cut short");
  return make_fault(errc::malformed, {}, "not valid HTTP/1.1: " + ec.message());
}

}  // namespace

wire_parser::wire_parser(kind k, std::size_t header_limit_bytes, body b) {
  const std::size_t limit = std::min(header_limit_bytes, most_header_bytes);
  if (k == kind::request) {
    impl_ = std::make_unique<typed<true>>(limit, b);
  } else {
    impl_ = std::make_unique<typed<false>>(limit, b);
  }
}
wire_parser::~wire_parser() = default;
wire_parser::wire_parser(wire_parser&&) noexcept = default;
wire_parser& wire_parser::operator=(wire_parser&&) noexcept = default;

result<wire_parser::step> wire_parser::advance(std::string_view bytes) {
  std::size_t consumed = 0;
  impl& p = *impl_;
  for (;;) {
    if (p.header_done() && !std::exchange(p.head_reported, true))
      return step{event::head, consumed, {}};
    if (p.done()) return step{event::done, consumed, {}};
    if (consumed == bytes.size()) return step{event::need_more, consumed, {}};
    // Beast asserts that much where it looks for the last chunk's end again.
    const bool between_chunks = p.header_done() && p.chunk_left == 0 && p.is_chunked();
    if (between_chunks && bytes.size() - consumed < shortest_chunked_end)
      return step{event::need_more, consumed, {}};
    p.piece = {};
    error_code ec;
    const bool in_body = p.header_done();
    const std::size_t taken = p.put(bytes.substr(consumed), ec);
    consumed += taken;
    if (in_body && p.is_chunked()) {
      p.overhead += taken - p.piece.size();
      if (p.overhead > overhead_of_all_chunks)
        return make_fault(errc::limit, {}, "the message's chunks have too little data in them");
    }
    if (ec == bhttp::error::need_more) return step{event::need_more, consumed, {}};
    if (ec) return parse_fault(ec);
    if (!p.piece.empty()) return step{event::piece, consumed, p.piece};
  }
}

result<bool> wire_parser::end_of_stream() {
  if (impl_->done()) return true;
  if (!impl_->got_some()) return false;
  error_code ec;
  impl_->put_eof(ec);
  if (ec) return parse_fault(ec);
  return true;
}

message_head& wire_parser::head() noexcept {
  return impl_->head;
}
bool wire_parser::complete() const noexcept {
  return impl_->done();
}
bool wire_parser::keep_alive() const {
  return impl_->stays_open();
}
std::optional<std::uint64_t> wire_parser::content_length() const {
  return impl_->length();
}
bool wire_parser::chunked() const {
  return impl_->is_chunked();
}

bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool is_single_line(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f;
  });
}

namespace {

/// Fields that follow from the message itself; a caller's own would contradict them.
bool is_framing_field(std::string_view name) {
  return same_name(name, "Content-Length") || same_name(name, "Transfer-Encoding") ||
         same_name(name, "Connection");
}

template <class Text>
result<void> append_fields(Text& out, const headers& fields) {
  for (const auto& [name, value] : fields) {
    if (is_framing_field(name)) continue;
    if (!is_token(name) || !is_single_line(value))
      return make_fault(
          errc::refused, "write HTTP header",
          "the field \"" + name.substr(0, 64) + "\" has characters that are not allowed");
    out += name;
    out += ": ";
    out += value;
    out += "\r\n";
  }
  return {};
}

}  // namespace

result<wiped_string> write_request_head(const request& r, std::string_view target,
                                        std::string_view host,
                                        std::string_view proxy_authorization) {
  const auto is_in_line = [](unsigned char c) { return c > ' ' && c != 0x7f; };
  const bool target_ok = !target.empty() && std::ranges::all_of(target, is_in_line);
  if (!is_token(r.method) || !target_ok)
    return make_fault(errc::refused, "write HTTP request",
                      "the method or the target has characters that are not allowed");
  if (!is_single_line(r.authorization.reveal()))
    return make_fault(errc::refused, "write HTTP request",
                      "the credential has characters that are not allowed");
  wiped_string out;
  out.reserve(512 + r.authorization.reveal().size() + r.body.size());
  out.append(r.method).append(" ").append(target).append(" HTTP/1.1\r\n");
  if (!r.fields.has("Host")) out.append("Host: ").append(host).append("\r\n");
  if (!proxy_authorization.empty())
    out.append("Proxy-Authorization: ").append(proxy_authorization).append("\r\n");
  if (auto written = append_fields(out, r.fields); !written) return written.error();
  if (!r.authorization.empty())
    out.append("Authorization: ").append(r.authorization.reveal()).append("\r\n");
  const bool wants_length = r.method == "POST" || r.method == "PUT" || r.method == "PATCH";
  if (!r.body.empty() || wants_length)
    out.append("Content-Length: ").append(std::to_string(r.body.size())).append("\r\n");
  out += "\r\n";
  return out;
}

result<std::string> write_response_head(int status, const headers& fields, framing how,
                                        std::uint64_t length_bytes, bool keep_alive) {
  std::string out;
  out.reserve(256);
  out.append("HTTP/1.1 ").append(std::to_string(status)).append(" ");
  out.append(reason_phrase(status)).append("\r\n");
  if (auto written = append_fields(out, fields); !written) return written.error();
  if (how == framing::length)
    out.append("Content-Length: ").append(std::to_string(length_bytes)).append("\r\n");
  if (how == framing::chunked) out += "Transfer-Encoding: chunked\r\n";
  if (!keep_alive) out += "Connection: close\r\n";
  out += "\r\n";
  return out;
}

std::string chunk_header(std::size_t size_bytes) {
  char text[24];
  char* end = std::to_chars(text, text + 16, size_bytes, 16).ptr;
  *end++ = '\r';
  *end++ = '\n';
  return std::string(text, end);
}

std::string_view reason_phrase(int status) noexcept {
  return view(bhttp::obsolete_reason(bhttp::int_to_status(static_cast<unsigned>(status))));
}

wire::wire(std::unique_ptr<reactor::stream> s) : stream_(std::move(s)), window_(plaintext()) {}

result<std::optional<std::size_t>> wire::try_fill() {
  std::span<char> room = window_.prepare();
  if (room.empty())
    return make_fault(errc::limit, "read from " + stream_->peer(), "a line has no end");
  auto n = stream_->try_read(room.first(std::min(room.size(), fill_bytes)));
  if (n && *n) window_.commit(**n);
  return n;
}

std::size_t wire::try_write(std::string_view bytes) {
  const std::size_t sent = loop_slice::is_over() ? 0 : stream_->try_write(bytes);
  loop_slice::spend(sent);
  return sent;
}

awaitable<result<void>> wire::write(std::string bytes) {
  const std::size_t sent = try_write(bytes);
  if (sent == bytes.size()) co_return result<void>();
  co_return co_await stream_->write_all(std::span<const char>(bytes).subspan(sent));
}

awaitable<result<void>> wire::write_secret(wiped_string bytes) {
  const std::size_t sent = try_write(bytes);
  if (sent == bytes.size()) co_return result<void>();
  co_return co_await stream_->write_all(std::span<const char>(bytes).subspan(sent));
}

}  // namespace reactor::http
