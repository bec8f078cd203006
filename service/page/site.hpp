#pragma once

#include "reactor/http/server.hpp"
#include "reactor/log.hpp"
#include "reactor/task_group.hpp"
#include "service/page/access.hpp"
#include "service/page/board.hpp"
#include "service/page/wrong_tokens.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace web {

struct site_options {
  reactor::endpoint at;
  std::string token_file;          // empty: everybody who reaches the address may look
  std::vector<std::string> hosts;  // names, beside addresses and "localhost", by which it is called
};

/// The listener of the page: its files, the stream of changes of a board, and documents that are
/// made when asked for.
/// Who may look  requests for another host's name, and those without the token where there is one,
///               learn nothing. A stream ends when what let it in does: another token, a logout,
///               the end of the session.
/// Wrong tokens  are logged, and answered after a while or, beyond wrong_tokens::most_waiting at
///               once, with 429. The right one never waits for them.
/// Content       all of it is ours; what clusters say is JSON, and no answer may run script or
///               style that is not a file of ours (Content-Security-Policy), nor be shown in
///               a foreign frame.
/// Bounds        most_readers streams; a reader takes a piece within 10 s or is dropped, and goes
///               on where it was.
/// Lifetime      loop and board outlive it; co_await stop() before destruction.
class site {
public:
  static constexpr std::size_t most_readers = 64, most_documents = 64;
  static constexpr reactor::nanoseconds heartbeat = std::chrono::seconds(15),
                                        coalesced = std::chrono::milliseconds(250),
                                        token_is_read_every = std::chrono::seconds(30),
                                        token_is_told_every = std::chrono::minutes(10);

  using text = std::shared_ptr<const std::string>;
  /// What is asked for by "/data/NAME?query": one JSON document. "place" with a path below
  /// /cluster: where the page shows it. errc::not_found: 404.
  using document_maker = std::function<reactor::awaitable<reactor::result<text>>(
      std::string name, reactor::http::target_parts asked)>;

  site(reactor::loop& l, site_options options, board& of, document_maker documents,
       reactor::logger log);
  ~site();

  /// Errors: the token file's, the address in use.
  reactor::awaitable<reactor::result<void>> start();
  reactor::awaitable<void> stop();
  reactor::endpoint local() const;
  std::size_t readers() const noexcept { return readers_; }
  /// The first of them has come.
  std::function<void()> on_reader;

private:
  reactor::awaitable<void> answer(reactor::http::request r, reactor::http::responder& to);
  reactor::awaitable<void> answer_file(std::string name, int status, std::string known,
                                       reactor::http::responder& to);  // borrowed
  reactor::awaitable<void> stream(admission by, std::string last,
                                  reactor::http::responder& to);  // borrowed
  reactor::awaitable<void> answer_document(admission by, reactor::http::target_parts asked,
                                           reactor::http::responder& to);  // borrowed
  reactor::awaitable<void> answer_place(admission by, reactor::http::request r,
                                        reactor::http::target_parts asked,
                                        reactor::http::responder& to);         // borrowed
  reactor::awaitable<void> ask_for_token(reactor::http::responder& to);        // borrowed
  reactor::awaitable<void> refuse_wrong_tokens(reactor::http::responder& to);  // borrowed
  bool holds(const admission& by) const;
  // borrowed
  reactor::awaitable<void> log_in(reactor::http::request r, reactor::http::responder& to);
  reactor::awaitable<reactor::result<reactor::secret>> load_token();
  reactor::awaitable<void> follow_token();

  reactor::loop& loop_;
  site_options options_;
  board& board_;
  document_maker documents_;
  reactor::logger log_;
  std::optional<doorkeeper> door_;
  std::unique_ptr<reactor::http::server> server_;
  std::size_t readers_ = 0, documents_asked_ = 0;
  wrong_tokens wrong_tokens_;
  reactor::repeats unusable_told_;
  reactor::task_group tasks_;
};

}  // namespace web
