#include "tests/simulation/signal_stage.hpp"

#include "reactor/loop.hpp"
#include "service/service.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>

namespace simulation {

signal_stage::signal_stage(reactor::loop& l) : loop_(l) {
  const std::filesystem::path from =
      std::filesystem::path(WINDLASS_SOURCE_DIR) / "policies/disruption/signals";
  std::filesystem::copy(from, folder() + "/signals");
  files_.write("signals/signals.lua", R"lua(
return { soak_seconds = 60, look_again = 5, signals = { { name = "errors", every = 5, at_most = 0.01,
  prometheus = "http://prometheus", query = 'sum(errors{cluster="${cluster}"})' } } }
)lua");
  reactor::http::server_options at;
  at.at = {"prometheus", 80};
  server_ = std::make_unique<reactor::http::server>(
      l, std::move(at),
      [this](reactor::http::request r, reactor::http::responder& to) -> reactor::awaitable<void> {
        ++asked;
        reactor::http::response said;
        said.status = 200;
        said.body = answer(r.target);
        (void)co_await to.send(std::move(said));
      });
}

void signal_stage::settings(cli::service_options& o) const {
  o.policies = {folder()};
  o.signal_origins = {"http://prometheus:80"};
}

void signal_stage::start() {
  const auto started = server_->start();
  EXPECT_TRUE(started.has_value());
}

reactor::awaitable<void> signal_stage::stop() {
  co_await server_->stop();
}

std::string signal_stage::answer(const std::string& target) const {
  std::string said = value;
  for (const auto& [cluster, of_it] : values)
    if (target.find("%22" + cluster + "%22") != std::string::npos) said = of_it;
  const double now = std::chrono::duration<double>(loop_.wall().time_since_epoch()).count();
  return R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[)" +
         std::to_string(now) + ",\"" + said + "\"]}]}}";
}

}  // namespace simulation
