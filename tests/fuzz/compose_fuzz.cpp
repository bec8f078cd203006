// Random answers to the planner of compositions: whatever a policy says, the safety rules of
// tests/compose/fake_world hold for each action, and what was carried out is not planned again.

#include "tests/compose/fake_world.hpp"

#include <boost/json.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

using namespace policies::compose;
using policies::value;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  boost::system::error_code code;
  const boost::json::value parsed =
      boost::json::parse(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1), code);
  if (code) return 0;
  fake_world w;
  furnish(w, data[0]);
  const value answer = ::compose::from_json(parsed);
  const auto read = w.read(answer);
  if (!read) return 0;
  sync_plan p;
  for (int i = 0; i < 8; ++i) {
    p = plan_sync(w.look(), *read);
    if (p.actions.empty()) break;
    const bool gone = p.actions.back().what == action::kind::remove_finalizer;
    w.carry_out(p);
    if (gone) return w.violations.empty() ? 0 : (std::abort(), 0);
  }
  for (const std::string& v : w.violations) std::fprintf(stderr, "%s\n", v.c_str());
  if (!p.actions.empty())
    std::fprintf(stderr, "it never settles: %s\n", p.actions.front().of.text().c_str());
  if (!w.violations.empty() || !p.actions.empty()) std::abort();
  return 0;
}
