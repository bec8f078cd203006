// The page as a part of a command: its listener, what it asks for, and its flags.
#include "app/process.hpp"
#include "service/ui/fleet_page.hpp"

#include <utility>

namespace cli {

using namespace app;

using reactor::awaitable;

ui::ui(reactor::loop& l, service& of, web::site_options options, reactor::logger log)
    : options_(options),
      log_(log),
      board_(l),
      page_(l, of, board_),
      site_(
          l, std::move(options), board_,
          [this](std::string name, reactor::http::target_parts asked) {
            return page_.document(std::move(name), std::move(asked));
          },
          log),
      tasks_(l) {
  page_.is_followed = [this] { return site_.readers() > 0; };
  if (!options_.token_file.empty()) page_.entered_by = fleet_page::door::asks_token;
  site_.on_reader = [this] { page_.wake(); };
}

awaitable<reactor::result<void>> ui::start() {
  auto started = co_await site_.start();
  if (!started) co_return started;
  const std::string warning = warning_of(options_);
  if (!warning.empty()) log_.warning(warning, {{"at", site_.local().text()}});
  tasks_.start("page", page_.follow());
  co_return reactor::result<void>();
}

awaitable<void> ui::stop() {
  co_await site_.stop();
  co_await tasks_.cancel_and_join();
  co_await page_.stop();
}

std::string warning_of(const web::site_options& o) {
  const std::string& host = o.at.host;
  if (host.starts_with("127.") || host == "::1" || host == "localhost") return {};
  if (o.token_file.empty())
    return "everybody who reaches the page's address sees the fleet; --ui-token-file asks for a "
           "token";
  return "the page's token and cookies cross the network unprotected: the page speaks no TLS, so "
         "let it listen on 127.0.0.1 or behind a proxy that does";
}

reactor::result<std::optional<web::site_options>> site_options_of(const ui_arguments& a) {
  if (a.at.empty() || a.at == "0") return std::optional<web::site_options>();
  // Without an address this machine is meant.
  auto at = parse_bind_address(a.at.starts_with(':') ? "127.0.0.1" + a.at : a.at, "ui");
  if (!at) return at.error();
  web::site_options o;
  o.at = **at;
  o.token_file = a.token_file;
  o.hosts = a.hosts;
  return std::optional<web::site_options>(std::move(o));
}

std::string url_of(const reactor::endpoint& at) {
  return "http://" + at.text() + "/";
}

void declare_ui(app::flags& f, ui_arguments& to) {
  f.value("--ui", to.at, "a page about the fleet for a browser; :PORT is on loopback; 0 = off")
      .takes("[ADDRESS]:PORT");
  f.value("--ui-token-file", to.token_file,
          "file with a token (16 characters or more) that the page asks for")
      .takes("FILE");
  f.value("--ui-host", to.hosts,
          "a name by which the page, /metrics and /clusters are called, beside addresses and "
          "localhost")
      .repeated()
      .takes("NAME");
}

}  // namespace cli
