// Thousands of answers that no policy would give, in worlds full of obstacles: the safety rules of
// fake_world hold for each, and what was carried out is not planned again.
#include "reactor/plain/entropy.hpp"
#include "tests/compose/fake_world.hpp"

#include <gmock/gmock.h>

namespace policies::compose {
namespace {

class answers {
public:
  explicit answers(std::uint64_t seed) : chance_(seed) {}
  std::uint8_t obstacles() { return static_cast<std::uint8_t>(below(256)); }

  value next() {
    value::array children;
    for (std::uint64_t n = below(5); n > 0; --n) children.push_back(child());
    value::object out{{"children", std::move(children)}};
    if (one_in(2)) out["status"] = value::object{{"a", anything(3)}, {"b", anything(2)}};
    if (one_in(2))
      out["conditions"] = value::array{value::object{
          {"type", pick({"Ready", "B"})}, {"status", pick({"True", "False"})}, {"reason", "R"}}};
    if (one_in(3)) out["finalized"] = one_in(2);
    return out;
  }

private:
  std::uint64_t below(std::uint64_t n) { return chance_.between(std::uint64_t{0}, n - 1); }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::string pick(std::vector<std::string> of) { return of[below(of.size())]; }

  value anything(int depth) {
    switch (below(depth > 0 ? 7 : 5)) {
      case 0: return {};
      case 1: return one_in(2);
      case 2: return static_cast<double>(below(10));
      case 3: return pick({"", "x", "y\n", "# begin shops", "\xE2\x80\xAE"});
      case 4: return value::object{};
      case 5: {
        value::array list;
        for (std::uint64_t n = below(3); n > 0; --n)
          list.push_back(one_in(2)
                             ? value(value::object{{"name", pick({"p", "q"})}, {"v", anything(0)}})
                             : anything(depth - 1));
        return list;
      }
      default: {
        value::object o;
        for (std::uint64_t n = below(3); n > 0; --n)
          o[pick({"k", "l", "name", "template", "metadata", "annotations"})] = anything(depth - 1);
        return o;
      }
    }
  }
  value ask() {
    switch (below(5)) {
      case 0: return value::object{{"generate", pick({"ed25519", "password", "bytes"})}};
      case 1: return value::object{{"public_of", pick({"k", "p"})}};
      case 2:
        return value::object{{"copy", value::object{{"secret", pick({"c", "z"})}, {"key", "k"}}}};
      default: return pick({"", "one", "two"});
    }
  }
  value child() {
    const std::string kind = pick({"ConfigMap", "ConfigMap", "Secret", "Deployment"});
    value::object o{{"apiVersion", kind == "Deployment" ? "apps/v1" : "v1"},
                    {"kind", kind},
                    {"metadata", value::object{{"name", pick({"a", "b", "c", "d", "e", "f"})}}}};
    if (one_in(4))
      std::get<value::object>(o["metadata"].data)["labels"] =
          value::object{{"l", pick({"1", "2"})}};
    if (one_in(20)) o["metadata"] = anything(2);
    value::object out;
    const std::string way = pick({"own", "own", "create", "add-keys", "lines"});
    if (kind == "Secret") {
      value::object data;
      for (std::uint64_t n = below(4); n > 0; --n) data[pick({"k", "l", "p"})] = ask();
      if (one_in(2)) data["p"] = value::object{{"generate", "ed25519"}};
      o["data"] = std::move(data);
    } else if (kind == "ConfigMap") {
      value::object data;
      for (std::uint64_t n = below(3); n > 0; --n)
        data[pick({"k", "l"})] = pick({"1", "2", "[x]\ny"});
      if (one_in(10)) data["k"] = anything(1);
      o["data"] = std::move(data);
      if (way == "lines")
        out["lines"] = value::object{{"k", value::object{{"text", pick({"", "x = 1", "a\nb\n"})},
                                                         {"after", pick({"[x]", "nowhere"})}}}};
    } else {
      o["spec"] = anything(3);
    }
    if (one_in(3)) out["adopt"] = one_in(2);
    if (one_in(4))
      out["inputs"] =
          value::array{pick({"Secret/c", "ConfigMap/a", "Deployment/d", "ConfigMap/e"})};
    out["way"] = way;
    out["object"] = std::move(o);
    return out;
  }

  reactor::seeded_entropy chance_;
};

TEST(ComposeAnswers, AreCarriedOutSafelyAndSettleWhateverTheySay) {
  std::size_t read_well = 0, writes = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    answers a(seed);
    fake_world w;
    furnish(w, a.obstacles());
    for (int round = 0; round < 3; ++round) {  // the pack is edited twice
      const value answer = a.next();
      if (!w.objects.contains(w.parent)) break;
      const auto read = w.read(answer);
      if (!read) continue;
      ++read_well;
      sync_plan p;
      bool gone = false;
      for (int i = 0; i < 8 && !gone; ++i) {
        p = plan_sync(w.look(), *read);
        if (p.actions.empty()) break;
        gone = p.actions.back().what == action::kind::remove_finalizer;
        w.carry_out(p);
      }
      ASSERT_THAT(w.violations, testing::IsEmpty()) << "seed " << seed << ": " << to_text(answer);
      ASSERT_TRUE(gone || p.actions.empty())
          << "seed " << seed << " never settles: " << p.actions.front().of.text() << " "
          << testing::PrintToString(p.actions.front().lines) << "\n"
          << to_text(answer);
      if (gone) break;
    }
    writes += w.writes;
  }
  EXPECT_GT(read_well, 600u);
  std::cout << "## compose: " << read_well << " random answers, " << writes
            << " writes, no rule broken\n";
}

}  // namespace
}  // namespace policies::compose
