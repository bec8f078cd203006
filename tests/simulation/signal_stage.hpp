#pragma once

#include "reactor/awaitable.hpp"
#include "reactor/http/server.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <map>
#include <memory>
#include <string>

namespace cli {
struct service_options;
}
namespace reactor {
class loop;
}

namespace simulation {

/// The stock pack disruption/signals with one signal, `errors` of at most 0.01 for a soak of 60 s,
/// and the Prometheus in memory that it is asked of.
class signal_stage {
public:
  explicit signal_stage(reactor::loop& l);
  /// A service asks it, by the pack in its folder.
  void settings(cli::service_options& o) const;
  std::string folder() const { return files_.path(); }
  void start();
  reactor::awaitable<void> stop();

  std::string value = "0";                    // of every cluster but those in
  std::map<std::string, std::string> values;  // by cluster
  int asked = 0;

private:
  std::string answer(const std::string& target) const;

  reactor::loop& loop_;
  reactor::temporary_folder files_;
  std::unique_ptr<reactor::http::server> server_;
};

}  // namespace simulation
