#include "reactor/loop.hpp"
#include "reactor/plain/entropy.hpp"
#include "service/page/access.hpp"
#include "service/page/board.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

/// What a caller of the page writes into the fields Host, Origin, Authorization, Cookie and
/// Last-Event-ID: nobody is let in who has not shown the token, no name is ours that is neither an
/// address nor "localhost", no place of a board is guessed.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static reactor::loop loop(reactor::loop::mode::simulated, 1);
  static web::doorkeeper door(loop.random(),
                              reactor::secret(std::string("a-token-that-nobody-guesses")));
  static web::board board(loop);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // The port does not count.
  const std::string_view name = text.substr(0, text.find(':'));
  if (web::is_our_host(text, {}) && name.find("evil") != name.npos) std::abort();
  (void)web::is_our_origin(text, text);
  (void)web::read_token(reactor::secret(std::string(text)));
  if (text.find("a-token-that-nobody-guesses") == text.npos && door.lets_in(text, text, loop.now()))
    std::abort();
  (void)door.log_out(text);
  if (const auto cursor = board.cursor_of(text); cursor && *cursor > board.revision()) std::abort();
  return 0;
}
