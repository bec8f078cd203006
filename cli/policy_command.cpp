#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "policies/host/pack.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <boost/json.hpp>
#include <unistd.h>

namespace cli {
namespace {

using reports = reactor::result<std::vector<policies::pack_report>>;

reactor::awaitable<void> test(reactor::loop& l, std::string dir, reports& out) {
  out = co_await policies::test_packs(l, std::move(dir));
  l.stop();
}

}  // namespace

int policy_command(const policy_arguments& a) {
  reactor::loop loop;
  reports found = std::vector<policies::pack_report>();
  reactor::task_group tasks(loop);
  tasks.start("test", test(loop, a.dir, found));
  loop.run();
  if (!found) return complain(found.error().message());
  const bool lively = is_lively(STDOUT_FILENO);
  bool good = !found->empty();
  page text;
  boost::json::array packs;
  for (const policies::pack_report& r : *found) {
    const bool untested = r.passed() && r.tests.empty() && !a.allow_none;
    good = good && r.passed() && !untested;
    boost::json::array tests;
    text +=
        page(r.folder) + ": " +
        (r.fault    ? toned("refused", tone::bad, lively) + ": " + r.fault->message()
         : untested ? toned("no tests", tone::bad, lively) +
                          ": nothing says that it does what it should; add a policy_test.lua, or "
                          "pass --allow-none"
                    : page(std::to_string(r.tests.size())) +
                          (r.tests.size() == 1 ? page(" test") : page(" tests"))) +
        "\n";
    for (const policies::test_outcome& t : r.tests) {
      tests.push_back(
          boost::json::object{{"name", t.name}, {"passed", t.passed}, {"message", t.message}});
      text += page("  ") +
              toned(t.passed ? "ok  " : "FAIL", t.passed ? tone::good : tone::bad, lively) + " " +
              t.name + (t.passed ? page() : page(": ") + t.message) + "\n";
    }
    boost::json::object pack{
        {"folder", r.folder}, {"passed", r.passed() && !untested}, {"tests", std::move(tests)}};
    if (r.fault) pack["refused"] = r.fault->message();
    packs.push_back(std::move(pack));
  }
  if (found->empty()) text += page("there is no policy pack in ") + a.dir + "\n";
  boost::json::object body{{"passed", good}};
  body["packs"] = std::move(packs);
  if (a.output == output_format::text)
    write_out(STDOUT_FILENO, text);
  else
    write_bytes(STDOUT_FILENO, machine_text(document("PolicyTest", std::move(body)), a.output));
  return good ? success : failure;
}

}  // namespace cli
