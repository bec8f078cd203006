// What was recorded of a question about a Release is asked again, as `policy replay` does: the
// answer is the same, byte for byte.
#include "asking.hpp"
#include "policies/host/record/record.hpp"
#include "releases/rules/planning.hpp"

namespace policies::releases {
namespace {

/// The questions that a gate, a map and a way ask of some real Releases, each with what was
/// answered.
std::vector<question_note> asked_of(asking& ask) {
  std::vector<question_note> notes;
  ask.packs.on_question = [&](const question_note& n) { notes.push_back(n); };
  for (const char* folder : {"capa", "vsphere"}) {
    const auto& releases = real_releases().folders.at(folder).releases;
    for (std::size_t i = releases.size() - 3; i < releases.size(); ++i) {
      auto gate = std::make_shared<gate_question>();
      gate->step = question_about(real_releases(), releases[i - 1], releases[i]);
      (void)ask.map(releases[i]);
      run_task(ask.loop, [&]() -> reactor::awaitable<void> {
        subject anyone;
        auto answer = co_await may_pass(ask.packs, std::move(anyone), gate);
        EXPECT_TRUE(answer) << (answer ? "" : answer.error().message());
      });
    }
  }
  ask.packs.on_question = nullptr;
  return notes;
}

TEST(ReleaseReplay, AnswersARecordedQuestionByteForByte) {
  asking ask;
  const std::vector<question_note> notes = asked_of(ask);
  ASSERT_EQ(notes.size(), 12u);
  for (const question_note& n : notes) {
    ASSERT_TRUE(n.answer) << n.hook;
    std::vector<argument> again;
    for (const argument& a : n.arguments) again.emplace_back(plain_of(a));
    std::string said = "nobody";
    run_task(ask.loop, [&]() -> reactor::awaitable<void> {
      auto whom = ask.packs.select(n.hook, n.about);
      EXPECT_TRUE(whom);
      if (!whom) co_return;
      std::string hook = n.hook;
      auto answer = co_await ask.packs.ask(*whom, std::move(hook), again, n.instructions);
      said = answer && answer->answer ? to_text(*answer->answer) : answer.error().message();
    });
    EXPECT_EQ(said, to_text(*n.answer)) << n.hook;
  }
}

}  // namespace
}  // namespace policies::releases
