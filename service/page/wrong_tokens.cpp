#include "service/page/wrong_tokens.hpp"

#include "reactor/loop.hpp"

#include <utility>

namespace web {

wrong_tokens::wrong_tokens(reactor::loop& l, std::string shown_to, reactor::logger log)
    : loop_(l), shown_to_(std::move(shown_to)), log_(std::move(log)), told_(l, are_told_every) {}

reactor::awaitable<bool> wrong_tokens::wait(std::string peer) {
  if (const auto untold = told_.pass("wrong token"))
    log_.warning("another token was shown to " + shown_to_, {{"by", peer}, {"times", *untold + 1}});
  if (waiting_ >= most_waiting) co_return false;
  struct counted {
    std::size_t& n;
    explicit counted(std::size_t& of) noexcept : n(of) { ++n; }
    ~counted() { --n; }
  } one(waiting_);
  co_await loop_.sleep_for(waits);
  co_return true;
}

}  // namespace web
