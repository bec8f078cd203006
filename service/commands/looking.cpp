#include "service/commands/looking.hpp"

#include "app/api/target_history.hpp"
#include "app/exit_code.hpp"
#include "app/run_to_end.hpp"
#include "k8s/client/client.hpp"

#include <boost/json/object.hpp>
#include <unistd.h>

#include <utility>

namespace cli {

command_output standard_output() {
  return {.text = [](const app::page& p) { app::write_out(STDOUT_FILENO, p); },
          .bytes = [](const std::string& b) { app::write_bytes(STDOUT_FILENO, b); },
          .complaint = [](std::string c) { app::complain(std::move(c)); },
          .columns = app::output_columns(),
          .tint = app::colours_at(STDOUT_FILENO)};
}

reactor::awaitable<std::string> user_of(k8s::client& api) {  // borrowed
  k8s::resource reviews{"authentication.k8s.io", "v1", "selfsubjectreviews", "SelfSubjectReview",
                        false};
  boost::json::object body;
  auto said = co_await api.create(std::move(reviews), std::string(), std::move(body));
  co_return said ? units::text_at(*said, {"status", "userInfo", "username"}) : std::string();
}

int run_started(reactor::loop& l, service& s, std::string name,
                std::function<reactor::awaitable<int>()> body) {
  int code = app::success;
  const auto whole = [&]() -> reactor::awaitable<void> {
    auto started = co_await s.start();
    if (started)
      code = co_await body();
    else
      code = app::complain(started.error().message());
    co_await s.stop();
    l.stop();
  };
  app::run_to_end(l, std::move(name), whole());
  return code;
}

}  // namespace cli
