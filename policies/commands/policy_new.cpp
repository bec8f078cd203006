#include "policies/commands/policy_new.hpp"

#include "policies/host/hooks/hook_version.hpp"

#include <algorithm>

namespace cli {
namespace {

using policies::shape;
using policies::shape_member;

/// A value of that shape that says nothing: what an answer begins with.
std::string nothing_of(const shape& s) {
  switch (s.is) {
    case shape::kind::flag: return "true";
    case shape::kind::number: return "0";
    case shape::kind::text: return s.words.empty() ? "\"\"" : "\"" + s.words.front() + "\"";
    default: return "{}";
  }
}

std::string arguments_of(const policies::hook& h) {
  std::string out;
  for (const shape_member& a : h.arguments) out += (out.empty() ? "" : ", ") + a.name;
  return out;
}

std::string fields_of(const shape& s, std::size_t depth) {
  const shape* inner = &s;
  while (!inner->of.empty() && inner->is != shape::kind::either) inner = &inner->of.front();
  std::string out;
  for (const shape_member& m : inner->members) {
    const std::string more =
        m.about + (m.unit.empty() ? "" : (m.about.empty() ? "" : "; ") + m.unit);
    out += "--" + std::string(2 * depth, ' ') + " " + m.name;
    if (!more.empty()) out += std::string(m.name.size() < 15 ? 15 - m.name.size() : 1, ' ') + more;
    out += "\n";
  }
  return out;
}

/// What a pack says of itself beside the hook, as an example.
std::string declared(const policies::hook& h) {
  if (h.declares.name.empty()) return {};
  std::string out = h.declares.name + " = {";
  bool first = true;
  for (const shape_member& m : h.declares.is.members) {
    if (m.optional) continue;
    out += (first ? " " : ", ") + m.name + " = " +
           (first ? "{ { apiVersion = \"example.com/v1\", kind = \"Shop\" } }" : nothing_of(m.is));
    first = false;
  }
  return out + " },\n  ";
}

/// rollout.plan has more to say than nothing: it starts each unit that may start.
constexpr std::string_view plan_body = R"lua(  local start, holds = {}, {}
  for _, unit in ipairs(units) do
    if unit.state == fleet.startable and not unit.slotted and not unit.degraded then
      if #start < fleet.free then
        start[#start + 1] = unit.name
      else
        holds[unit.name] = { code = "WaitsForSlot", reason = "waits for a free slot" }
      end
    end
  end
  return { start = start, holds = holds }
)lua";

/// So has release.map: an answer without images is taken where it denies the Release.
constexpr std::string_view map_body = R"lua(  local images = {}
  for _, pool in ipairs(question.pools) do
    images[#images + 1] = { pool = pool.name, image = "os-1.2.3" }
  end
  if #images == 0 then
    images[1] = { image = "os-1.2.3" }
  end
  return { images = images }
)lua";

constexpr std::string_view plan_test = R"lua(
test("one unit at a time starts", function()
  local units = { { name = "w1", state = "Staged" }, { name = "w2", state = "Staged" } }
  local answer = policy.rollout.plan(units, { free = 1, startable = "Staged" }, {})
  expect_equal(answer.start, { "w1" })
  expect_equal(answer.holds.w2.code, "WaitsForSlot")
end)
)lua";

/// policy.lua: what the hook is asked and answers, in comments, and a function with no answer.
std::string code_for(const std::string& name, const policies::hook& h) {
  const bool plan = h.name == "rollout.plan";
  std::string code = "-- " + name + ": " + h.question + "\n--\n-- Asked " + h.asked +
                     ".\n-- When this fails: " + h.failure + ".\n--\n";
  for (const shape_member& a : h.arguments)
    code += "-- " + a.name + ": " + a.about + "\n" + fields_of(a.is, 1);
  code += "--\n-- It answers a table:\n" + fields_of(h.answer, 1) +
          "\n---@type windlass.pack\nlocal pack = { name = \"" + name +
          "\", version = \"1\", api = " + std::to_string(policies::hook_versions.back().number) +
          ", order = 100, " + declared(h) + h.family() + " = {} }\n\nfunction pack." + h.family() +
          "." + h.function() + "(" + arguments_of(h) + ")\n";
  if (plan || h.name == "release.map") {
    code += plan ? plan_body : map_body;
  } else {
    code += "  return {";
    bool first = true;
    for (const shape_member& m : h.answer.members) {
      if (m.optional) continue;
      code += (first ? " " : ", ") + m.name + " = " + nothing_of(m.is);
      first = false;
    }
    code += first ? "}\n" : " }\n";
  }
  return code + "end\n\nreturn pack\n";
}

/// policy_test.lua
std::string test_for(const policies::hook& h) {
  std::string test = "local policy = require(\"policy\")\n";
  if (h.name == "rollout.plan") return test.append(plan_test);
  std::string given;
  for (std::size_t i = 0; i < h.arguments.size(); ++i) given += given.empty() ? "{}" : ", {}";
  return test +
         "\n-- What a test leaves out has the value of a fresh record; a field that does not exist "
         "is an error.\ntest(\"it answers\", function()\n  expect_true(policy." +
         h.name + "(" + given + "))\nend)\n";
}

}  // namespace

reactor::result<std::map<std::string, std::string>> new_pack(const std::string& name,
                                                             const std::string& hook_name,
                                                             const policies::hook_list& hooks) {
  const bool word = !name.empty() && name.size() <= 63 && name.front() != '-' &&
                    std::all_of(name.begin(), name.end(), [](char c) {
                      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '-' || c == '_';
                    });
  if (!word)
    return reactor::make_fault(reactor::errc::malformed, "new policy pack " + name,
                               "a name has letters, digits, '-' and '_', 63 at most");
  const policies::hook* h = policies::find_hook(hooks, hook_name);
  if (h == nullptr || !h->is_described()) {
    std::string known;
    for (const policies::hook& one : hooks)
      if (one.is_described()) known += (known.empty() ? "" : ", ") + one.name;
    return reactor::make_fault(reactor::errc::not_found, "new policy pack " + name,
                               "there is no hook " + hook_name + "; there are " + known);
  }
  std::map<std::string, std::string> files;
  files["policy.lua"] = code_for(name, *h);
  files["policy_test.lua"] = test_for(*h);
  files["README.md"] = "# " + name + "\n\nAnswers `" + h->name + "`: " + h->question +
                       "\n\n    windlass policy check " + name + "\n    windlass policy test " +
                       name + "\n    windlass plan --policies " + name +
                       " …     what would change\n    windlass run --policies " + name + " …\n";
  files[".types/hooks.lua"] = policies::editor_types(hooks);
  files[".luarc.json"] =
      "{\n  \"runtime.version\": \"LuaJIT\",\n  \"workspace.library\": [\".types\"],\n  "
      "\"diagnostics.globals\": "
      "[\"test\", \"expect_equal\", \"expect_true\", \"expect_error\", \"empty\", \"file\", "
      "\"log\", \"semver\", "
      "\"sha256\", \"copy\", \"fill\", \"list\", \"k8s\", \"json\", \"yaml\", \"toml\"]\n}\n";
  return files;
}

}  // namespace cli
