#include "simulation/commands/simulate/edits.hpp"

#include "reactor/system/files.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace cli::simulate {
namespace {

namespace fs = std::filesystem;

/// `first` is where the list of names begins.
std::string ordering_pack(std::string_view version, std::string_view first) {
  return "local function plan(units, fleet, now)\n"
         "  local ready, start, holds, seen = {}, {}, {}, 0\n"
         "  for i, u in ipairs(units) do\n"
         "    seen = seen + i * #u.state\n"
         "    if u.state == fleet.startable and not u.slotted and not u.degraded then ready[#ready "
         "+ "
         "1] = u.name end\n"
         "  end\n"
         "  local first = " +
         std::string(first) +
         "\n"
         "  for i = 1, #ready do\n"
         "    local name = ready[(first + i) % #ready + 1]\n"
         "    if #start < fleet.free then start[#start + 1] = name\n"
         "    else holds[name] = { code = \"WaitsForSlot\", reason = \"waits for a free slot\" } "
         "end\n"
         "  end\n"
         "  return { start = start, holds = holds }\n"
         "end\n"
         "return { name = \"simulated/order\", version = \"" +
         std::string(version) + "\", order = 1, rollout = { plan = plan } }\n";
}

std::string own_pack(std::size_t nth) {
  const std::string version = std::to_string(nth + 1);
  return nth % 2 == 0 ? ordering_pack(version, "-1")
                      : ordering_pack(version, "seen + math.floor(now.unix)");
}

reactor::result<void> failed(const std::error_code& ec, const std::string& doing) {
  return reactor::make_fault(reactor::error_code(ec.value(), boost::system::system_category()),
                             doing);
}

reactor::result<void> store_own(const std::string& folder, std::size_t nth) {
  std::error_code ec;
  fs::create_directories(fs::path(folder) / "order", ec);
  if (ec) return failed(ec, "create " + folder);
  return reactor::store_file((fs::path(folder) / "order" / "policy.lua").string(), own_pack(nth));
}

}  // namespace

reactor::result<void> begin_edits(const std::string& folder, const std::string& policies) {
  if (policies.empty()) return store_own(folder, 0);
  std::error_code ec;
  const fs::path source = fs::canonical(policies, ec);
  if (ec) return failed(ec, "read policies " + policies);
  // One pack alone stays one under a name of its own.
  const bool alone = fs::exists(source / "policy.lua", ec);
  const fs::path to = alone ? fs::path(folder) / source.filename() : fs::path(folder);
  fs::copy(source, to, fs::copy_options::recursive | fs::copy_options::overwrite_existing, ec);
  if (ec) return failed(ec, "copy " + policies);
  return {};
}

reactor::result<void> edit_policies(const std::string& folder, const std::string& policies,
                                    std::size_t nth) {
  if (policies.empty()) return store_own(folder, nth);
  std::error_code ec;
  for (fs::recursive_directory_iterator i(folder, ec), end; !ec && i != end; i.increment(ec)) {
    if (i->path().filename() != "policy.lua") continue;
    std::ifstream in(i->path(), std::ios::binary);
    std::stringstream content;
    content << in.rdbuf();
    std::string text = content.str();
    if (const std::size_t before = text.find("\n-- edit "); before != std::string::npos)
      text.resize(before);
    auto stored =
        reactor::store_file(i->path().string(), text + "\n-- edit " + std::to_string(nth) + "\n");
    if (!stored) return stored;
  }
  if (ec) return failed(ec, "edit " + folder);
  return {};
}

}  // namespace cli::simulate
