#include "helm/commands/release/release_report.hpp"

#include "formats/json/json.hpp"
#include "helm/commands/flags/command_flags.hpp"
#include "helm/commands/go_table.hpp"
#include "helm/commands/log_lines.hpp"
#include "helm/commands/release/release_text.hpp"
#include "helm/commands/release/server_table.hpp"
#include "helm/go.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>

namespace helm::release {
namespace {

record sample() {
  auto r = read_record(
      R"({"name":"web","info":{"first_deployed":"2026-11-21T10:00:00Z","last_deployed":"2026-11-02T10:00:01.5Z",)"
      R"("deleted":"","description":"Install complete","status":"deployed","notes":"\nHello\n"},)"
      R"("chart":{"metadata":{"name":"shop","version":"1.2.3","apiVersion":"v2","appVersion":"7",)"
      R"("annotations":{"b":"2","a":"1"},"dependencies":[{"name":"z","repository":""},{"name":"db","repository":""}]},)"
      R"("values":{"a":1}},"config":{"b":"x"},"manifest":"---\n# Source: m\nkind: A\n",)"
      R"("hooks":[{"name":"t","kind":"Pod","path":"p","manifest":"kind: Pod","events":["test"],)"
      R"("last_run":{"started_at":"2026-11-21T10:00:02Z","completed_at":"2026-11-21T10:00:03Z","phase":"Succeeded"}}],)"
      R"("version":3,"namespace":"shops"})");
  EXPECT_TRUE(r);
  return *r;
}

TEST(WarningLine, IsThatOfClientGo) {
  const auto at = reactor::parse_rfc3339("2026-11-28T04:39:45.442040Z");
  EXPECT_EQ(
      warning_line(*at, 2703, "v1 Endpoints is \"old\""),
      "I1128 04:39:45.442040    2703 warnings.go:107] \"Warning: v1 Endpoints is \\\"old\\\"\"");
  EXPECT_EQ(warning_line(*at, 12345678, "a"),
            "I1128 04:39:45.442040 12345678 warnings.go:107] \"Warning: a\"");
}

TEST(ReleaseReport, StatusForPeople) {
  auto text = status_report(sample(), output_format::table, {});
  ASSERT_TRUE(text);
  EXPECT_EQ(*text,
            "NAME: web\nLAST DEPLOYED: Mon Nov  2 10:00:01 2026\nNAMESPACE: shops\nSTATUS: "
            "deployed\nREVISION: 3\n"
            "TEST SUITE:     t\nLast Started:   Sat Nov 21 10:00:02 2026\nLast Completed: Sat Nov "
            "21 10:00:03 2026\n"
            "Phase:          Succeeded\nNOTES:\nHello\n");
}

TEST(ReleaseReport, EverythingThatGetAllShows) {
  status_shape all;
  all.debug = all.show_metadata = all.show_description = true;
  auto text = status_report(sample(), output_format::table, all);
  ASSERT_TRUE(text);
  for (const char* part :
       {"CHART: shop\nVERSION: 1.2.3\nAPP_VERSION: 7\n", "DESCRIPTION: Install complete\n",
        "USER-SUPPLIED VALUES:\nb: x\n\nCOMPUTED VALUES:\na: 1\nb: x\n\nHOOKS:\n---\n# Source: "
        "p\nkind: Pod\n"
        "MANIFEST:\n---\n# Source: m\nkind: A\n\nNOTES:\nHello\n"})
    EXPECT_NE(text->find(part), text->npos) << part << "\n" << *text;
}

TEST(ReleaseReport, ADryRunShowsWhatItRendered) {
  auto r = sample();
  r.description = "Dry run complete";
  auto text = status_report(r, output_format::table, {});
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("MANIFEST:\n"), text->npos);
}

TEST(ReleaseReport, HistoryAndListInThreeForms) {
  const history h{sample()};
  EXPECT_EQ(
      *history_report(h, output_format::table),
      "REVISION\tUPDATED                 \tSTATUS  \tCHART     \tAPP VERSION\tDESCRIPTION     \n"
      "3       \tMon Nov  2 10:00:01 2026\tdeployed\tshop-1.2.3\t7          \tInstall complete\n");
  EXPECT_EQ(
      *history_report(h, output_format::json),
      R"([{"revision":3,"updated":"2026-11-02T10:00:01.5Z","status":"deployed","chart":"shop-1.2.3",)"
      R"("app_version":"7","description":"Install complete"}])"
      "\n");
  EXPECT_EQ(*list_report(h, output_format::yaml, {}),
            "- app_version: \"7\"\n  chart: shop-1.2.3\n  name: web\n  namespace: shops\n  "
            "revision: \"3\"\n"
            "  status: deployed\n  updated: 2026-11-02 10:00:01.5 +0000 UTC\n");
  list_command brief;
  brief.brief = true;
  EXPECT_EQ(*list_report(h, output_format::table, brief), "web\n");
  EXPECT_EQ(*list_report(h, output_format::json, brief), "[\"web\"]\n");
  list_command bare;
  bare.no_headers = true;
  bare.time_format = "2006";
  EXPECT_EQ(*list_report(h, output_format::table, bare),
            "web\tshops\t3\t2026\tdeployed\tshop-1.2.3\t7\n");
  EXPECT_EQ(*list_report({}, output_format::json, {}), "[]\n");
  EXPECT_EQ(*list_report({}, output_format::table, bare), "\n");
}

TEST(ReleaseReport, ValuesAndMetadata) {
  EXPECT_EQ(*values_report(sample(), output_format::table, shown_values::users),
            "USER-SUPPLIED VALUES:\nb: x\n");
  EXPECT_EQ(*values_report(sample(), output_format::json, shown_values::computed),
            "{\"a\":1,\"b\":\"x\"}\n");
  record none;
  EXPECT_EQ(*values_report(none, output_format::table, shown_values::users),
            "USER-SUPPLIED VALUES:\nnull\n");
  EXPECT_EQ(*metadata_report(sample(), output_format::table),
            "NAME: web\nCHART: shop\nVERSION: 1.2.3\nAPP_VERSION: 7\nANNOTATIONS: "
            "a=1,b=2\nDEPENDENCIES: db,z\n"
            "NAMESPACE: shops\nREVISION: 3\nSTATUS: deployed\nDEPLOYED_AT: 2026-11-02T10:00:01Z\n");
}

TEST(GoTable, CutsCellsOfSeveralLinesAsHelmDoes) {
  go_table t;
  t.row({"A", "B"});
  t.row({"1", "one\ntwo two\n"});
  EXPECT_EQ(t.text(), "A\tB      \n1\tone    \n \tt...   ");
}

const variables no_variables = [](const std::string&) { return std::string(); };

command_line parsed(std::vector<std::string> arguments) {
  auto line = parse_command_line(arguments, no_variables);
  EXPECT_TRUE(line) << (line ? "" : line.error().text);
  return line ? *line : command_line{};
}
std::string refused(std::vector<std::string> arguments) {
  auto line = parse_command_line(arguments, no_variables);
  return line ? "" : line.error().text;
}

TEST(ReleaseCommandLine, ReadsHelmsFlags) {
  auto line = parsed({"upgrade", "-i", "web", "./chart", "--set", "a=1", "--timeout", "90s", "-n",
                      "shops", "-o", "json", "--labels", "a=b,c=null", "--dry-run",
                      "--history-max=3", "--reuse-values"});
  const auto& u = std::get<upgrade_command>(line.what);
  EXPECT_TRUE(u.install);
  EXPECT_EQ(u.request.name, "web");
  EXPECT_EQ(u.chart, "./chart");
  EXPECT_EQ(u.request.work.timeout, std::chrono::seconds(90));
  EXPECT_EQ(u.request.labels, label_map({{"a", "b"}, {"c", "null"}}));
  EXPECT_EQ(u.request.dry, dry_run::client);
  EXPECT_EQ(u.request.history_max, 3);
  EXPECT_EQ(u.request.how, reuse::keep);
  EXPECT_EQ(line.cluster.ns, "shops");
  EXPECT_EQ(line.output, output_format::json);
  EXPECT_EQ(std::get<rollback_command>(parsed({"rollback", "web", "3"}).what).request.revision, 3);
  EXPECT_FALSE(std::get<list_command>(parsed({"ls", "--superseded"}).what).choice.latest_only);
}

TEST(ReleaseCommandLine, RefusesWithHelmsWords) {
  EXPECT_EQ(refused({"history"}),
            "\"helm history\" requires 1 argument\n\nUsage:  helm history RELEASE_NAME [flags]");
  EXPECT_EQ(refused({"list", "x"}),
            "\"helm list\" accepts no arguments\n\nUsage:  helm list [flags]");
  EXPECT_EQ(refused({"status", "web", "--nope"}), "unknown flag: --nope");
  EXPECT_EQ(refused({"status", "web", "-o", "xml"}),
            "invalid argument \"xml\" for \"-o, --output\" flag: invalid format type");
  EXPECT_EQ(refused({"uninstall", "web", "--cascade", "x"}),
            "invalid cascade value (x). Must be \"background\", \"foreground\", or \"orphan\"");
  EXPECT_EQ(refused({"rollback", "web", "x"}),
            "could not convert revision to a number: strconv.Atoi: parsing \"x\": invalid syntax");
  EXPECT_EQ(refused({"install", "web", ".", "--timeout", "5"}),
            "invalid argument \"5\" for \"--timeout\" flag: time: missing unit in duration \"5\"");
}

TEST(ReleaseCommandLine, SaysWhatWeDoNotHaveAndWhy) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"install", "a", "b", "--dependency-update"},
                                             {"status", "web", "--kube-as-user", "x"},
                                             {"upgrade", "a", "b", "--enable-dns"}}) {
    const auto line = parse_command_line(arguments, no_variables);
    ASSERT_FALSE(line);
    EXPECT_TRUE(is_unsupported(line.error()));
    EXPECT_NE(line.error().text.find(" is not supported by windlass: "), std::string::npos);
  }
}

