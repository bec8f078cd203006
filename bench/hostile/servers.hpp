#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/net/stream.hpp"
#include "reactor/plain/time.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace reactor {
class loop;
}

namespace bench::hostile {

using reactor::awaitable;
using namespace std::chrono_literals;

/// One request to a hostile server, or one connection to it, as a script sees it.
/// Lifetime: of the script's run; afterwards the connection is closed.
struct visit {
  reactor::loop& loop;
  reactor::stream& to;
  std::string method, target;       // empty where the script has the connection from its first byte
  std::size_t nth = 0;              // how often a script of this server ran before
  bool again = false;               // the connection goes on with its next request
  std::uint64_t* newest = nullptr;  // the version that the server's lists say

  /// False: the client is gone.
  awaitable<bool> say(std::string bytes);
  /// Over and over, `pause` in between.
  awaitable<void> say_for_ever(std::string piece, reactor::nanoseconds pause = {});
  /// Byte by byte.
  awaitable<bool> drip(std::string bytes, reactor::nanoseconds pause);
  /// Says nothing more until the client leaves.
  awaitable<void> hold();
  /// Up to and with the blank line; empty when the client is gone.
  awaitable<std::string> read_head();
};
using script = std::function<awaitable<void>(visit& v)>;

/// Which request is answered by the script; all others are answered as a good server does.
enum class place {
  connection,  // from the first byte, before TLS
  version,     // GET /version, the first request of all
  identity,    // the namespace kube-system
  groups,      // GET /apis
  resources,   // GET /apis/node.bootc.dev/v1alpha1
  list,        // of nodes
  stream,      // of nodes, their initial events included (WatchList); refused where not attacked
  watch,       // of nodes
  after_list,  // every request once all collections were listed
};

/// An API server that means harm.
struct server {
  std::string name;  // "endless 103 answers"
  place where = place::version;
  script answer;
  /// What a cluster behind it is in after `look` ("Unreachable"), of which there is one where time
  /// is virtual, and a part of what is said about it (cluster, informers or log); empty: nothing
  /// need be said.
  std::string state = {}, says = {};
  /// How long it is looked at in virtual time: less for what is much work.
  reactor::nanoseconds look = 100s;
  /// The script wants TLS below it (with a good certificate), or brings its own.
  enum class wire { any, tls, raw } over = wire::any;
};
/// Sorted by theme: TLS, heads, bodies, gzip, JSON, discovery, redirects and refusals, lists,
/// watches.
const std::vector<server>& servers();

// The themes, each in its own file.
void add_tls_servers(std::vector<server>& to);
void add_http_servers(std::vector<server>& to);
void add_body_servers(std::vector<server>& to);
void add_answer_servers(std::vector<server>& to);
void add_list_servers(std::vector<server>& to);
void add_watch_servers(std::vector<server>& to);

// What scripts are made of.
/// Between two pieces of a flood: as fast as it gets where time is real, 100 ms where it costs
/// nothing.
awaitable<void> breathe(reactor::loop& l);
/// A whole answer.
std::string answer(std::string_view body, std::string_view status = "200 OK",
                   std::string_view more_fields = {});
/// The head of a chunked answer, and one chunk.
std::string chunked(std::string_view more_fields = {});
std::string chunk(std::string_view body);
std::string repeated(std::string_view piece, std::size_t times);
/// `piece` as often as makes about 64 KiB, for what is said for ever.
std::string bulk(std::string_view piece);
/// A text that is made only when somebody needs it, because some are large.
class lazy {
public:
  lazy(std::string text) : make_([text] { return text; }) {}
  lazy(const char* text) : lazy(std::string(text)) {}
  template <class F>
    requires std::is_invocable_r_v<std::string, F&>
  lazy(F make) : make_(std::move(make)) {}
  std::string text() const { return make_(); }

private:
  std::function<std::string()> make_;
};
/// Scripts: says it and ends the connection; then is silent; then says `piece` for ever; says it
/// slowly.
script says(std::string bytes);
script says_and_holds(std::string bytes);
/// And listens to the next request.
script says_and_goes_on(std::string bytes);
/// A whole good answer with this body.
script answers(lazy body);
script says_for_ever(std::string first, std::string piece, reactor::nanoseconds pause = {});
script drips(std::string bytes, reactor::nanoseconds pause = 1s);

}  // namespace bench::hostile
