#pragma once

#include "reactor/http/wire.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

/// What a message is read as when it arrives in pieces of that size.
inline std::string http_outcome(reactor::http::wire_parser::kind kind, std::string_view bytes,
                                std::size_t piece_bytes) {
  using event = reactor::http::wire_parser::event;
  reactor::http::wire_parser p(kind, 8 * 1024);
  std::string window, body;
  std::size_t fed = 0;
  for (;;) {
    auto step = p.advance(window);
    if (!step) return "!";
    if (step->consumed > window.size()) std::abort();
    body += step->piece;
    window.erase(0, step->consumed);
    if (step->what == event::done) break;
    if (step->what != event::need_more) continue;
    if (fed < bytes.size()) {
      const std::string_view piece = bytes.substr(fed, piece_bytes);
      window += piece;
      fed += piece.size();
      continue;
    }
    auto end = p.end_of_stream();
    if (!end) return "!";
    if (!*end) return "nothing";
  }
  (void)p.keep_alive();
  (void)p.content_length();
  std::string all = p.head().method + p.head().target + std::to_string(p.head().status);
  for (const auto& [name, value] : p.head().fields) all += name + value;
  return all + "|" + body;
}

/// The first byte chooses the pieces; the outcome must be that of one piece.
inline void check_http_message(reactor::http::wire_parser::kind kind, const std::uint8_t* data,
                               std::size_t size) {
  // Below the header limit, so that where a field is counted does not depend on the pieces.
  if (size < 1 || size > 4096) return;
  const std::size_t piece = 1 + data[0] % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (http_outcome(kind, bytes, size) != http_outcome(kind, bytes, piece)) std::abort();
}
