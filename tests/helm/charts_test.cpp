#include "formats/yaml/reader.hpp"
#include "helm/charts/chart.hpp"
#include "helm/charts/chart_ignore.hpp"
#include "helm/commands/commands.hpp"
#include "helm/go.hpp"
#include "helm/render/render.hpp"
#include "helm/render/render_context.hpp"
#include "helm/schema/schema.hpp"
#include "helm/template/function.hpp"
#include "helm/template/parser.hpp"
#include "helm/values/render_values.hpp"

#include <gtest/gtest.h>

namespace helm {
namespace {

const std::string charts = WINDLASS_SOURCE_DIR "/tests/helm/charts/";

command_result run(std::vector<std::string> arguments) {
  return run_command(arguments);
}

chart_ptr loaded(std::vector<chart_file> files) {
  std::vector<std::string> warnings;
  auto c = load_files(std::move(files), warnings);
  EXPECT_TRUE(c) << (c ? "" : c.error().text);
  return c ? *c : nullptr;
}

std::string load_error(std::vector<chart_file> files) {
  std::vector<std::string> warnings;
  auto c = load_files(std::move(files), warnings);
  return c ? "" : c.error().text;
}

std::string render(const std::string& text, render_options options = {}) {
  auto c = loaded(
      {{"Chart.yaml", "apiVersion: v2\nname: c\nversion: 1.0.0\n"}, {"templates/x.yaml", text}});
  auto parsed = parsed_chart::parse(c);
  if (!parsed) return parsed.error().text;
  auto files = parsed->render(value(value::map_type{}), {}, default_capabilities(), options);
  return files ? files->at("c/templates/x.yaml") : files.error().text;
}

const node* first_text(const node& n) {
  if (n.kind == node_kind::text) return &n;
  for (const auto& child : n.children)
    if (const node* found = first_text(*child)) return found;
  return nullptr;
}

// An umbrella of hundreds of charts is as large as its files, not as three copies of them.
TEST(ChartTexts, AreHeldOnce) {
  const std::string long_text(1'000, 'x');
  std::vector<chart_file> files{
      {"Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n"},
      {"charts/b/Chart.yaml", "apiVersion: v2\nname: b\nversion: 1.0.0\n"},
      {"charts/b/values.yaml", "a: " + long_text},
      {"charts/b/README.md", long_text},
      {"charts/b/templates/t.yaml", "# " + long_text + "{{ .Values.a }}"}};
  const void* const values = files[2].data.data();
  const void* const readme = files[3].data.data();
  const void* const text = files[4].data.data();
  const auto c = loaded(std::move(files));
  const chart& b = *c->dependencies.at(0);
  EXPECT_EQ(b.values_files[0].data.data(), values);
  EXPECT_EQ(b.files[0].data.data(), readme);
  EXPECT_EQ(b.templates[0].data.data(), text);
  const chart copy = b;
  EXPECT_EQ(copy.files[0].data.data(), readme);
  EXPECT_EQ(files_value(b.files).find("README.md")->text().data(), readme);
  const auto parsed = parse_template("t", b.templates.text(0), find_function);
  const node* n = first_text(*parsed.at(0)->root);
  ASSERT_NE(n, nullptr);
  EXPECT_EQ(n->text.data(), text);
  // A chart of a megabyte of templates has a hundred thousand of these.
  EXPECT_LE(sizeof(node), 80u);
}

TEST(ChartLoading, SaysWhatIsMissing) {
  EXPECT_EQ(load_error({{"values.yaml", "a: 1"}}), "Chart.yaml file is missing");
  EXPECT_EQ(load_error({{"Chart.yaml", "name: c\nversion: x\n"}}),
            "validation: chart.metadata.version \"x\" is invalid");
  EXPECT_EQ(load_error({{"Chart.yaml", "apiVersion: v2\nversion: 1.0.0\n"}}),
            "validation: chart.metadata.name is required");
  EXPECT_EQ(load_error({{"Chart.yaml", "name: c\nversion: 1.0.0\n"}, {"values.yaml", "a: b: c"}}),
            "cannot load values.yaml: error converting YAML to JSON: yaml: mapping values are not "
            "allowed in this context");
}

TEST(ChartLoading, TurnsNumbersIntoTextWhereTextBelongs) {
  auto c = loaded({{"Chart.yaml", "name: c\nversion: 1.2\nappVersion: 1.10\n"}});
  EXPECT_EQ(c->meta.version, "1.2");
  EXPECT_EQ(c->meta.app_version, "1.1");
  EXPECT_EQ(c->meta.api_version, "v1");
}

// Where Chart.yaml has a list of dependencies, an empty one as well, conditions below charts that
// it does not name count, and the values are laid over each other once more.
TEST(ChartDependencies, CountBelowChartsThatAnEmptyListDoesNotName) {
  struct row {
    const char* declared;
    std::size_t rendered, warned;
  };
  for (const auto& [declared, rendered, warned] :
       {row{"", 2, 1}, row{"dependencies: null\n", 2, 1}, row{"dependencies: []\n", 1, 2},
        row{"dependencies: [{name: other, version: 1.0.0, condition: no.no}]\n", 1, 2}}) {
    auto c =
        loaded({{"Chart.yaml", "apiVersion: v2\nname: a\nversion: 1.0.0\n" + std::string(declared)},
                {"values.yaml", "image: text\ns: {t: {enabled: false}}\n"},
                {"templates/x.yaml", "x"},
                {"charts/s/Chart.yaml",
                 "apiVersion: v2\nname: s\nversion: 1.0.0\ndependencies:\n"
                 "- {name: t, version: 1.0.0, condition: t.enabled}\n"},
                {"charts/s/charts/t/Chart.yaml", "apiVersion: v2\nname: t\nversion: 1.0.0\n"},
                {"charts/s/charts/t/templates/x.yaml", "x"}});
    std::size_t warnings = 0;
    auto values = values_to_render(*c, *read_go_yaml_map("image: {tag: x}"), schema_check::done,
                                   [&](const std::string&) { ++warnings; });
    ASSERT_TRUE(values) << declared;
    auto parsed = parsed_chart::parse(c);
    ASSERT_TRUE(parsed) << declared;
    auto files = parsed->render(*c, std::move(*values), {}, default_capabilities(), {});
    ASSERT_TRUE(files) << files.error().text;
    EXPECT_EQ(files->size(), rendered) << declared;
    EXPECT_EQ(warnings, warned) << declared;
  }
}

// What cannot be imported is none of the imports that templates see.
TEST(ChartDependencies, ShowTheImportsThatAreSome) {
  const std::pair<const char*, const char*> rows[] = {
      {"[]", ""},
      {"[null]", ""},
      {"[1, true, null]", ""},
      {"[2, data]", ",\"import-values\":[{\"child\":\"exports.data\",\"parent\":\".\"}]"},
  };
  for (const auto& [imports, shown] : rows) {
    auto c = loaded({{"Chart.yaml",
                      "apiVersion: v2\nname: a\nversion: 1.0.0\ndependencies:\n"
                      "- {name: b, version: '1', import-values: " +
                          std::string(imports) + "}\n"},
                     {"templates/x.yaml", "{{ .Chart.Dependencies | toJson }}"},
                     {"charts/b/Chart.yaml", "apiVersion: v2\nname: b\nversion: 1.0.0\n"}});
    auto values = values_to_render(*c, value(value::map_type{}), schema_check::done, {});
    ASSERT_TRUE(values) << imports;
    auto parsed = parsed_chart::parse(c);
    ASSERT_TRUE(parsed) << imports;
    auto files = parsed->render(*c, std::move(*values), {}, default_capabilities(), {});
    ASSERT_TRUE(files) << files.error().text;
    EXPECT_EQ(files->at("a/templates/x.yaml"),
              "[{\"name\":\"b\",\"version\":\"1\",\"repository\":\"\",\"enabled\":true" +
                  std::string(shown) + "}]");
  }
}

TEST(ChartDependencies, AreToldAsTheyAreWhenValuesDoNotFit) {
  for (const auto& [given, why] : {std::pair{"b: 1", "type mismatch on b: %!t(float64=1)"},
                                   std::pair{"b: x", "type mismatch on b: %!t(string=x)"},
                                   std::pair{"b: true", "type mismatch on b: true"}}) {
    auto c = loaded({{"Chart.yaml",
                      "apiVersion: v2\nname: a\nversion: 1.0.0\ndependencies:\n"
                      "- {name: b, version: '1'}\n"},
                     {"charts/b/Chart.yaml", "apiVersion: v2\nname: b\nversion: 1.0.0\n"}});
    auto values = values_to_render(*c, *read_go_yaml_map(given), schema_check::done, {});
    ASSERT_FALSE(values) << given;
    EXPECT_EQ(values.error().text, why);
  }
}

TEST(ChartIgnore, KeepsHelmsIdeaOfNegation) {
  auto rules = ignore_rules::parse("# c\n*.txt\n/top\nsub/\n!keep.md\n");
  ASSERT_TRUE(rules);
  EXPECT_TRUE(rules->ignored("a/b.txt", false));
  EXPECT_TRUE(rules->ignored("top", false));
  EXPECT_TRUE(rules->ignored("x/sub", true));
  EXPECT_FALSE(rules->ignored("keep.md", false));
  EXPECT_TRUE(rules->ignored("other.md", false));
  EXPECT_FALSE(ignore_rules::parse("a/**/b"));
}

TEST(Render, StopsEndlessIncludesWithHelmsWords) {
  auto text = render("{{ define \"a\" }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}");
  EXPECT_NE(
      text.find("rendering template has a nested reference name: a: unable to execute template"),
      text.npos)
      << text.substr(0, 200);
}

TEST(Render, StopsEndlessTemplateCalls) {
  auto text = render("{{ define \"a\" }}{{ template \"a\" . }}{{ end }}{{ template \"a\" . }}");
  bool bounded = text.find("exceeded maximum template depth (100000)") != text.npos ||
                 text.find("stack overflow") != text.npos;
  EXPECT_TRUE(bounded) << text.substr(0, 200);
}

TEST(Render, BoundsWhatTemplatesMake) {
  render_options options;
  options.limits.output_bytes = 1 << 20;
  for (const char* bomb :
       {"{{ repeat 1000000000 \"x\" }}", "{{ range until 1000000000 }}x{{ end }}",
        "{{ indent 2000000000 \"x\" }}", "{{ range (int 1e9) }}xxxxxxxx{{ end }}"})
    EXPECT_NE(render(bomb, options).find("rendering template failed: "), std::string::npos) << bomb;
}

TEST(Render, BoundsValuesThatStandForFarMore) {
  const std::string nested =
      "{{ $d := dict \"a\" 1 }}{{ range until 60 }}{{ $d = dict \"x\" $d \"y\" $d }}{{ end }}";
  render_options options;
  options.limits.walk_steps = 100'000;
  for (const char* use : {"{{ toYaml $d }}", "{{ toJson $d }}", "{{ toToml $d }}", "{{ print $d }}",
                          "{{ $d }}", "{{ deepCopy $d }}", "{{ deepEqual $d (deepCopy $d) }}",
                          "{{ merge (dict) $d $d }}", "{{ mergeOverwrite $d $d }}"})
    EXPECT_EQ(render(nested + use, options),
              "rendering template failed: the templates walk over too many values")
        << use;
}

TEST(Render, BoundsWhatFunctionsMakeOnTheWay) {
  render_options options;
  options.limits.output_bytes = 1 << 20;
  for (const char* bomb :
       {"{{ $s := \"x\" }}{{ range until 60 }}{{ $s = cat $s $s }}{{ end }}{{ len $s }}",
        "{{ replace \"\" (repeat 10000 \"y\") (repeat 10000 \"x\") | len }}",
        "{{ join (repeat 10000 \"z\") (until 1000) | len }}",
        "{{ splitList \"\" (repeat 100000 \"x\") | len }}",
        "{{ $m := dict }}{{ range $i := until 60000 }}{{ $_ := set $m (print $i) 1 }}{{ end }}"})
    EXPECT_EQ(render(bomb, options),
              "rendering template failed: the templates made more than 1048576 bytes")
        << bomb;
}

TEST(Render, BoundsKeysAndNestedTexts) {
  render_options options;
  options.limits.actions = 1'000'000;
  EXPECT_EQ(render("{{ range until 10 }}{{ $_ := genPrivateKey \"ed25519\" }}{{ end }}", options),
            "rendering template failed: the templates ran more than 1000000 actions");
  EXPECT_EQ(render("{{ $s := \"{{ tpl .x . }}\" }}"
                   "{{ tpl $s (dict \"x\" $s \"Template\" .Template) }}"),
            "rendering template failed: tpl is nested more than 1000 deep");
}

TEST(Render, CanBeCancelled) {
  std::atomic<bool> stop = true;
  render_options options;
  options.limits.cancelled = &stop;
  EXPECT_EQ(render("{{ range until 1000 }}{{ . }}{{ end }}", options),
            "rendering template failed: cancelled");
}

TEST(Render, GivesTheMessageOfFailItsPlace) {
  EXPECT_EQ(render("a\n  {{ fail \"no: way\" }}"),
            "execution error at (c/templates/x.yaml:2:5): no: way");
  EXPECT_EQ(render("{{ nope }}"),
            "parse error at (c/templates/x.yaml:1): function \"nope\" not defined");
}

TEST(Render, MapsThatHoldThemselvesDoNotEndTheProcess) {
  auto text = render(
      "{{ $m := dict }}{{ $n := set $m \"m\" $m }}{{ toJson $m }}{{ len (print $m) | lt 10 }}");
  EXPECT_EQ(text, "true");
}

TEST(Schema, WordsItsReasonsAsTheReferenceDoes) {
  auto s = json_schema::compile(
      R"({"$schema":"http://json-schema.org/draft-07/schema#","type":"object","required":["a","b"],
    "properties":{"count":{"type":"integer","minimum":2},"s":{"enum":["x","y"]},"p":{"pattern":"^a"}},"additionalProperties":false})");
  ASSERT_TRUE(s);
  auto check = [&](const char* yaml) { return s->check(*read_go_yaml_map(yaml)); };
  EXPECT_EQ(check("a: 1\nb: 1\n"), "- at '': additional properties 'a', 'b' not allowed\n");
  EXPECT_EQ(
      check("count: 1\ns: z\np: b\n"),
      "- at '': missing properties 'a', 'b'\n- at '/count': minimum: got 1, want 2\n- at '/p': "
      "'b' does not match pattern '^a'\n"
      "- at '/s': value must be one of 'x', 'y'\n");
  EXPECT_EQ(json_schema::compile(R"({"type":["string","null"]})")->check(value(1.0)),
            "- at '': got number, want null or string\n");
}

TEST(TemplateCommand, RendersAChartWithSubchartsHooksAndNotes) {
  auto r = run(
      {"template", "rel", charts + "parent", "--set", "sub.name=x", "--kube-version", "v1.31.0"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.out,
            "---\n# Source: parent/charts/sub/templates/cm.yaml\napiVersion: v1\nkind: "
            "ConfigMap\nmetadata:\n  name: x-eu\n"
            "---\n# Source: parent/templates/service.yaml\napiVersion: v1\nkind: "
            "Service\nmetadata:\n  name: rel-parent\n"
            "---\n# Source: parent/templates/hook.yaml\napiVersion: v1\nkind: Pod\nmetadata:\n  "
            "name: test\n  annotations:\n    helm.sh/hook: test\n");
  EXPECT_EQ(
      run({"template", "rel", charts + "parent", "--skip-tests", "-s", "templates/service.yaml"})
          .out,
      "---\n# Source: parent/templates/service.yaml\napiVersion: v1\nkind: Service\nmetadata:\n  "
      "name: rel-parent\n");
  EXPECT_EQ(run({"template", charts + "parent", "--set", "sub.enabled=false", "--no-hooks"}).out,
            "---\n# Source: parent/templates/service.yaml\napiVersion: v1\nkind: "
            "Service\nmetadata:\n  name: release-name-parent\n");
}

TEST(TemplateCommand, FailsAsHelmDoes) {
  auto r = run({"template", "rel", charts + "parent", "--set", "replicas=many"});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_EQ(r.err,
            "Error: values don't meet the specifications of the schema(s) in the following "
            "chart(s):\nparent:\n"
            "- at '/replicas': got string, want integer\n\n");
  EXPECT_EQ(run({"template", "./nope"}).err, "Error: path \"./nope\" not found\n");
  EXPECT_EQ(run({"template", "x", charts + "parent", "--validate"}).exit_code, 2);
  EXPECT_EQ(run({"template", "x", charts + "parent", "--set", "a"}).err,
            "Error: failed parsing --set data: key \"a\" has no value\n");
}

TEST(ShowCommand, PrintsThePartsOfAChart) {
  EXPECT_EQ(run({"show", "values", charts + "parent/charts/sub"}).out,
            "enabled: true\nname: sub\n\n");
  EXPECT_EQ(run({"show", "chart", charts + "parent/charts/sub"}).out,
            "apiVersion: v2\nname: sub\nversion: 0.1.0\n\n");
}

TEST(LintCommand, ReportsBySeverity) {
  auto r = run({"lint", charts + "parent"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.out, "==> Linting " + charts +
                       "parent\n[INFO] Chart.yaml: icon is recommended\n\n1 chart(s) linted, 0 "
                       "chart(s) failed\n");
}

}  // namespace
}  // namespace helm
