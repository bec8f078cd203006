#include "app/output.hpp"

#include "formats/yaml/yaml.hpp"
#include "reactor/plain/printable.hpp"

#include <boost/json.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace app {
namespace {

TEST(Output, JsonHasPlainNumbersAndReadsBackEqual) {
  const boost::json::value v = {{"ratio", 371.5},
                                {"count", 3},
                                {"none", nullptr},
                                {"list", {1, "a\"b"}},
                                {"empty", boost::json::array()}};
  const std::string text = pretty_json(v);
  EXPECT_NE(text.find("\"ratio\": 371.5,"), std::string::npos) << text;
  EXPECT_NE(text.find("\"empty\": []"), std::string::npos) << text;
  EXPECT_EQ(boost::json::parse(text), v);
}

TEST(Output, DigestsAreCutForPeopleAndOnlyWholeOnes) {
  const std::string digest = "sha256:" + std::string(64, 'a');
  EXPECT_EQ(with_short_digests("run " + digest + " on w1"), "run sha256:aaaaaaaaaaaa on w1");
  EXPECT_EQ(with_short_digests("sha256:abc"), "sha256:abc");
  EXPECT_EQ(with_short_digests(digest + digest), "sha256:aaaaaaaaaaaasha256:aaaaaaaaaaaa");
}

TEST(Output, ColumnsAlignByWhatIsSeen) {
  table t({"NAME", "STATE"});
  t.row({"é", toned("Live", tone::good, colours::shown)});
  t.row({"longer", "Stale"});
  EXPECT_EQ(t.text().text(), "NAME    STATE\né       \033[32mLive\033[0m\nlonger  Stale\n");
}

TEST(Output, ColumnsAlignBesideWideAndCombinedCharacters) {
  table t({"NAME", "STATE"});
  t.row({"東京", "Live"});
  t.row({"e\u0301", "Live"});
  t.row({"longer", "Live"});
  EXPECT_EQ(t.text().text(), "NAME    STATE\n東京    Live\ne\u0301       Live\nlonger  Live\n");
}

TEST(Output, AnEndlessCellSticksOutInsteadOfWideningItsColumn) {
  table t({"NAME", "STATE"});
  t.row({std::string(3'000'000, 'x'), "Live"});
  t.row({"a", "Live"});
  const std::string text = t.text().text();
  EXPECT_TRUE(text.ends_with("…  Live\na     Live\n")) << text.substr(text.size() - 60);
  EXPECT_LT(text.size(), 5'000u);
}

TEST(Page, KeepsOurLayoutAndMakesOneLineOfTheirs) {
  const std::string theirs = "a\x1b]0;owned\x07\nb\r\u202ec\u009b2J";
  const page p = page("head\n  ") + theirs + "\n";
  EXPECT_EQ(p.text(), "head\n  a\\u001b]0;owned\\u0007 b \\u202ec\\u009b2J\n");
  EXPECT_EQ(page::lines("one\ntwo\n  three\x1b").text(), "one\n  two\n  three\\u001b");
}

TEST(Page, ABlockIsDrawnWithinTheTerminal) {
  page block = toned(std::string(300, 'x'), tone::good, colours::shown) + "\n";
  block += "second\nthird\n";
  EXPECT_EQ(screen(block, {10, 2}).text(),
            "\033[H\033[2K\033[32m" + std::string(10, 'x') + "\033[0m\r\n\033[2Ksecond");
}

TEST(Page, LongLinesGoOnBetweenWordsWithTheirColourAndIndent) {
  const page text =
      page("  waits:  ") + toned("one two three four", tone::bad, colours::shown) + "\nshort\n";
  EXPECT_EQ(folded(text, 18).text(),
            "  waits:  \033[31mone two\033[0m\n    \033[31mthree four\033[0m\nshort\n");
  EXPECT_EQ(folded(text, any_width), text);
  EXPECT_EQ(folded(page("abcdefgh\n"), 3, 0).text(), "abc\ndef\ngh\n");
}

TEST(Output, ATableThatIsTooWideGoesOnInTheNextLine) {
  table t({"NAME", "WHY"});
  t.row({"node-1", "a budget refuses to evict the pod"});
  t.row({"node-2", toned("東京 is far away", tone::bad, colours::shown)});
  EXPECT_EQ(t.text({}, 20).text(),
            "NAME    WHY\n"
            "node-1  a budget\n"
            "        refuses to\n"
            "        evict the\n"
            "        pod\n"
            "node-2  \033[31m東京 is far\033[0m\n"
            "        \033[31maway\033[0m\n");
}

TEST(Output, AColumnOfWordsGivesBeforeAWordOfAnotherIsBroken) {
  table t({"TARGET", "NOTE"});
  t.row({"0f23c6880a1c", "look for it"});
  EXPECT_EQ(t.text("", 20).text(),
            "TARGET        NOTE\n"
            "0f23c6880a1c  look\n"
            "              for it\n");
  t.row({"437e32e6a80f", "registry.example.com"});
  EXPECT_EQ(t.text("", 24).text(),
            "TARGET\n"
            "    NOTE\n"
            "0f23c6880a1c\n"
            "    look for it\n"
            "437e32e6a80f\n"
            "    registry.example.com\n")
      << "no word is broken: the last column goes below";
}

TEST(Output, MachineTextKeepsItsValueAndShowsNothingUnfit) {
  const boost::json::value v = {{"message", "\x1b]0;x\x07\u009b31m\x7f \u202e Zürich"}};
  for (const auto format : {output_format::json, output_format::yaml}) {
    const std::string text = machine_text(v, format);
    EXPECT_EQ(reactor::printable_lines(text), text);
    EXPECT_EQ(format == output_format::json ? boost::json::parse(text)
                                            : formats::parse_kubernetes_yaml(text, "test").value(),
              v);
  }
}

TEST(Output, MachineYamlLeavesWhatPeopleWriteAsItIs) {
  EXPECT_EQ(machine_text({{"city", "Zürich"}}, output_format::yaml), "city: Zürich\n");
}

/// Pretends to be a terminal's other end.
struct terminal {
  int outer = ::posix_openpt(O_RDWR | O_NOCTTY), inner = -1;
  terminal() {
    ::grantpt(outer);
    ::unlockpt(outer);
    inner = ::open(::ptsname(outer), O_RDWR | O_NOCTTY);
  }
  ~terminal() {
    ::close(inner);
    ::close(outer);
  }
  std::string seen() const {
    char text[1'024];
    const auto n = ::read(outer, text, sizeof text);
    return std::string(text, n > 0 ? static_cast<std::size_t>(n) : 0);
  }
};

TEST(Output, BytesAreHelmsInAPipeAndPrintableOnATerminal) {
  const std::string bytes = "a: \"\x1b]0;owned\x07\"\n\tb\n";
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_TRUE(write_bytes(ends[1], bytes));
  char read[100];
  EXPECT_EQ(std::string(read, static_cast<std::size_t>(::read(ends[0], read, sizeof read))), bytes);
  ::close(ends[0]);
  ::close(ends[1]);
  const terminal t;
  ASSERT_GE(t.inner, 0);
  EXPECT_TRUE(write_bytes(t.inner, bytes));
  const std::string seen = t.seen();
  EXPECT_EQ(seen.find('\x1b'), std::string::npos);
  EXPECT_NE(seen.find("\\u001b]0;owned\\u0007"), std::string::npos) << seen;
}

/// Whoever writes to a terminal goes through app/output; these write elsewhere, or a last word
/// before the end.
const std::set<std::string> writers = {"app/output.cpp",
                                       "app/process.cpp",
                                       "reactor/plain/write.cpp",
                                       "helm/apart/child.cpp",
                                       "reactor/plain/entropy.cpp",
                                       "reactor/log.cpp",
                                       "reactor/system/process.cpp",
                                       "reactor/task_group.cpp",
                                       "policies/host/sandbox.cpp",
                                       "helm/commands/post_renderer.cpp"};

TEST(Output, NothingElseWritesToATerminal) {
  namespace fs = std::filesystem;
  std::size_t files = 0;
  for (const char* layer : {"reactor", "formats", "registry", "k8s", "policies", "bootc", "helm",
                            "app", "service", "compose", "releases", "cli"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(WINDLASS_SOURCE_DIR) / layer)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
      const std::string name = fs::relative(entry.path(), WINDLASS_SOURCE_DIR).generic_string();
      if (writers.contains(name)) continue;
      ++files;
      std::ifstream in(entry.path());
      const std::string text{std::istreambuf_iterator<char>(in), {}};
      for (const char* call :
           {" ::write(", "write_all(STD", "std::cout", "std::cerr", "std::clog", " printf(",
            "::printf(", "fprintf(", "fputs(", "::puts(", "fwrite(", "::perror("})
        EXPECT_EQ(text.find(call), std::string::npos) << name << " calls " << call;
    }
  }
  EXPECT_GT(files, 100u);
}

TEST(Output, ColoursNeedATerminal) {
  EXPECT_EQ(toned("Live", tone::good, colours::none), page("Live"));
}

}  // namespace
}  // namespace app
