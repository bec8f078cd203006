#include "tests/hostile/canary.hpp"

#include "tests/hostile/memory_search.hpp"

#include <algorithm>
#include <array>

namespace canary_run {
namespace {

TEST_F(Canary, NoErrorOfARequestRepeatsACredential) {
  findings found;
  reactor::run_task(l, [&]() -> awaitable<void> {
    k8s::scripted_server server(l), elsewhere(l, {"elsewhere", 6443});
    for (const bool basic : {false, true}) {
      k8s::connection to = server.to();
      if (basic) {
        to.username = "joe";
        to.password = reactor::secret(std::string(bait));
      } else {
        to.token.bytes = reactor::secret(std::string(bait));
      }
      k8s::client api(l, to);
      std::string* const seen = &found.outputs[basic ? "basic" : "token"];
      api.on_outcome([seen](const k8s::fault* f) {
        if (f) *seen += f->message() + "\n";
      });
      const auto note = [&](const k8s::fault& f) {
        ++found.paths;
        *seen += f.message() + " " + f.reason + "\n";
        for (const k8s::cause& c : f.causes) *seen += c.reason + c.message + c.field + "\n";
      };
      for (const echo& e : echoes()) {
        server.otherwise(e.make);
        const k8s::object_key key{"ns", "a"};
        auto got = co_await api.get(k8s::resources::pods(), key);
        if (!got) note(got.error());
        k8s::list_options all;
        auto page = co_await api.list(k8s::resources::pods(), all);
        if (!page) note(page.error());
        auto made = co_await api.create(k8s::resources::pods(), "ns", json::object{});
        if (!made) note(made.error());
        auto applied = co_await api.apply(k8s::resources::pods(), key, json::object{});
        if (!applied) note(applied.error());
        auto removed = co_await api.remove(k8s::resources::pods(), key);
        if (!removed) note(removed.error());
        auto read = co_await api.get_path("/version");
        if (!read) note(read.error());
        k8s::watch_options watching;
        auto watched = co_await api.open_watch(k8s::resources::pods(), watching);
        if (!watched) note(watched.error());
      }
      co_await api.stop();
    }
    EXPECT_TRUE(elsewhere.requests().empty()) << "a credential followed a redirect";
    co_await server.stop();
    co_await elsewhere.stop();
  });
  EXPECT_GE(found.paths, 300u);
  report("requests", found);
}

std::size_t in_memory(const std::array<char, 24>& scrambled) {
  return find_in_memory({{"the bait", std::string(scrambled.data(), scrambled.size())}}).front();
}

/// Twenty-four letters that stand nowhere in the program.
std::array<char, 24> scrambled_bait() {
  std::array<char, 24> out{};
  unsigned x = 12'345;
  for (char& c : out) {
    x = x * 1'103'515'245u + 12'345u;
    c = static_cast<char>(('a' + x / 65'536 % 26) ^ scramble);
  }
  return out;
}

reactor::secret unscrambled(const std::array<char, 24>& scrambled, const std::string& before,
                            const std::string& after) {
  std::string text;
  text.reserve(before.size() + after.size() + scrambled.size());
  text += before;
  for (const char c : scrambled) text += static_cast<char>(c ^ scramble);
  text += after;
  return reactor::secret(std::move(text));
}

TEST(CanaryMemory, AKubeconfigLeavesNothingBehindWhenItIsDropped) {
  const std::array<char, 24> scrambled = scrambled_bait();
  {
    const reactor::secret here = unscrambled(scrambled, "", "");
    EXPECT_GE(in_memory(scrambled), 1u) << "the search finds nothing at all";
  }
  ASSERT_EQ(in_memory(scrambled), 0u);
  const std::string whole = kubeconfig("h", "@");
  const auto split = whole.find('@');
  const auto read = [&](const std::string& field) {
    k8s::kubeconfig_options options;
    options.source = "test";
    const reactor::secret bytes =
        unscrambled(scrambled, whole.substr(0, split) + field, whole.substr(split + 1));
    const auto got = k8s::load_kubeconfig(bytes.reveal(), options);
    return got ? std::string() : got.error().message();
  };
  EXPECT_EQ(read("token: "), "");
  const std::size_t after_token = in_memory(scrambled);
  EXPECT_EQ(read("username: joe, password: "), "");
  const std::size_t after_password = in_memory(scrambled);
  EXPECT_NE(read("exec: {command: x}, token: "), "");
  EXPECT_NE(read("token: \"x\", token: "), "");
  const std::size_t after_errors = in_memory(scrambled);
  std::cout << "## canary kubeconfig memory: whole copies left after a token " << after_token
            << ", a password " << after_password << ", errors " << after_errors << "\n";
  EXPECT_EQ(after_errors, 0u);
}

}  // namespace
}  // namespace canary_run
