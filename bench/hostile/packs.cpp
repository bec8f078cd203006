#include "bench/hostile/packs.hpp"

#include "bench/hostile/packs_table.hpp"
#include "policies/rollout.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace bench::hostile {
namespace {

namespace fs = std::filesystem;

/// Another pack in the same host: whatever the hostile one does, this one answers as ever.
constexpr const char* neighbour =
    "local count = 0\n"
    "local function plan(units) count = count + 1 return {start = {units[1].name}, holds = "
    "{['node-2'] = 'call ' .. count}} "
    "end\nreturn {name = 'neighbour', order = 900, rollout = {plan = plan}}\n";

/// A processor's clock on a virtual machine jumps by milliseconds now and then; what a pack does
/// comes back.
constexpr int most_tries = 5;
constexpr reactor::nanoseconds stall_bound = std::chrono::milliseconds(2);

struct folder {
  fs::path path;
  explicit folder(const std::string& policy) {
    static int number = 0;
    path = fs::temp_directory_path() /
           ("windlass-hostile-" + std::to_string(getpid()) + "-" + std::to_string(++number));
    fs::create_directories(path / "hostile");
    fs::create_directories(path / "a-neighbour");
    std::ofstream(path / "hostile/policy.lua", std::ios::binary) << policy;
    std::ofstream(path / "a-neighbour/policy.lua") << neighbour;
  }
  ~folder() {
    std::error_code ec;
    fs::remove_all(path, ec);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  /// Nothing was written, nothing is gone.
  bool untouched() const {
    std::size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path))
      files += entry.is_regular_file();
    return files == 2 && fs::exists(path / "hostile/policy.lua");
  }
};

std::shared_ptr<const policies::rollout_input> pool() {
  auto input = std::make_shared<policies::rollout_input>();
  for (int i = 1; i <= 8; ++i) {
    policies::rollout_unit u;
    u.name = "node-" + std::to_string(i);
    u.cluster = "fleet";
    u.pool = "workers";
    u.zone = "a";
    u.state = "Staged";
    u.labels = {{"zone", "a"}, {"role", "worker"}};
    input->units.push_back(std::move(u));
  }
  input->fleet.pool = "workers";
  input->fleet.cluster = "fleet";
  input->fleet.unit_count = 8;
  input->fleet.startable = "Staged";
  input->fleet.capacity = input->fleet.free = 2;
  return input;
}

class trial {
public:
  trial(reactor::loop& l, std::string root) : loop_(l), root_(std::move(root)) {}

  reactor::awaitable<void> run() {
    policies::host::options options;
    options.folders = {root_};
    options.stock = false;
    policies::hook_list known;  // as the service knows them
    known.push_back(policies::rollout_hook());
    options.limits.hooks = std::make_shared<const policies::hook_list>(std::move(known));
    auto packs = std::make_unique<policies::host>(loop_, std::move(options));
    bool loaded = false;
    packs->on_event = [&](const policies::pack_event& e) {
      note(e.reason);
      if (e.folder == "hostile") loaded = e.what == policies::pack_event::kind::loaded;
      if (e.folder == "hostile" && !loaded) out_.said = e.message();
    };
    packs->on_log = [this](const std::string&, const std::string& line) { note(line); };
    co_await loop_.yield();
    (void)loop_.take_health();
    auto looked = co_await packs->load();
    (void)looked;  // the events say which pack it was
    co_await measure("load");
    if (loaded) co_await ask(*packs);
    if (loaded) co_await ask_neighbour(*packs);
    co_await packs->stop();
    co_await loop_.yield();
    (void)loop_.take_health();
    packs.reset();
    co_await measure("unload");
    loop_.stop();
  }

  pack_outcome out_;

private:
  reactor::awaitable<void> measure(const char* part) {
    co_await loop_.yield();
    co_await loop_.yield();
    const reactor::nanoseconds worst = loop_.take_health().longest_stall;
    if (worst > out_.worst_stall) {
      out_.worst_stall = worst;
      out_.worst_turn = part;
    }
  }

  reactor::awaitable<void> ask(policies::host& packs) {
    policies::subject about;
    about.pack = "hostile";
    const auto input = pool();
    auto answer = co_await policies::plan_rollout(packs, std::move(about), input, loop_.wall());
    out_.verdict = answer ? pack::verdict::answered : pack::verdict::fault;
    if (answer) {
      for (const auto& [name, hold] : answer->holds) note(hold.reason);
      // The core's rules: no more than there is room for, nobody that is not there.
      if (answer->start.size() > input->fleet.free) out_.escaped = true;
    } else if (answer.error().code == reactor::errc::not_found) {
      out_.verdict = pack::verdict::answered;  // it has no such hook, and nobody is harmed
    } else {
      out_.said = answer.error().message();
      note(out_.said);
    }
    co_await measure("call");
  }

  reactor::awaitable<void> ask_neighbour(policies::host& packs) {
    policies::subject about;
    about.pack = "neighbour";
    auto answer = co_await policies::plan_rollout(packs, std::move(about), pool(), loop_.wall());
    const bool sound = answer && answer->start == std::vector<std::string>{"node-1"} &&
                       answer->holds.contains("node-2") &&
                       answer->holds.at("node-2").reason == "call 1";
    if (!sound) out_.escaped = true;
  }

  void note(const std::string& text) {
    if (text.find(escape_mark) != std::string::npos) out_.escaped = true;
  }

  reactor::loop& loop_;
  std::string root_;
};

pack_outcome try_once(const pack& p) {
  const folder files(p.policy);
  reactor::loop l;
  trial t(l, files.path.string());
  {
    reactor::task_group tasks(l);
    tasks.start("hostile pack", t.run());
    l.run();
  }
  t.out_.escaped = t.out_.escaped || !files.untouched();
  return t.out_;
}

}  // namespace

const std::vector<pack>& packs() {
  static const std::vector<pack> all = [] {
    std::vector<pack> made;
    add_loops(made);
    add_memory(made);
    add_text(made);
    add_reach(made);
    add_answers(made);
    add_sources(made);
    return made;
  }();
  return all;
}

pack_outcome try_pack(const pack& p) {
  pack_outcome best = try_once(p);
  for (int tries = 1; tries < most_tries && best.worst_stall > stall_bound; ++tries) {
    const pack_outcome again = try_once(p);
    best.escaped = best.escaped || again.escaped;
    if (again.verdict == best.verdict && again.worst_stall < best.worst_stall) {
      best.worst_stall = again.worst_stall;
      best.worst_turn = again.worst_turn;
    }
  }
  return best;
}

}  // namespace bench::hostile
