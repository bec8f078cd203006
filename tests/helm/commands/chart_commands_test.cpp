// What `helm template`, `show` and `lint` do besides rendering, and what flags make of values; the
// expected texts are those of Helm v3.21.4.
#include "formats/plain/path.hpp"
#include "formats/tar.hpp"
#include "helm/commands/commands.hpp"
#include "helm/commands/flags/command_flags.hpp"
#include "helm/lint/lint.hpp"
#include "tests/gzip.hpp"
#include "tests/reactor/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace helm {
namespace {

using words = std::vector<std::string>;
using files = std::map<std::string, std::string>;

/// A chart in a folder of its own.
class chart_folder {
public:
  explicit chart_folder(const files& of) {
    write("Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\nicon: https://i.example/i.png\n");
    write("values.yaml", "a: {b: 1}\n");
    for (const auto& [name, text] : of) write(name, text);
  }
  void write(const std::string& name, const std::string& text) { folder_.write("c/" + name, text); }
  std::string path() const { return folder_ / "c"; }
  std::string beside(const std::string& name) const { return folder_ / name; }
  std::string file(const std::string& name, const std::string& text) {
    return folder_.write(name, text);
  }

private:
  reactor::temporary_folder folder_;
};

command_result run(words arguments) {
  return run_command(arguments);
}

std::string chart_of(const std::string& name) {
  return "apiVersion: v2\nname: " + name + "\nversion: 0.1.0\nicon: https://i.example/i.png\n";
}

TEST(LintCommand, StrictMakesWarningsFailuresAndNoErrorOfAMissingKey) {
  for (const std::string expression :
       {"{{ .Values.none }}", "{{ .Values.a.none }}", "{{ .Values.none | default 1 }}",
        "{{ if .Values.x }}y{{ end }}", "{{ tpl \"{{ .Values.none }}\" . }}"}) {
    const chart_folder c(
        files{{"templates/t.yaml", "metadata: {name: x}\na: \"" + expression + "\"\n"}});
    const auto r = run({"lint", "--strict", c.path()});
    EXPECT_EQ(r.exit_code, 0) << expression << r.out;
  }
  // A warning: the deprecated kind.
  const chart_folder old(
      files{{"templates/t.yaml",
             "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata:\n  name: x\n"}});
  EXPECT_EQ(run({"lint", old.path()}).exit_code, 0);
  EXPECT_EQ(run({"lint", "--strict", old.path()}).exit_code, 1);
}

TEST(LintCommand, GoesThroughEverythingBelowCharts) {
  chart_folder c(files{
      {"charts/a/Chart.yaml", chart_of("a")},
      {"charts/a/charts/b/Chart.yaml", chart_of("b")},
      {"charts/a/charts/b/charts/deep/Chart.yaml", "apiVersion: v9\nname: deep\nversion: 1.0.0\n"},
      {"charts/z/values.yaml", "{}"}});
  EXPECT_EQ(charts_within(c.path()), (words{c.path() + "/charts/a", c.path() + "/charts/a/charts/b",
                                            c.path() + "/charts/a/charts/b/charts/deep"}));
  c.write("charts/k.tgz", "no archive");
  EXPECT_EQ(charts_within(c.path()).back(), c.path() + "/charts/k.tgz");
  EXPECT_TRUE(charts_within(c.path() + "/charts/z").empty());
  const auto r = run({"lint", "--with-subcharts", c.path()});
  EXPECT_NE(r.out.find("[ERROR] Chart.yaml: apiVersion 'v9' is not valid"), r.out.npos) << r.out;
  EXPECT_NE(r.err.find("5 chart(s) linted"), r.err.npos) << r.err;
}

std::string archive_of(const files& of) {
  formats::tar_writer tar(0);
  for (const auto& [name, text] : of) tar.file(name, text);
  return tests::gzip(std::move(tar).finish());
}

TEST(LintCommand, LooksIntoArchives) {
  chart_folder c(files{});
  const auto linted = [&](const std::string& name, const files& of) {
    return run({"lint", c.file(name, archive_of(of))});
  };
  const auto good =
      linted("good.tgz", {{"c/Chart.yaml", chart_of("c")}, {"c/values.yaml", "a: 1\n"}});
  EXPECT_EQ(good.exit_code, 0) << good.out << good.err;
  EXPECT_NE(good.out.find("1 chart(s) linted, 0 chart(s) failed"), good.out.npos);
  const auto bad =
      linted("bad.tar.gz", {{"x/Chart.yaml", chart_of("other")}, {"x/templates/t.yaml", "{{"}});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_NE(bad.out.find(
                "[ERROR] templates/: parse error at (other/templates/t.yaml:1): unclosed action"),
            bad.out.npos)
      << bad.out;
  EXPECT_NE(linted("none.tgz", {{"c/values.yaml", "a: 1"}})
                .out.find("Error unable to extract tarball: chart name not specified"),
            std::string::npos);
  EXPECT_NE(run({"lint", c.file("torn.tgz", "torn")}).out.find("Error unable to extract tarball: "),
            std::string::npos);
}

TEST(LintCommand, SaysOnStandardErrorWhatHelmLogs) {
  const std::map<std::string, std::string> logged{
      {"{{ required \"give x\" .Values.x }}",
       "engine.go:206: [INFO] Missing required value: give x\n"},
      {"{{ required \"give y\" \"\" }}", "engine.go:214: [INFO] Missing required value: give y\n"},
      {"{{ fail \"no\" }}", "engine.go:227: [INFO] Fail: no\n"},
      {"{{ tpl \"{{ fail \\\"in\\\" }}\" . }}", "engine.go:227: [INFO] Fail: in\n"}};
  for (const auto& [expression, said] : logged) {
    const chart_folder c(
        files{{"templates/t.yaml", "a: {{ if true }}" + expression + "{{ end }}\n"}});
    const auto r = run({"lint", c.path()});
    EXPECT_EQ(r.exit_code, 0) << r.out;
    EXPECT_EQ(r.err, said);
  }
  // Values that do not fit onto the chart's.
  const chart_folder c(files{{"templates/t.yaml", "a: b\n"}});
  const auto r = run({"lint", c.path(), "--set", "a=1"});
  EXPECT_NE(r.err.find("cannot overwrite table with non table"), r.err.npos) << r.err;
}

TEST(LintCommand, RefusesAKubeVersionThatIsNone) {
  const chart_folder c(files{});
  const std::pair<std::string, std::string> rows[] = {
      {"latest", "could not parse \"latest\" as version"},
      {"v", "could not parse \"v\" as version"},
      {"one.two", "could not parse \"one.two\" as version"},
      {"1", "illegal version string \"1\""},
      {"1.x", "illegal version string \"1.x\""},
      {"1..2", "illegal version string \"1..2\""},
      {"01.2", "illegal zero-prefixed version component \"01\" in \"01.2\""},
      {"1.99999999999999999999",
       "illegal non-numeric version component \"99999999999999999999\" in "
       "\"1.99999999999999999999\": strconv.ParseUint: parsing \"99999999999999999999\": value "
       "out of range"},
  };
  for (const auto& [version, why] : rows)
    for (const std::string verb : {"lint", "template"}) {
      const auto r = run({verb, c.path(), "--kube-version", version});
      EXPECT_EQ(r.exit_code, 1);
      EXPECT_EQ(r.err, "Error: invalid kube version '" + version + "': " + why + "\n");
    }
}

TEST(TemplateCommand, ShowsAKubeVersionWithTheNumbersThatWereGiven) {
  const chart_folder c(files{{"templates/t.yaml", "a: {{ .Capabilities.KubeVersion }}\n"}});
  const std::pair<std::string, std::string> rows[] = {
      {"1.31", "v1.31"},      {"v1.31.2", "v1.31.2"}, {"v1.30.1-gke.5", "v1.30.1"},
      {"1.02.003", "v1.2.3"}, {"1.2.x", "v1.2"},      {" 0.1", "v0.1"},
  };
  for (const auto& [version, is] : rows) {
    const auto r = run({"template", c.path(), "--kube-version", version});
    EXPECT_NE(r.out.find("a: " + is + "\n"), r.out.npos) << version << r.out << r.err;
  }
}

TEST(LintCommand, NamesAChartByItsAbsolutePath) {
  const chart_folder c(files{{"charts/s/Chart.yaml", chart_of("s")}});
  for (const std::string end : {"", "/", "/.", "/charts/.."}) {
    const auto r = run({"lint", c.path() + end});
    EXPECT_NE(
        r.out.find("[ERROR] " + c.path() + ": chart metadata is missing these dependencies: s"),
        r.out.npos)
        << r.out;
  }
  const auto none = run({"lint", c.beside("./none/")});
  EXPECT_NE(none.out.find("Error unable to check Chart.yaml file in chart: stat " +
                          formats::clean_path(c.beside("none")) +
                          "/Chart.yaml: no such file or directory"),
            none.out.npos)
      << none.out;
}

TEST(ShowCommand, WritesCrdsAsTheyAre) {
  const chart_folder c(files{
      {"crds/a.yaml", "kind: A\n"}, {"crds/b.yaml", "---\nkind: B\n"}, {"crds/c.yaml", "kind: C"}});
  EXPECT_EQ(run({"show", "crds", c.path()}).out, "kind: A\n\n---\nkind: B\n\nkind: C\n");
  EXPECT_TRUE(
      run({"show", "all", c.path()}).out.ends_with("---\nkind: A\n\n---\nkind: B\n\nkind: C\n"));
  const auto none = run({"show", "crds"});
  EXPECT_EQ(
      none.err,
      "Error: \"helm show crds\" requires 1 argument\n\nUsage:  helm show crds [CHART] [flags]\n");
}

TEST(ShowCommand, ShowsWhatAPathFindsInTheValues) {
  const chart_folder c(files{{"values.yaml", "big: 10000000\nlist: [a, 1, {k: v}]\ntext: x\n"}});
  const std::pair<const char*, const char*> rows[] = {
      {"{.big}", "1e+07"},
      {"{.list}", R"(["a",1,{"k":"v"}])"},
      {"{.list[*]}", R"(a 1 {"k":"v"})"},
      {"{.nope}", ""},
      {"{.list[9]}", ""},
      {"{.text}{\"\\n\"}", "x\n"},
      {".text", ".text"},
      {"", "big: 10000000\nlist: [a, 1, {k: v}]\ntext: x\n\n"},
  };
  for (const auto& [path, shown] : rows) {
    const auto r = run({"show", "values", c.path(), "--jsonpath", path});
    EXPECT_EQ(r.out, shown) << path;
    EXPECT_EQ(r.exit_code, 0) << path << r.err;
  }
  const auto wrong = run({"show", "values", c.path(), "--jsonpath={"});
  EXPECT_EQ(wrong.err, "Error: error parsing jsonpath {: unclosed action\n");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_EQ(run({"show", "all", c.path(), "--jsonpath", "{.big}"}).err,
            "Error: unknown flag: --jsonpath\n");
}

TEST(TemplateCommand, LeavesTheReleasesNameOutOfThePathsOfCrds) {
  const chart_folder c(files{{"crds/x.yaml", "kind: X\n"},
                             {"templates/t.yaml", "a: b\n"},
                             {"templates/d/u.yaml", "c: d\n"}});
  const std::string out = c.beside("out");
  const auto r =
      run({"template", "rel", c.path(), "--output-dir", out, "--include-crds", "--release-name"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_TRUE(std::ifstream(out + "/c/crds/x.yaml"));
  EXPECT_TRUE(std::ifstream(out + "/rel/c/templates/t.yaml"));
  EXPECT_TRUE(std::ifstream(out + "/rel/c/templates/d/u.yaml"));
}

TEST(TemplateCommand, AsksTheClusterWhereDryRunSaysSo) {
  const chart_folder c(
      files{{"templates/t.yaml", "a: {{ (lookup \"v1\" \"Namespace\" \"\" \"x\").kind }}\n"}});
  const std::map<std::string, bool> asks{{"--dry-run=server", true}, {"--dry-run=none", true},
                                         {"--dry-run=false", true},  {"--dry-run=client", false},
                                         {"--dry-run=true", false},  {"--dry-run", false}};
  for (const auto& [flag, wanted] : asks) {
    peers ask;
    bool asked = false;
    ask.lookups = [&](const cluster_flags& f) {
      EXPECT_EQ(f.context, "there");
      return [&](const std::string&, const std::string&, const std::string&, const std::string&) {
        asked = true;
        return value(value::map_type{{"kind", "Namespace"}});
      };
    };
    const words line{"template", "r", c.path(), flag, "--kube-context", "there"};
    const auto r = run_command(line, {}, ask);
    EXPECT_EQ(asked, wanted) << flag << r.err;
    EXPECT_EQ(r.out.find("a: Namespace") != r.out.npos, wanted) << r.out;
  }
  const auto wrong = run({"template", "r", c.path(), "--dry-run=maybe"});
  EXPECT_EQ(
      wrong.err,
      "Error: Invalid dry-run flag. Flag must one of the following: false, true, none, client, "
      "server\n");
}

TEST(TemplateCommand, TakesTheNamespaceOfTheKubeconfigsContext) {
  const chart_folder c(files{{"templates/t.yaml", "a: {{ .Release.Namespace }}\n"}});
  peers ask;
  ask.home_namespace = [](const cluster_flags& f) { return f.context == "x" ? "of-x" : ""; };
  const auto with = [&](words more) {
    words line{"template", "r", c.path()};
    line.insert(line.end(), more.begin(), more.end());
    return run_command(line, {}, ask).out;
  };
  EXPECT_NE(with({}).find("a: default"), std::string::npos);
  EXPECT_NE(with({"--kube-context", "x"}).find("a: of-x"), std::string::npos);
  EXPECT_NE(with({"--kube-context", "x", "-n", "mine"}).find("a: mine"), std::string::npos);
}

TEST(ValueFlags, AddressesAreFetchedAndFilesAreRead) {
  const std::map<std::string, words> addresses{
      {"-f http://h/v.yaml", {"http://h/v.yaml"}},
      {"-f HTTPS://h/v.yaml?x=1", {"HTTPS://h/v.yaml?x=1"}},
      {"-f oci://h/c", {"oci://h/c"}},
      {"-f ftp://h/v.yaml", {}},
      {"-f a:b.yaml", {}},
      {"-f -", {}},
      {"-f https://h/a,https://h/b", {"https://h/a", "https://h/b"}},
      {"--set-file k=http://h/k", {"http://h/k"}},
      {"--set-file a.b[0]=x.txt,c=https://h/c", {"https://h/c"}}};
  for (const auto& [line, expected] : addresses) {
    value_options o;
    command_flags f;
    add_value_flags(f, o);
    const auto space = line.find(' ');
    const words arguments{line.substr(0, space), line.substr(space + 1)};
    ASSERT_TRUE(f.parse(arguments)) << line;
    EXPECT_EQ(addresses_in(o), expected) << line;
  }
  const chart_folder c(
      files{{"templates/t.yaml", "a: {{ .Values.a }}\nk: {{ .Values.k | quote }}\n"}});
  peers ask;
  words asked;
  ask.fetch = [&](const std::string& address) -> outcome<std::string> {
    asked.push_back(address);
    if (address.ends_with("/gone"))
      return problem{"failed to fetch " + address + " : 404 Not Found"};
    return std::string(address.ends_with("/v") ? "a: far" : "text\n");
  };
  const auto rendered = run_command(
      words{"template", "r", c.path(), "-f", "http://h/v", "--set-file", "k=https://h/k"}, {}, ask);
  EXPECT_NE(rendered.out.find("a: far\nk: \"text\\n\""), rendered.out.npos)
      << rendered.out << rendered.err;
  EXPECT_EQ(asked, (words{"http://h/v", "https://h/k"}));
  EXPECT_EQ(run_command(words{"template", "r", c.path(), "-f", "http://h/gone"}, {}, ask).err,
            "Error: failed to fetch http://h/gone : 404 Not Found\n");
}

TEST(ValueFlags, ReadEveryNameAsAnAddressFirst) {
  const chart_folder c(files{});
  const std::map<std::string, std::string> wrong{
      {"%zz", "parse \"%zz\": invalid URL escape \"%zz\""},
      {":x", "parse \":x\": missing protocol scheme"},
      {"http://h:p/x", "parse \"http://h:p/x\": invalid port \":p\" after host"},
      {"a:b", "open a:b: no such file or directory"}};
  for (const auto& [name, why] : wrong)
    EXPECT_EQ(run({"template", "r", c.path(), "-f", name}).err, "Error: " + why + "\n");
}

TEST(ValueFlags, AnEmptyNameIsNothing) {
  const chart_folder c(files{{"templates/t.yaml", "a: {{ .Values.a.b }}\n"}});
  for (const words& flag :
       {words{"-f", ""}, words{"--values="}, words{"-f", "", "-f", ""}, words{"-a", ""}}) {
    words line{"template", "r", c.path()};
    line.insert(line.end(), flag.begin(), flag.end());
    EXPECT_EQ(run(line).exit_code, 0) << flag[0];
  }
  EXPECT_EQ(run({"lint", c.path(), "-f", ""}).exit_code, 0);
}

TEST(ValueFlags, SayNoMoreThanHelmOfBrokenJson) {
  const chart_folder c(files{});
  for (const std::string text : {"x=[1", "x={\"a\"", "[1", "y", "z=nul"})
    EXPECT_EQ(run({"template", "r", c.path(), "--set-json", text}).err,
              "Error: failed parsing --set-json data " + text + "\n");
}

TEST(CommandFlags, SplitListsAsALineOfCsv) {
  struct row {
    std::string given;
    words expected;
    std::string wrong = {};
  };
  for (const row& r :
       {row{"", {}}, row{"a,b", {"a", "b"}}, row{"a,", {"a", ""}}, row{"\"a,b\",c", {"a,b", "c"}},
        row{"\"a\"\"b\"", {"a\"b"}}, row{"a\nb", {"a"}},
        row{"\"a", {}, "parse error on line 1, column 3: extraneous or missing \" in quoted-field"},
        row{"a\"b", {}, "parse error on line 1, column 2: bare \" in non-quoted-field"},
        row{"\"a\"b",
            {},
            "parse error on line 1, column 3: extraneous or missing \" in quoted-field"}}) {
    words into;
    command_flags f;
    f.split_list("list", 'l', into);
    const auto done = f.parse(words{"-l", r.given});
    EXPECT_EQ(static_cast<bool>(done), r.wrong.empty()) << r.given;
    if (done)
      EXPECT_EQ(into, r.expected) << r.given;
    else
      EXPECT_TRUE(done.error().text.ends_with("for \"-l, --list\" flag: " + r.wrong))
          << done.error().text;
  }
}

TEST(CommandFlags, PairsWithOneEqualsSignKeepTheirCommas) {
  const std::map<std::string, std::map<std::string, std::string>> given{
      {"a=1", {{"a", "1"}}},
      {"a=1,b", {{"a", "1,b"}}},
      {"a=1,b=2", {{"a", "1"}, {"b", "2"}}},
      {"\"a=1\"", {{"a", "1"}}},
      {"a=x=y", {{"a", "x=y"}}}};
  for (const auto& [text, expected] : given) {
    std::map<std::string, std::string> into;
    command_flags f;
    f.pairs("labels", 0, into);
    ASSERT_TRUE(f.parse(words{"--labels", text})) << text;
    EXPECT_EQ(into, expected) << text;
  }
}

TEST(CommandFlags, ValuesOfFlagsWithoutEffectAreReadAllTheSame) {
  const chart_folder c(files{});
  const std::map<std::string, std::string> wrong{
      {"--timeout=5", "time: missing unit in duration \"5\""},
      {"--wait=maybe", "strconv.ParseBool: parsing \"maybe\": invalid syntax"},
      {"--burst-limit=x", "strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"--qps=x", "strconv.ParseFloat: parsing \"x\": invalid syntax"},
      {"--qps=1e400", "strconv.ParseFloat: parsing \"1e400\": value out of range"}};
  for (const auto& [flag, why] : wrong) {
    const auto r = run({"template", "r", c.path(), flag});
    EXPECT_NE(r.err.find(" flag: " + why), r.err.npos) << r.err;
  }
  for (const std::string flag : {"--timeout=5s", "--wait=t", "--burst-limit=7", "--qps=0.5"})
    EXPECT_EQ(run({"template", "r", c.path(), flag}).exit_code, 0) << flag;
}

TEST(CommandFlags, AnUnsupportedBooleanMayBeGivenAsFalse) {
  const chart_folder c(files{});
  for (const std::string flag : {"--validate", "--dependency-update", "--enable-dns"}) {
    EXPECT_EQ(run({"template", "r", c.path(), flag}).exit_code, 2) << flag;
    EXPECT_EQ(run({"template", "r", c.path(), flag + "=true"}).exit_code, 2) << flag;
    EXPECT_EQ(run({"template", "r", c.path(), flag + "=false"}).exit_code, 0) << flag;
    EXPECT_EQ(run({"template", "r", c.path(), flag + "=maybe"}).exit_code, 1) << flag;
  }
  EXPECT_EQ(run({"template", "r", c.path(), "--kube-as-user=false"}).exit_code, 2);
}

TEST(CommandFlags, OneThatIsGivenTwiceTakesTheLast) {
  std::string text;
  int number = 0;
  bool on = false;
  command_flags f;
  f.text("text", 't', text);
  f.number("number", 0, number);
  f.flag("on", 0, on);
  ASSERT_TRUE(
      f.parse(words{"--text", "a", "-tb", "--number=1", "--number=2", "--on", "--on=false"}));
  EXPECT_EQ(text, "b");
  EXPECT_EQ(number, 2);
  EXPECT_FALSE(on);
}

TEST(FilesGlob, MatchesAsHelmsLibraryDoes) {
  const std::map<std::string, std::string> globs{{"f/*.txt", "f/a.txt,f/b.txt,f/ö.txt,"},
                                                 {"f/{a,b}.txt", "f/a.txt,f/b.txt,"},
                                                 {"f/{a.txt", "f/a.txt,"},
                                                 {"f/{a,b.txt", "f/b.txt,"},
                                                 {"f/a.txt\\\\", "f/a.txt,"},
                                                 {"f/?.txt", "f/a.txt,f/b.txt,"},
                                                 {"f/[a-a].txt", "f/a.txt,"},
                                                 {"f/[!a].txt", "f/b.txt,"},
                                                 {"f/[b-a].txt", "f/a.txt,f/b.txt,f/ö.txt,g/c,"},
                                                 {"f/[].txt", "f/a.txt,f/b.txt,f/ö.txt,g/c,"},
                                                 {"?/?", "g/c,"},
                                                 {"[a-h]/[abc]", "g/c,"}};
  for (const auto& [pattern, expected] : globs) {
    const chart_folder c(files{{"f/a.txt", "1"},
                               {"f/b.txt", "2"},
                               {"f/ö.txt", "3"},
                               {"g/c", "4"},
                               {"templates/t.yaml", "a: {{ range $n, $_ := .Files.Glob \"" +
                                                        pattern + "\" }}{{ $n }},{{ end }}\n"}});
    const auto r = run({"template", "r", c.path()});
    EXPECT_NE(r.out.find("a: " + expected + "\n"), r.out.npos) << pattern << "\n" << r.out << r.err;
  }
}

TEST(IgnoreFile, RefusesPatternsWhoseEndIsBroken) {
  for (const std::string line : {"zz[", "x/[a-", "nothing\\", "*.md\nfoo[b", "!q["}) {
    const chart_folder c(files{{".helmignore", line + "\n"}});
    EXPECT_EQ(run({"template", "r", c.path()}).err, "Error: syntax error in pattern\n") << line;
  }
  const chart_folder good(files{{".helmignore", "zz[a]\nx\\y\n*.bak/\n"}});
  EXPECT_EQ(run({"template", "r", good.path()}).exit_code, 0);
}

TEST(LogLines, StandBehindTheirPlaceInHelmsSources) {
  const chart_folder c(files{{"templates/t.yaml", "a: b\n"},
                             {"values.yaml", "t: {x: {k: 1}, z: 1}\ns: {}\n"},
                             {"charts/s/Chart.yaml", chart_of("s")},
                             {"charts/s/values.yaml", "u: {y: 1}\nv: 1\n"}});
  const std::map<std::string, std::string> said{
      {"t.x=1",
       "coalesce.go:316: warning: cannot overwrite table with non table for c.t.x (map[k:1])\n"},
      {"t.z.w=1",
       "coalesce.go:319: warning: destination for c.t.z is a table. Ignoring non-table value "
       "(1)\n"},
      {"s.v.w=1", "coalesce.go:237: warning: skipped value for c.s.v: Not a table.\n"}};
  for (const auto& [set, line] : said)
    EXPECT_NE(run({"template", "r", c.path(), "--set", set}).err.find(line), std::string::npos)
        << set << run({"template", "r", c.path(), "--set", set}).err;
}

TEST(LogLines, TellOfLinksInAChart) {
  chart_folder c(files{{"templates/t.yaml", "a: b\n"}, {"d/in.txt", "x"}});
  const std::string other = c.file("other.txt", "y");
  std::filesystem::create_symlink(other, c.path() + "/link.txt");
  std::filesystem::create_symlink("../d/in.txt", c.path() + "/templates/NOTES.txt");
  std::filesystem::create_directory_symlink("d", c.path() + "/e");
  const auto line = [&](const std::string& from, const std::string& to) {
    return "walk.go:75: found symbolic link in path: " + c.path() + "/" + from + " resolves to " +
           to + ". Contents of linked file included and used\n";
  };
  const std::string all = line("e", c.path() + "/d") + line("link.txt", other) +
                          line("templates/NOTES.txt", c.path() + "/d/in.txt");
  EXPECT_EQ(run({"template", "r", c.path() + "/."}).err, all);
  EXPECT_EQ(run({"show", "chart", c.path()}).err, all);
  EXPECT_EQ(run({"lint", c.path()}).err, all + all) << "it is loaded twice";
}

TEST(YamlFunctions, AListThatIsNothingIsEmpty) {
  const files expressions{{"fromYamlArray \"\" | toJson", "[]"},
                          {"fromYamlArray \"# c\" | toJson", "[]"},
                          {"fromYamlArray \"null\" | toYaml", "[]"},
                          {"dict \"x\" (fromYamlArray \"~\") | toJson", "{\"x\":[]}"},
                          {"fromJsonArray \"null\" | toJson", "null"}};
  for (const auto& [expression, expected] : expressions) {
    const chart_folder c(files{{"templates/t.yaml", "a: '{{ " + expression + " }}'\n"}});
    EXPECT_NE(run({"template", "r", c.path()}).out.find("a: '" + expected + "'"), std::string::npos)
        << expression;
  }
}

TEST(RegexFunctions, TakeNamesOfGroupsAsGoDoes) {
  const files expressions{{"regexReplaceAll `(?<x>b+)` `abba` `<${x}>`", "a<bb>a"},
                          {"regexReplaceAll `(?<a1>a)(?P<b_2>b)` `ab` `${b_2}${a1}`", "ba"},
                          {"regexFind `[(?<n>]+` `a(<?b`", "(<?"},
                          {"regexMatch `\\(?<n>` `(<n>`", "true"},
                          {"regexFind `\\Q(?<n>\\E` `(?<n>`", "(?<n>"},
                          {"regexMatch `(?<n-m>a)` `a`", "false"},
                          {"regexReplaceAll `[[:alpha:]](?<d>[0-9])` `a1b2` `$d`", "12"}};
  for (const auto& [expression, expected] : expressions) {
    const chart_folder c(files{{"templates/t.yaml", "a: '{{ " + expression + " }}'\n"}});
    const auto r = run({"template", "r", c.path()});
    EXPECT_NE(r.out.find("a: '" + expected + "'"), r.out.npos) << expression << r.out << r.err;
  }
  const files wrong{{"(?<=x)", "invalid named capture: `(?<=x)`"},
                    {"(?<!x)a", "invalid named capture: `(?<!x)a`"},
                    {"(?<n-m>a)", "invalid named capture: `(?<n-m>`"},
                    {"(?P<n-m>a)", "invalid named capture: `(?P<n-m>`"}};
  for (const auto& [pattern, why] : wrong) {
    const chart_folder c(
        files{{"templates/t.yaml", "a: {{ mustRegexFind \"" + pattern + "\" `x` }}\n"}});
    const auto r = run({"template", "r", c.path()});
    EXPECT_NE(r.err.find("error parsing regexp: " + why), r.err.npos) << r.err;
  }
}

/// The names of the templates and definitions that are rendered, with what a template says.
std::string sources_of(const std::string& out) {
  std::string all;
  for (std::string line; const char c : out) {
    if (c != '\n') {
      line += c;
      continue;
    }
    if (line.starts_with("# Source: c/charts/")) all += line.substr(19) + "\n";
    if (line.starts_with("v: ")) all += line + "\n";
    line.clear();
  }
  return all;
}

TEST(TemplateCommand, NamesSubchartsThatCopiesShareByTheParentThatHelmKeeps) {
  const std::string one = "- {name: a, version: 1.0.0, alias: one}\n",
                    two = "- {name: a, version: 1.0.0, alias: two, condition: two.on}\n",
                    own = "- {name: a, version: 1.0.0}\n",
                    declares_d = "dependencies:\n- {name: d, version: 1.0.0, alias: e}\n";
  struct row {
    std::string of_a, of_root, set, sources;
  };
  const std::vector<row> rows{
      // Without a list a chart is not processed: what is below it stays below the chart as loaded.
      {"", one, "",
       "a/charts/s/crds/k.yaml\na/charts/d/templates/t.yaml\nv: d\n"
       "a/charts/s/charts/u/templates/t.yaml\nv: u\na/charts/s/templates/t.yaml\nv: s\n"
       "one/templates/t.yaml\nv: one 1\n"},
      {"", one + two, "",
       "a/charts/s/crds/k.yaml\na/charts/s/crds/k.yaml\na/charts/d/templates/t.yaml\nv: d\n"
       "a/charts/s/charts/u/templates/t.yaml\nv: u\na/charts/s/templates/t.yaml\nv: s 2\n"
       "one/templates/t.yaml\nv: one 1\ntwo/templates/t.yaml\nv: two 2\n"},
      // An empty list is one: the copy that is processed last has them.
      {"dependencies: []\n", one + two, "",
       "two/charts/s/crds/k.yaml\ntwo/charts/s/crds/k.yaml\none/templates/t.yaml\nv: one 1\n"
       "two/charts/d/templates/t.yaml\nv: d\ntwo/charts/s/charts/u/templates/t.yaml\nv: u\n"
       "two/charts/s/templates/t.yaml\nv: s 2\ntwo/templates/t.yaml\nv: two 2\n"},
      // The alias within is used up by the first copy.
      {declares_d, one + two, "",
       "two/charts/s/crds/k.yaml\ntwo/charts/s/crds/k.yaml\none/charts/e/templates/t.yaml\nv: e\n"
       "one/templates/t.yaml\nv: one 1\ntwo/charts/d/templates/t.yaml\nv: d\n"
       "two/charts/s/charts/u/templates/t.yaml\nv: u\ntwo/charts/s/templates/t.yaml\nv: s 2\n"
       "two/templates/t.yaml\nv: two 2\n"},
      {declares_d, own + one, "",
       "one/charts/s/crds/k.yaml\none/charts/s/crds/k.yaml\na/charts/e/templates/t.yaml\nv: e\n"
       "a/templates/t.yaml\nv: a 3\none/charts/d/templates/t.yaml\nv: d\n"
       "one/charts/s/charts/u/templates/t.yaml\nv: u\none/charts/s/templates/t.yaml\nv: s\n"
       "one/templates/t.yaml\nv: one 1\n"},
      {declares_d, one + two, "two.on=false",
       "one/charts/s/crds/k.yaml\none/charts/e/templates/t.yaml\nv: e\n"
       "one/charts/s/charts/u/templates/t.yaml\nv: u\none/charts/s/templates/t.yaml\nv: s\n"
       "one/templates/t.yaml\nv: one 1\n"},
  };
  const std::string says = "v: {{ .Chart.Name }}{{ with .Values.m }} {{ . }}{{ end }}\n";
  const auto chart = [](const std::string& name) {
    return "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n";
  };
  const std::string a = "charts/a/", s = a + "charts/s/", u = s + "charts/u/", d = a + "charts/d/";
  for (const auto& r : rows) {
    SCOPED_TRACE(r.of_a + r.of_root + r.set);
    const chart_folder c(files{{"Chart.yaml", chart_of("c") + "dependencies:\n" + r.of_root},
                               {"values.yaml", "one: {m: 1}\ntwo: {m: 2, s: {m: 2}}\na: {m: 3}\n"},
                               {a + "Chart.yaml", chart("a") + r.of_a},
                               {a + "templates/t.yaml", says},
                               {s + "Chart.yaml", chart("s")},
                               {s + "templates/t.yaml", says},
                               {s + "crds/k.yaml", "kind: CustomResourceDefinition\n"},
                               {u + "Chart.yaml", chart("u")},
                               {u + "templates/t.yaml", says},
                               {d + "Chart.yaml", chart("d")},
                               {d + "templates/t.yaml", says}});
    words command{"template", "r", c.path(), "--include-crds"};
    if (!r.set.empty()) command.insert(command.end(), {"--set", r.set});
    EXPECT_EQ(sources_of(run(command).out), r.sources);
  }
}

TEST(TemplateCommand, AnEmptyListBelowAChartWithoutOneStillCountsForValues) {
  // With a list, the chart's own globals are in its subchart's section before the parent's come,
  // and a table does not replace a text.
  for (const auto& [list, is] : std::vector<std::pair<std::string, std::string>>{
           {"", R"({"k":{"t":1}})"},
           {"dependencies: []\n", R"({"k":"x"})"},
           {"dependencies: null\n", R"({"k":{"t":1}})"}}) {
    SCOPED_TRACE(list);
    const std::string s = "charts/s/", t = "charts/s/charts/t/";
    const chart_folder c(
        files{{"Chart.yaml", chart_of("c")},
              {"values.yaml", "s: {global: {k: {t: 1}}}\n"},
              {s + "Chart.yaml", "apiVersion: v2\nname: s\nversion: 1.0.0\n" + list},
              {s + "values.yaml", "global: {k: x}\n"},
              {t + "Chart.yaml", "apiVersion: v2\nname: t\nversion: 1.0.0\n"},
              {t + "templates/t.yaml", "v: {{ toJson .Values.global }}\n"}});
    EXPECT_EQ(sources_of(run({"template", "r", c.path()}).out),
              "s/charts/t/templates/t.yaml\nv: " + is + "\n");
  }
}

TEST(TemplateCommand, NamesTheFirstPartOfALinksWayThatIsNotThere) {
  namespace fs = std::filesystem;
  const chart_folder c(files{{"Chart.yaml", chart_of("c")}, {"templates/t.yaml", "v: 1\n"}});
  const fs::path root = fs::canonical(c.path()), link = root / "templates/l.tpl";
  const std::pair<std::string, std::string> rows[] = {
      {"../../gone/far/x.tpl", "lstat " + (root.parent_path() / "gone").string()},
      {"/nowhere-at-all/x.tpl", "lstat /nowhere-at-all"},
      {"../templates/none/../t.yaml", "lstat " + (root / "templates/none").string()},
      {"l.tpl", ""},
  };
  for (const auto& [to, why] : rows) {
    fs::remove(link);
    fs::create_symlink(to, link);
    EXPECT_EQ(
        run({"template", "r", root.string()}).err,
        "Error: error evaluating symlink " + link.string() + ": " +
            (why.empty() ? "EvalSymlinks: too many links" : why + ": no such file or directory") +
            "\n");
  }
  // Through another link, which is met first.
  fs::remove(link);
  fs::create_symlink(".next", link);
  fs::create_symlink("../missing/y", root / "templates/.next");
  EXPECT_EQ(run({"template", "r", root.string()}).err,
            "Error: error evaluating symlink " + (root / "templates/.next").string() + ": lstat " +
                (root / "missing").string() + ": no such file or directory\n");
}

// Helm adds a later import to the table of the child that was imported first, unless that is empty,
// and notes nulls of the first in the table of the later one.
TEST(TemplateCommand, ImportsChangeTheTablesThatTheyComeFromAsHelmsDo) {
  struct row {
    std::string one, two, values_of_one, values_of_two, values;
  };
  const std::string global = "[{child: global, parent: x}]";
  const std::vector<row> rows{
      {"[data]", "[data]", "exports: {data: {k: null, m: 1}}\n", "exports: {data: {m: 2}}\n",
       R"({"k":null,"m":1,"one":{"exports":{"data":{"k":null,"m":1}},"global":{}},)"
       R"("two":{"exports":{"data":{"k":null,"m":2}},"global":{}}})"},
      {"[data]", "[{child: exports.data, parent: .}]", "exports: {data: {t: {k: null}}}\n",
       "exports: {data: {t: {m: 2}}}\n",
       R"({"one":{"exports":{"data":{"t":{"k":null,"m":2}}},"global":{}},"t":{"k":null,"m":2},)"
       R"("two":{"exports":{"data":{"t":{"k":null,"m":2}}},"global":{}}})"},
      {global, global, "", "global: {m: 1}\n",
       R"({"one":{"global":{}},"two":{"global":{"m":1}},"x":{"m":1}})"},
      {global, global, "global: {k: 2}\n", "global: {m: 1}\n",
       R"({"one":{"global":{"k":2,"m":1}},"two":{"global":{"m":1}},"x":{"k":2,"m":1}})"},
  };
  for (const auto& r : rows) {
    SCOPED_TRACE(r.values);
    const chart_folder c(files{
        {"Chart.yaml", chart_of("c") +
                           "dependencies:\n- {name: one, version: 1.0.0, import-values: " + r.one +
                           "}\n- {name: two, version: 1.0.0, import-values: " + r.two + "}\n"},
        {"templates/t.yaml", "v: {{ toJson .Values }}\n"},
        {"values.yaml", "\n"},
        {"charts/one/Chart.yaml", "apiVersion: v2\nname: one\nversion: 1.0.0\n"},
        {"charts/one/values.yaml", r.values_of_one},
        {"charts/two/Chart.yaml", "apiVersion: v2\nname: two\nversion: 1.0.0\n"},
        {"charts/two/values.yaml", r.values_of_two}});
    EXPECT_EQ(sources_of(run({"template", "r", c.path()}).out), "v: " + r.values + "\n");
  }
}

TEST(CommandResult, WarningsComeBeforeTheOutputAndTheErrorAfterIt) {
  const auto shown = [](const command_result& r) {
    std::string all;
    for (const auto& [descriptor, text] : r.in_order())
      all += std::to_string(descriptor) + "<" + std::string(text) + ">";
    return all;
  };
  command_result r{"out", "warned\n"};
  EXPECT_EQ(shown(r), "2<warned\n>1<out>2<>");
  r.fail("it broke");
  EXPECT_EQ(shown(r), "2<warned\n>1<out>2<Error: it broke\n>");
  EXPECT_EQ(r.exit_code, 1);
  const chart_folder c(files{{"Chart.yaml", chart_of("c")},
                             {"values.yaml", "a: {b: 1}\n"},
                             {"templates/t.yaml", "v: {{ required \"set x\" .Values.x }}\n"}});
  const auto order = [&](words command) {
    std::string all;
    const auto r = run(std::move(command));
    for (const auto& [descriptor, text] : r.in_order())
      if (!text.empty()) all += std::to_string(descriptor) + std::string(text.substr(0, 12)) + "|";
    return all;
  };
  EXPECT_EQ(order({"lint", c.path()}), "2engine.go:20|1==> Linting |");
  EXPECT_EQ(order({"lint", c.path(), "--set", "a=1"}), "2coalesce.go:|1==> Linting |");
  EXPECT_EQ(order({"template", "r", c.path(), "--set", "a.b.c=1,x=1"}),
            "2coalesce.go:|1---\n# Source|");
  EXPECT_EQ(order({"lint", c.path(), c.path() + "/none"}),
            "2engine.go:20|1==> Linting |2Error: 2 cha|");
}

TEST(TemplateCommand, AChartThatIsThereTwiceImportsValuesOnce) {
  // What the chart y exports, as x asks for it, and what the first of three x makes of it.
  const struct {
    const char *asked, *imported;
  } rows[] = {
      {"[d]", R"("a":1,)"},
      {"[{child: exports.e, parent: deep.er}]", R"("deep":{"er":{"b":2}},)"},
      {"[{child: exports.d, parent: .}, e]", R"("a":1,"b":2,)"},
  };
  for (const auto& [asked, imported] : rows) {
    const std::string x = "apiVersion: v2\nname: x\nversion: 1.0.0\n", y = "charts/x/charts/y/";
    const chart_folder c(files{
        {"Chart.yaml",
         chart_of("c") + "dependencies:\n- {name: x, version: 1.0.0, alias: one}\n"
                         "- {name: x, version: 1.0.0, alias: two}\n- {name: x, version: 1.0.0}\n"},
        {"charts/x/Chart.yaml",
         x + "dependencies:\n- {name: why, version: 1.0.0, import-values: " + asked + "}\n"},
        {"charts/x/templates/t.yaml", "v: {{ toJson .Values }}\n"},
        {y + "Chart.yaml", "apiVersion: v2\nname: why\nversion: 1.0.0\n"},
        {y + "values.yaml", "exports:\n  d: {a: 1}\n  e: {b: 2}\n"}});
    const auto r = run({"template", "r", c.path()});
    const std::string rest =
        R"("global":{},"why":{"exports":{"d":{"a":1},"e":{"b":2}},"global":{}}})";
    std::string all;
    for (const char* name : {"one", "two", "x"})
      all += std::string("---\n# Source: c/charts/") + name + "/templates/t.yaml\nv: {" +
             (name == std::string("one") ? imported : "") + rest + "\n";
    EXPECT_EQ(r.out, all) << asked << r.err;
  }
}

TEST(ValueFiles, AQuestionMarkEndsAPlainScalarBetweenBrackets) {
  const std::pair<const char*, const char*> rows[] = {
      {"a: {u: http://x/?y=1}", "yaml: did not find expected ',' or '}'"},
      {"b: 1\na: [http://x/?y=1, c]", "yaml: line 1: did not find expected ',' or ']'"},
      {"b: 1\na: [q,\n {c: d?, e: f}]", "yaml: line 2: did not find expected ',' or '}'"},
      {"a: {x?: 1}", "yaml: did not find expected ',' or '}'"},
      {"a: [x\n  y?z]", "yaml: line 1: did not find expected ',' or ']'"},
  };
  chart_folder c(files{{"templates/t.yaml", "v: {{ toJson .Values }}\n"}});
  for (const auto& [text, why] : rows) {
    const std::string f = c.file("v.yaml", text);
    EXPECT_EQ(run({"template", "r", c.path(), "-f", f}).err,
              "Error: failed to parse " + f + ": error converting YAML to JSON: " + why + "\n");
  }
  const std::string f = c.file("v.yaml", "a: http://x?y\nb: [\"x?y\", '?']\n");
  EXPECT_NE(
      run({"template", "r", c.path(), "-f", f}).out.find(R"({"a":"http://x?y","b":["x?y","?"]})"),
      std::string::npos);
}

TEST(LintCommand, AMessageThatEndsInALineBreakHasNoOther) {
  for (const char* text : {"no a", "no a\\n", "no a\\nno b\\n"}) {
    const chart_folder c(files{
        {"templates/t.yaml", std::string("a: {{ required \"") + text + "\" .Values.none }}\n"}});
    const auto r = run({"lint", c.path()});
    EXPECT_TRUE(r.err.ends_with('\n') && !r.err.ends_with("\n\n")) << r.err;
  }
}

TEST(DebugFlag, SaysWhereTheChartIs) {
  const chart_folder c(files{});
  render_runtime runtime;
  runtime.now = [] {
    return std::chrono::system_clock::time_point(std::chrono::microseconds(1'795'856'108'023'343));
  };
  runtime.steady = [at = std::chrono::milliseconds(0)]() mutable {
    return at += std::chrono::milliseconds(1500);
  };
  const words arguments{"template", "r", c.path() + "/../c/", "--version", ">1", "--debug"};
  const auto r = run_command(arguments, runtime);
  const std::string day = "2026-11-28 08:55:08.023343 +0000 UTC";
  EXPECT_EQ(r.err, "install.go:225: " + day + " m=+1.500000000 [debug] Original chart version: " +
                       "\">1\"\ninstall.go:242: " + day +
                       " m=+3.000000000 [debug] CHART PATH: " + c.path() + "\n\n");
  EXPECT_EQ(run({"template", "r", c.path()}).err, "");
}

}  // namespace
}  // namespace helm