std::vector<flag_info> flags_of(std::vector<std::string> arguments) {
  arguments.push_back("--help");
  const auto line = parse_command_line(arguments, no_variables);
  EXPECT_TRUE(!line && line.error().code == problem_code::described);
  return line ? std::vector<flag_info>() : read_flags(line.error().text);
}

TEST(ReleaseCommandLine, KnowsEachFlagWithTypeAndDefault) {
  const auto all = flags_of({"upgrade"});
  const auto flag = [&](std::string_view name) {
    const auto found = std::ranges::find(all, name, &flag_info::name);
    return found == all.end() ? flag_info{} : *found;
  };
  EXPECT_EQ(flag("timeout").type, "duration");
  EXPECT_EQ(flag("timeout").fallback, "5m0s");
  EXPECT_EQ(flag("install").brief, 'i');
  EXPECT_EQ(flag("output").type, "table|json|yaml");
  EXPECT_TRUE(flag("kubeconfig").general);
  EXPECT_EQ(flag("enable-dns").is, flag_info::use::refused);
  EXPECT_EQ(flag("qps").is, flag_info::use::ignored);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &flag_info::name));
}

TEST(ReleaseCommandLine, ShowsNoCredentialAsADefault) {
  const variables of = [](const std::string& name) {
    return name == "HELM_KUBETOKEN" || name == "HELM_NAMESPACE" ? "hunter2" : std::string();
  };
  const std::vector<std::string> arguments{"list", "--help"};
  const auto line = parse_command_line(arguments, of);
  ASSERT_FALSE(line);
  for (const flag_info& f : read_flags(line.error().text))
    EXPECT_EQ(f.fallback == "hunter2", f.name == "namespace") << f.name;
}

