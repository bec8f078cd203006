#pragma once

#include "compose/rules/declaration.hpp"
#include "compose/rules/question.hpp"
#include "policies/host/pack.hpp"
#include "reactor/awaitable.hpp"
#include "reactor/log.hpp"
#include "reactor/plain/time.hpp"
#include "reactor/waiters.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace reactor {
class loop;
}

namespace compose {

/// Differs when a call gets something else.
std::string digest_with_problem(const policies::compose::data_files& f);

/// The files that calls of a pack get: those of a folder that the environment names, read again
/// when a second is over, else those of its own folder `data`; and the variables that it names.
/// What cannot be read, or what the pack itself refuses (compose.data), leaves the last good ones
/// in force, with the reason; where there are none, calls get what the pack refused. One for all
/// clusters, for which a folder is read once.
/// Lifetime the loop outlives it.
class pack_data {
public:
  using files = std::shared_ptr<const policies::compose::data_files>;
  /// What the environment says; tests say something else.
  using variable = std::function<std::string(const std::string& name)>;
  /// `log` is told of files that are refused, once for each reason, and of what a pack warns of.
  pack_data(reactor::loop& l, variable v, reactor::logger log = {})
      : loop_(l), variable_(std::move(v)), log_(std::move(log)) {}

  /// at_once: while another call reads the folder, what was read before; newest: waits for them.
  enum class wants { at_once, newest };
  reactor::awaitable<files> of(policies::compose::declaration about,
                               std::shared_ptr<const policies::pack> p, wants w = wants::at_once);

private:
  struct folder {
    explicit folder(reactor::loop& l) : read_by_another(l) {}
    reactor::steady_time read_at{};
    bool read = false, reading = false;
    files last;
    bool good = false;            // what `last` has was taken
    std::string judged, verdict;  // the digest of what was judged last, and what was said
    std::string told;             // the problem that the log has
    std::weak_ptr<const policies::pack> judge;
    reactor::waiters read_by_another;
  };
  /// What the pack says against them; empty: nothing.
  reactor::awaitable<std::string> judge(std::string path, std::shared_ptr<const policies::pack> p,
                                        files found);
  reactor::loop& loop_;
  variable variable_;
  reactor::logger log_;
  std::map<std::string, folder> folders_;
  /// The files of a pack that is loaded never change: one picture for as long as it is in force.
  std::map<std::string, std::pair<std::weak_ptr<const policies::pack>, files>> own_;
};

}  // namespace compose
