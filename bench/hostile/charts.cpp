// A table: longer than most files, and read row by row.
#include "bench/hostile/charts.hpp"

#include "formats/gzip.hpp"
#include "formats/tar.hpp"
#include "helm/charts/chart.hpp"
#include "helm/objects/manifest_job.hpp"
#include "helm/release/release_jobs.hpp"
#include "helm/tenants/chart_children.hpp"
#include "helm/tenants/supply/supply_jobs.hpp"
#include "reactor/loop.hpp"
#include "reactor/task_group.hpp"

#include <array>
#include <memory>
#include <string_view>
#include <utility>

namespace bench::hostile {
namespace {

using files = std::vector<std::pair<std::string, std::string>>;
using enum held_by_author;
using enum read_by;

std::string times(std::size_t n, std::string_view piece) {
  std::string out;
  out.reserve(n * piece.size());
  for (std::size_t i = 0; i < n; ++i) out += piece;
  return out;
}

std::string archive_of(const files& more, std::string metadata = "", std::string name = "demo") {
  formats::tar_writer tar(0);
  tar.file(name + "/Chart.yaml", "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n" + metadata);
  for (const auto& [path, data] : more) tar.file(name + "/" + path, data);
  return formats::gzip(std::move(tar).finish());
}
std::string of_template(const std::string& text) {
  return archive_of({{"templates/x.yaml", text}});
}
std::string of_schema(const std::string& schema, const std::string& values = "a: 1\n") {
  return archive_of({{"values.schema.json", schema}, {"values.yaml", values}});
}

constexpr const char* memory = "it takes more memory than it may|out of memory";
constexpr const char* steps = "walk over too many values";

std::vector<chart> all() {
  std::vector<chart> out;
  const auto row = [&](std::string name, held_by_author holds, read_by at, std::string says,
                       std::function<std::string()> bytes) {
    out.push_back({std::move(name), holds, at, std::move(bytes), std::move(says)});
  };
  // The loader.
  row("zeros that unpack to more than a chart may be", archive, loader,
      "larger than the maximum file size", [] {
        files many;
        for (int i = 0; i < 4; ++i)
          many.emplace_back("f" + std::to_string(i), std::string(4u << 20, '\0'));
        return archive_of(many);
      });
  row("one archive under ten names", archive, loader, "larger than the maximum file size", [] {
    const auto inner = archive_of({{"f", std::string(2u << 20, '\0')}}, "", "inner");
    files many;
    for (int i = 0; i < 10; ++i) many.emplace_back("charts/i" + std::to_string(i) + ".tgz", inner);
    return archive_of(many);
  });
  row("archives in archives", archive, loader, "nested more than 8 deep", [] {
    std::string inner = archive_of({});
    for (int i = 0; i < 12; ++i) inner = archive_of({{"charts/demo.tgz", inner}});
    return inner;
  });
  row("folders in charts/ thirty deep", archive, loader, "Chart.yaml file is missing",
      [] { return archive_of({{times(30, "charts/c/") + "x", "x"}}); });
  row("a million keywords", metadata, loader, memory,
      [] { return archive_of({}, "keywords:\n" + times(1'000'000, "- a\n")); });
  row("a lock of a million entries", metadata, loader, memory,
      [] { return archive_of({{"Chart.lock", "a:\n" + times(1'000'000, "- a\n")}}); });
  row("a million values in four megabytes", values, loader, memory,
      [] { return archive_of({{"values.yaml", "a:\n" + times(1'000'000, "- 1\n")}}); });
  row("aliases of aliases", values, loader, "excessive aliasing", [] {
    std::string text = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n";
    for (int i = 1; i < 10; ++i) {
      const std::string n = std::to_string(i), b = "*a" + std::to_string(i - 1);
      text += "a" + n + ": &a" + n + " [" + b + times(8, "," + b) + "]\n";
    }
    return archive_of({{"values.yaml", text}});
  });
  row("values nested fifty thousand deep", values, loader, "max",
      [] { return archive_of({{"values.yaml", "a: " + times(50'000, "[")}}); });
  // The renderer.
  row("charts of ten names in charts of ten names", dependencies, renderer, "", [] {
    std::string inner = archive_of({{"templates/a.yaml", "a: 1\n"}}, "", "l6");
    for (int level = 5; level >= 0; --level) {
      const std::string below = "l" + std::to_string(level + 1);
      std::string names = "dependencies:\n";
      for (int i = 0; i < 10; ++i)
        names += "- {name: " + below + ", version: 1.0.0, alias: a" + std::to_string(level) + "x" +
                 std::to_string(i) + "}\n";
      inner = archive_of({{"charts/" + below + ".tgz", inner}}, names,
                         level == 0 ? "demo" : "l" + std::to_string(level));
    }
    return inner;
  });
  row("a template that includes itself", templates, renderer, "error calling include", [] {
    return of_template("{{ define \"x\" }}{{ include \"x\" . }}{{ end }}{{ include \"x\" . }}");
  });
  row("a template that calls itself", templates, renderer, "", [] {
    return of_template(
        "{{ define \"x\" }}{{ if lt (len .) 99 }}{{ template \"x\" (append . 1) "
        "}}{{ end }}{{ end }}{{ template \"x\" list }}");
  });
  row("tpl of tpl", templates, renderer, "nested more than", [] {
    return of_template(
        "{{ $t := \"{{ tpl .t . }}\" }}{{ tpl $t (dict \"t\" $t \"Template\" "
        ".Template) }}");
  });
  row("loops in loops", templates, renderer, "more than 50000000 actions", [] {
    return of_template("{{ $l := until 10000 }}{{ range $l }}{{ range $l }}{{ end }}{{ end }}");
  });
  row("a map that holds itself, printed", templates, renderer, "cannot unmarshal number",
      [] { return of_template("{{ $m := dict }}{{ $_ := set $m \"m\" $m }}{{ len (keys $m) }}"); });
  row("a map that holds itself, as YAML", templates, renderer, memory,
      [] { return of_template("{{ $m := dict }}{{ $_ := set $m \"m\" $m }}{{ toYaml $m }}"); });
  row("a text that doubles forty times", templates, renderer, "than", [] {
    return of_template("{{ $s := \"x\" }}{{ range until 40 }}{{ $s = print $s $s }}{{ end }}");
  });
  row("a list that grows by itself", templates, renderer, memory, [] {
    return of_template("{{ $l := list 1 }}{{ range until 40 }}{{ $l = concat $l $l }}{{ end }}");
  });
  row("a map of ever more keys", templates, renderer, steps, [] {
    return of_template(
        "{{ $m := dict }}{{ range until 400000 }}{{ $_ := set $m (print .) (list . .) "
        "}}{{ end }}");
  });
  // The functions that look at what they are given more than once.
  for (const auto& [name, call, says] : std::vector<std::array<std::string, 3>>{
           {"Files.Glob with many stars", ".Files.Glob \"*a*a*a*a*a*a*a*a*a*a*a*a*b\"", steps},
           {"wrapWith of one long word", "wrapWith 1 \"-\" (repeat 1000000 \"a\")", ""},
           {"regexFindAll that looks to the end each time",
            "regexFindAll \"a.*b|a\" (repeat 400000 \"a\") -1", steps},
           {"regexReplaceAll with a long replacement",
            "regexReplaceAll \"x\" (repeat 40000 \"x\") (repeat 40000 \"$1\")", "walk over|bytes"},
           {"a pattern of a hundred thousand instructions",
            "regexMatch \"((a{1,100}){1,30}){1,30}b\" (repeat 1000000 \"a\")", "len of type bool"},
           {"uniq of a hundred thousand", "uniq (until 100000)", steps},
           {"random text without end", "randAlphaNum 20000000", "than|walk"},
           {"printf with a width of a million, a thousand times",
            "printf (repeat 1000 \"%999999d\") 1", ""},
           {"split into single letters", "splitList \"\" (repeat 3000000 \"a\")", "made more than"},
           {"a search that fails at the last letter",
            "contains (print (repeat 400000 \"a\") \"b\") (repeat 900000 \"a\")",
            "len of type bool"}})
    row(name, functions, renderer, says, [call = call] {
      return archive_of(
          {{"templates/x.yaml", "a: {{ " + call + " | len }}"}, {std::string(90, 'a'), "x"}});
    });
  row("mulf of eight thousand", functions, renderer, steps,
      [] { return of_template("a: {{ mulf" + times(8'000, " 1.2345678901234567") + " }}"); });
  row("two hundred keys", functions, renderer, "actions", [] {
    return of_template("{{ range until 300 }}{{ genPrivateKey \"ed25519\" | len }}{{ end }}");
  });
  // Schemas.
  row("a schema that refers to itself", schema, schema_check, "values don't meet", [] {
    return of_schema(
        R"({"$ref": "#/definitions/a", "definitions": {"a": {"$ref": "#/definitions/a"}}})");
  });
  row("a schema that doubles at each level", schema, schema_check, "too often", [] {
    std::string text = "{\"definitions\": {\"d0\": {\"type\": \"object\"}";
    for (int i = 1; i < 40; ++i) {
      const std::string ref = "{\"$ref\": \"#/definitions/d" + std::to_string(i - 1) + "\"}";
      text += ", \"d" + std::to_string(i) + "\": {\"allOf\": [" + ref + ", " + ref + "]}";
    }
    return of_schema(text + "}, \"$ref\": \"#/definitions/d39\"}");
  });
  row("a schema whose pattern looks through a long value", schema, schema_check,
      "values don't meet", [] {
        return of_schema(R"({"properties": {"a": {"pattern": "(a|b)*a(a|b){9}c"}}})",
                         "a: " + times(300'000, "ab") + "\n");
      });
  // What was rendered is read again.
  row("a manifest of many documents", templates, manifests, "", [] {
    return of_template(
        "{{ range until 2000 }}---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: "
        "a}\n{{ end }}");
  });
  row("a manifest of a million items", templates, manifests, memory, [] {
    return of_template(
        "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\na:\n{{ repeat 1000000 "
        "\"- 1\\n\" }}");
  });
  const std::string anchors = "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\nx: &a \"" +
                              std::string(100'000, 'a') + "\"\ny:\n";
  row("a manifest whose anchors stand for a gigabyte", templates, manifests, memory,
      [anchors] { return of_template(anchors + "{{ repeat 10000 \"- *a\\n\" }}"); });
  row("definitions whose anchors stand for a gigabyte", templates, manifests, memory, [anchors] {
    return archive_of(
        {{"templates/x.yaml", "a: b"}, {"crds/x.yaml", anchors + times(10'000, "- *a\n")}});
  });
  row("a manifest of sixty thousand documents", templates, manifests, "memory than they may", [] {
    return of_template(
        "{{ range until 60000 }}---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: "
        "a{{ . }}}\n{{ end }}");
  });
  // Indexes.
  const auto index_with = [](const std::string& more) {
    return "apiVersion: v1\nentries:\n" + more +
           "  demo:\n  - {name: demo, version: 1.0.0, urls: [u]}\n";
  };
  row("an index with a million versions of our chart", index, index_reader, memory, [] {
    return "apiVersion: v1\nentries:\n  demo:\n" +
           times(300'000, "  - {name: demo, version: 1.0.0, urls: [u]}\n");
  });
  row("an index of 15 MB with three thousand charts, as public ones are", index, index_reader, "",
      [index_with] {
        std::string more;
        for (int i = 0; i < 3'000; ++i) {
          const std::string name = "c" + std::to_string(i);
          more += "  " + name + ":\n  - {name: " + name +
                  ", version: 1.0.0, urls: [u], description: " + std::string(4'900, 'x') + "}\n";
        }
        return index_with(more);
      });
  row("an index that nests without end", index, index_reader, "",
      [index_with] { return index_with("  other: " + times(900, "[") + times(900, "]") + "\n"); });
  row("an index of one long line", index, index_reader, "cannot be read|YAML",
      [] { return "entries: {" + times(4'000'000, "a,"); });
  return out;
}

}  // namespace

const std::vector<chart>& charts() {
  static const std::vector<chart> table = all();
  return table;
}

namespace {

/// As the service works on a chart, or an index: why it was refused; "" where it was not.
reactor::awaitable<std::string> work(reactor::loop& l, std::string bytes, read_by at) {  // borrowed
  if (at == index_reader) {
    helm::tenants::index_job job;
    job.chart = "demo";
    job.shown = "test";
    job.memory_bytes = helm::service_chart_limits.memory_bytes;
    helm::tenants::index_stream index(l, std::move(job));
    constexpr std::size_t piece = 100'000;
    for (std::size_t at_byte = 0; at_byte < bytes.size(); at_byte += piece)
      if (auto put = co_await index.put(bytes.substr(at_byte, piece)); !put)
        co_return put.error().detail;
    const auto read = co_await index.finish();
    co_return read.problem;
  }
  auto kept = std::make_shared<helm::chart_cache>(1u << 20, helm::service_chart_limits);
  const auto unpacked = co_await helm::tenants::unpack_apart(l, kept, std::move(bytes));
  if (!unpacked.chart) co_return unpacked.problem;
  helm::release::render_request r;
  r.chart = unpacked.chart;
  r.values = helm::value(helm::value::map_type{});
  r.caps = helm::default_capabilities();
  r.limits = helm::service_chart_limits;
  auto made = co_await helm::release::render_apart(l, std::move(r));
  if (made.failure) co_return made.failure->text;
  auto definitions = co_await helm::release::crds_apart(
      l, unpacked.chart, helm::value(helm::value::map_type{}), helm::service_chart_limits);
  if (!definitions) co_return definitions.error().text;
  std::vector<std::string> texts{std::move(made.manifest)};
  for (auto& [name, text] : *definitions) texts.push_back(std::move(text));
  for (std::string& text : texts) {
    auto all =
        co_await helm::objects::objects_apart(l, std::move(text), helm::service_chart_limits);
    if (!all) co_return all.error().text;
  }
  co_return "";
}

reactor::awaitable<void> theirs(reactor::loop& l, std::string bytes, read_by at, chart_outcome& out,
                                bool& over) {  // borrowed
  out.said = co_await work(l, std::move(bytes), at);
  over = true;
  const std::string good = co_await work(l, of_template("a: {{ .Release.Name }}"), renderer);
  out.neighbour = good.empty();
}

reactor::awaitable<void> ours(reactor::loop& l, chart_outcome& out, const bool& over) {  // borrowed
  const auto small = [](int n) { return n; };
  while (!over) {
    (void)co_await l.offload(small, 1);
    ++out.ours;
    co_await l.sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

chart_outcome try_chart(const chart& c) {
  chart_outcome out;
  std::string bytes = c.bytes();  // its author's work
  reactor::loop l;
  helm::tenants::chart_children::options o;
  o.limits.on_end = [&out](reactor::child_end why, const std::string&) {
    out.children_ended.emplace_back(reactor::to_string(why));
  };
  helm::tenants::chart_children children(l, std::move(o));
  reactor::task_group whole(l);
  bool over = false;
  whole.start("a chart and what is beside it", [&]() -> reactor::awaitable<void> {
    reactor::task_group tasks(l);
    (void)l.take_health();
    tasks.start("theirs", theirs(l, std::move(bytes), c.at, out, over));
    tasks.start("ours", ours(l, out, over));
    co_await tasks.join();
    out.worst_stall = l.take_health().longest_stall;
    co_await children.stop();
  });
  l.run();
  return out;
}

}  // namespace bench::hostile