boost::json::object table(const char* text) {
  return boost::json::parse(text).as_object();
}

TEST(ServerTable, IsPrintedAsKubectlDoes) {
  const char* columns =
      R"("columnDefinitions":[{"name":"Name","priority":0},{"name":"Data","priority":0},{"name":"Wide","priority":1},{"name":"Age","priority":0}])";
  objects::shown_objects all;
  all["v1/ConfigMap"] = {
      table((std::string("{") + columns + R"(,"rows":[{"cells":["a",3,"w","5s"]}]})").c_str()),
      table((std::string("{") + columns +
             R"(,"rows":[{"cells":["longer-name","é\nnext","w",null]}]})")
                .c_str())};
  all["v1/Secret"] = {table(R"({"columnDefinitions":[{"name":"Name"}],"rows":[]})")};
  EXPECT_EQ(tables_text(all),
            "RESOURCES:\n==> v1/ConfigMap\nNAME   DATA   AGE\na      3      5s\n"
            "longer-name   é...   \n\n==> v1/Secret\n\n\n");
  EXPECT_EQ(tables_text({}), "");
}

TEST(ServerTable, OfObjectsIsHelmsJson) {
  objects::shown_objects all;
  all["v1/ConfigMap"] = {table(R"({"kind":"ConfigMap","data":{"b":"<","a":"1"}})")};
  const std::string json = objects_json(all);
  EXPECT_EQ(json, R"({"v1/ConfigMap":[{"data":{"a":"1","b":"\u003c"},"kind":"ConfigMap"}]})");
  status_shape shape;
  shape.resources = json;
  EXPECT_NE(status_report(sample(), output_format::json, shape)
                ->find(R"("notes":"\nHello\n","resources":{)"),
            std::string::npos);
}

TEST(PrintRecord, GivesATemplateTheRelease) {
  EXPECT_EQ(*print_record(sample(),
                          "{{.Release.Name}} {{.Release.Version}} {{.Release.Info.Status}} "
                          "{{.Release.Chart.Metadata.Version}} {{.Release.Config.b}} "
                          "{{range .Release.Hooks}}{{.Name}}:{{.LastRun.Phase}}{{end}}"),
            "web 3 deployed 1.2.3 x t:Succeeded");
  // Helm's functions are not there.
  EXPECT_EQ(print_record(sample(), "{{upper .Release.Name}}").error().text,
            "template: _:1: function \"upper\" not defined");
}

}  // namespace
}  // namespace helm::release
