#include "formats/plain/path.hpp"
#include "helm/commands/command_parts.hpp"
#include "helm/commands/comparison.hpp"
#include "helm/commands/flags/cluster_flags.hpp"
#include "helm/go.hpp"
#include "helm/render/render_context.hpp"
#include "helm/sources/provenance.hpp"
#include "reactor/loop.hpp"
#include "reactor/system/files.hpp"
#include "reactor/system/process.hpp"

#include <algorithm>
#include <filesystem>

namespace helm::sources {
namespace {

namespace fs = std::filesystem;

constexpr reactor::nanoseconds render_timeout = std::chrono::minutes(5);

/// The signature of an archive, as `helm verify` checks it.
outcome<std::vector<std::string>> verify_archive(const std::string& path,
                                                 const std::string& keyring) {
  std::error_code e;
  if (!fs::exists(path, e)) return problem{"stat " + path + ": no such file or directory"};
  if (fs::is_directory(path, e)) return problem{"unpacked charts cannot be verified"};
  if (!lower(path).ends_with(".tgz")) return problem{"chart must be a tgz file"};
  auto provenance = reactor::load_file(path + ".prov", provenance_bytes_limit);
  if (!provenance)
    return problem{"could not load provenance file " + path + ".prov: stat " + path +
                   ".prov: no such file or directory"};
  auto archive = reactor::load_file(path, chart_archive_bytes_limit);
  if (!archive) return problem{archive.error().message()};
  return verify_chart(base_name(path), *archive, *provenance, keyring);
}

struct compare_options {
  std::string chart;
  chart_origin origin;
  words flags;  // for both sides
};

/// What both sides are asked.
words template_words(const compare_options& o) {
  words out{"template", "release-name", o.chart};
  out.insert(out.end(), o.flags.begin(), o.flags.end());
  return out;
}

awaitable<command_result> compare(command_context c, compare_options o) {
  report out;
  chart_source source(c.loop, c.where, c.env);
  auto located = co_await source.locate(o.chart, std::move(o.origin));
  co_await source.stop();
  if (!located) co_return std::move(out).failed(located.error().text);
  for (const auto& line : located->notes) out.warn(line);
  o.chart = located->path;
  words ours = template_words(o);
  // What it asks for the time and for random bytes is the program's, and outlives its loop's jobs.
  const auto render = [](const words& line, const reactor::vouched<render_runtime>& with) {
    return run_command(line, with.value);
  };
  reactor::vouched<render_runtime> runtime{c.runtime};
  const command_result own = co_await c.loop.offload(render, ours, std::move(runtime));
  reactor::command call;
  call.argv.emplace_back("helm");
  call.argv.insert(call.argv.end(), ours.begin(), ours.end());
  call.out_limit_bytes = 256u << 20;
  const auto deadline = c.loop.now() + render_timeout;
  auto reference = co_await reactor::run_process(c.loop, std::move(call), deadline);
  if (!reference && reference.error().code == reactor::errc::not_found)
    co_return std::move(out).failed(
        "there is no helm on PATH to compare with (go install "
        "helm.sh/helm/v3/cmd/helm@v3.21.4)");
  if (!reference) co_return std::move(out).failed(reference.error().message());
  const command_result right{reference->out, reference->err, reference->status};
  if (auto difference = first_difference(own, right)) {
    out.result.out += *difference;
    out.result.exit_code = 1;
    co_return std::move(out).done();
  }
  if (own.exit_code == 0)
    out.say("equal: " + std::to_string(own.out.size()) + " bytes in " +
            std::to_string(std::count(own.out.begin(), own.out.end(), '\n')) + " lines");
  else
    out.say("equal: both fail with\n" + own.err);
  co_return std::move(out).done();
}

}  // namespace

awaitable<command_result> verify_command(command_context c, words arguments) {
  report out;
  value_options values;
  cluster_flags cluster;
  std::string kube_version;
  words api_versions;
  bool include_crds = false, is_upgrade = false, no_hooks = false, skip_tests = false;
  command_flags f;
  chart_flags origin;
  add_cluster_flags(f, cluster);
  add_chart_flags(f, origin);
  add_value_flags(f, values);
  f.text("kube-version", 0, kube_version);
  f.split_list("api-versions", 'a', api_versions);
  f.flag("include-crds", 0, include_crds);
  f.flag("is-upgrade", 0, is_upgrade);
  f.flag("no-hooks", 0, no_hooks);
  f.flag("skip-tests", 0, skip_tests);
  auto rest = f.parse(arguments);
  if (!rest) co_return usage(rest.error());
  if (auto wrong = count_problem(*rest, 1, 1, "verify", "PATH"); !wrong.empty())
    co_return std::move(out).failed(wrong);
  const bool renders = !values.files.empty() || !values.set.empty() || !values.set_string.empty() ||
                       !values.set_file.empty() || !values.set_json.empty() ||
                       !values.set_literal.empty();
  if (!renders) {
    const std::string keyring = origin.keyring.empty() ? c.where.keyring : origin.keyring;
    auto lines = co_await c.loop.offload(&verify_archive, rest->front(), keyring);
    if (!lines) co_return std::move(out).failed(lines.error().text);
    for (const auto& line : *lines) out.say(line);
    co_return std::move(out).done();
  }
  compare_options o;
  o.chart = rest->front();
  o.origin = origin_of(origin);
  c.where = settings_of(c.where, origin);
  const auto pass = [&](const char* flag, const words& list) {
    for (const auto& v : list) o.flags.push_back(std::string(flag) + "=" + v);
  };
  pass("--values", values.files);
  pass("--set", values.set);
  pass("--set-string", values.set_string);
  pass("--set-file", values.set_file);
  pass("--set-json", values.set_json);
  pass("--set-literal", values.set_literal);
  pass("--api-versions", api_versions);
  if (!cluster.ns.empty()) pass("--namespace", {cluster.ns});
  // A helm built from source has another default than the released one.
  pass("--kube-version",
       {kube_version.empty() ? default_capabilities().kube.version : kube_version});
  if (include_crds) o.flags.emplace_back("--include-crds");
  if (is_upgrade) o.flags.emplace_back("--is-upgrade");
  if (no_hooks) o.flags.emplace_back("--no-hooks");
  if (skip_tests) o.flags.emplace_back("--skip-tests");
  co_return co_await compare(std::move(c), std::move(o));
}

}  // namespace helm::sources
