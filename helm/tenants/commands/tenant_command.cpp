// `windlass tenant`: the releases of Tenants, seen and asked for by name.
#include "app/run_to_end.hpp"
#include "helm/tenants/api.hpp"
#include "helm/tenants/commands/tenant_arguments.hpp"
#include "helm/tenants/commands/tenant_view.hpp"
#include "helm/tenants/kinds/names.hpp"
#include "reactor/loop.hpp"
#include "reactor/side_by_side.hpp"
#include "service/overview/overview.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;
namespace tenants = helm::tenants;
using verb = tenant_arguments::command;

constexpr const char* api_name = "tenants";
constexpr std::size_t charts_at_once = 4, writes_at_once = 8;

std::string detail_of(const units::unit& u, std::string_view key) {
  const auto found = std::ranges::find(u.details, key, &units::detail::key);
  const std::string* text =
      found == u.details.end() ? nullptr : std::get_if<std::string>(&found->value);
  return text ? *text : std::string();
}

/// "acme" and "default/acme" of the Tenant default/acme.
bool is_called(const std::string& tenant, const std::string& name) {
  return tenant == name || tenant.substr(tenant.rfind('/') + 1) == name;
}

k8s::object_key key_in(const std::string& tenant) {
  const auto slash = tenant.find('/');
  return {tenant.substr(0, slash), tenant.substr(slash + 1)};
}

class tenant_work {
public:
  tenant_work(reactor::loop& l, service& s, const tenant_arguments& a)
      : loop_(l), windlass_(s), arguments_(a), tint_(colours_at(STDOUT_FILENO)) {}

  int exit_code = success;

  reactor::awaitable<void> run() {
    auto started = co_await windlass_.start();
    if (started)
      co_await work();
    else
      exit_code = complain(started.error().message());
    co_await windlass_.stop();
    loop_.stop();
  }

private:
  reactor::awaitable<void> work() {
    const std::string only = arguments_.list.only_cluster();
    const fleet_overview f =
        co_await look_at(windlass_, loop_, only, loop_.now() + arguments_.timeout);
    if (f.clusters.empty() && !only.empty()) {
      exit_code = complain("the fleet has no cluster \"" + only + "\"");
      co_return;
    }
    std::vector<tenants_of_cluster> all = chosen(f);
    if (arguments_.what == verb::list) {
      exit_code = show_tenant_list(std::move(all), arguments_.list, tint_);
      co_return;
    }
    if (auto kept = choose_tenants(all, arguments_.list); !kept) {
      exit_code = complain(kept.error());
      co_return;
    }
    const bool none_found = std::ranges::all_of(all, [](const auto& c) { return c.rows.empty(); });
    if (none_found && !arguments_.name.empty()) {
      exit_code = complain(nowhere(all));
      co_return;
    }
    if (std::ranges::any_of(all, [](const auto& c) { return c.state != "Live"; }))
      exit_code = failure;
    switch (arguments_.what) {
      case verb::list: break;
      case verb::status:
        show(tenant_status_document(all, arguments_.list),
             tenant_status_text(all, tint_, columns()));
        break;
      case verb::diff: co_await diff(all); break;
      case verb::retry: co_await retry(all); break;
    }
  }

  /// What was asked for, of what there is.
  std::vector<tenants_of_cluster> chosen(const fleet_overview& f) const {
    std::vector<tenants_of_cluster> out;
    for (const cluster_overview& c : f.clusters)
      for (const api_overview& a : c.apis) {
        if (a.name != api_name || !arguments_.list.chooses_cluster(c.name)) continue;
        tenants_of_cluster one{c.name, a.state, a.last_error, {}, c.labels};
        for (const units::plan_row& row : a.rows)
          for (const units::unit& u : row.units) {
            tenant_row r = row_of(c.name, row, u);
            if (!arguments_.name.empty() && !is_called(r.tenant, arguments_.name)) continue;
            if (arguments_.failed && r.phase != "Error") continue;
            one.rows.push_back(std::move(r));
          }
        out.push_back(std::move(one));
      }
    return out;
  }

  tenant_row row_of(const std::string& cluster, const units::plan_row& row,
                    const units::unit& u) const {
    tenant_row r;
    r.cluster = cluster;
    r.tenant = detail_of(u, "tenant");
    r.phase = u.state;
    r.action = detail_of(u, "action");
    r.from = detail_of(u, "from");
    r.to = detail_of(u, "to");
    r.release = detail_of(u, "release");
    r.message = u.message;
    const auto waits = std::ranges::find(row.forecast, u.name, &units::hold::unit);
    if (waits != row.forecast.end()) r.hold = *waits;
    if (const tenants::tenant_cluster* on = part(cluster))
      if (const tenants::tenant* object = on->seen(key_in(r.tenant))) {
        r.fingerprint = std::string(object->fingerprint(cluster));
        r.applied = object->status.last_applied_chart;
        r.conditions = object->status.conditions;
      }
    return r;
  }

  k8s::cluster* cluster(const std::string& name) const {
    for (k8s::cluster* c : windlass_.clusters())
      if (c->name() == name) return c;
    return nullptr;
  }
  tenants::tenant_cluster* part(const std::string& name) const {
    k8s::cluster* c = cluster(name);
    return c ? tenants::tenants_part(*c) : nullptr;
  }

  std::string nowhere(const std::vector<tenants_of_cluster>& all) const {
    std::string text = "none of " + std::to_string(all.size()) +
                       (all.size() == 1 ? " cluster" : " clusters") + " has a Tenant \"" +
                       arguments_.name + "\"";
    for (const tenants_of_cluster& c : all)
      if (c.state != "Live") text += "\n" + why_away(c);
    return text;
  }

  reactor::awaitable<void> diff(const std::vector<tenants_of_cluster>& all) {  // borrowed
    std::vector<tenant_difference> out;
    for (const tenants_of_cluster& c : all)
      for (const tenant_row& r : c.rows) out.push_back({r, {}, {}});
    const auto look = [&](std::size_t i) -> reactor::awaitable<void> {
      tenant_difference& d = out[i];
      tenants::tenant_cluster* on = part(d.of.cluster);
      if (!on) {
        d.error = "the cluster left the fleet";
        co_return;
      }
      k8s::object_key key = key_in(d.of.tenant);
      auto seen = co_await on->preview(std::move(key));
      if (seen)
        d.changes = std::move(seen->changes);
      else
        d.error = seen.error().text;
    };
    co_await reactor::side_by_side(out.size(), look, charts_at_once);
    if (std::ranges::any_of(out, [](const auto& d) { return !d.error.empty(); }))
      exit_code = failure;
    show(tenant_diff_document(out), tenant_diff_text(out, tint_, columns()));
    tell_of_others(all);
  }

  reactor::awaitable<void> retry(const std::vector<tenants_of_cluster>& all) {  // borrowed
    std::vector<tenant_retry> out;
    for (const tenants_of_cluster& c : all)
      for (const tenant_row& r : c.rows) out.push_back({r, false, {}});
    const auto write = [&](std::size_t i) -> reactor::awaitable<void> {
      tenant_retry& r = out[i];
      k8s::cluster* on = cluster(r.of.cluster);
      if (!on) {
        r.error = "the cluster left the fleet";
        co_return;
      }
      json::object annotations, metadata, patch;
      annotations[tenants::names::retry] = reactor::format_rfc3339(loop_.wall());
      if (arguments_.upgrade)
        annotations[tenants::names::fingerprint_annotation(r.of.cluster)] = nullptr;
      metadata["annotations"] = std::move(annotations);
      patch["metadata"] = std::move(metadata);
      k8s::resource kind = tenants::tenant_resource();
      k8s::object_key key = key_in(r.of.tenant);
      auto done = co_await on->api().merge_patch(std::move(kind), std::move(key), std::move(patch));
      r.written = done.has_value();
      if (!done) r.error = done.error().message();
    };
    const retried how = arguments_.yes ? retried::asked_for : retried::shown;
    if (arguments_.yes) co_await reactor::side_by_side(out.size(), write, writes_at_once);
    if (std::ranges::any_of(out, [](const auto& r) { return !r.error.empty(); }))
      exit_code = failure;
    if (out.empty() && !is_machine())
      write_out(STDOUT_FILENO, page("no Tenant is in Error\n"));
    else
      show(tenant_retry_document(out, how), tenant_retry_text(out, how, tint_, columns()));
    tell_of_others(all);
  }

  /// Clusters that could not be looked at: what they have is not known.
  void tell_of_others(const std::vector<tenants_of_cluster>& all) {
    for (const tenants_of_cluster& c : all)
      if (c.state != "Live") exit_code = complain(why_away(c));
  }

  bool is_wide() const { return arguments_.list.output == output_format::wide; }
  bool is_machine() const { return arguments_.list.output.is_machine(); }
  std::size_t columns() const { return is_wide() ? any_width : output_columns(); }
  void show(const json::object& o, const page& text) {
    const bool written = is_machine() ? write_document(o, arguments_.list.output) == success
                                      : write_out(STDOUT_FILENO, text);
    if (!written) exit_code = failure;
  }

  reactor::loop& loop_;
  service& windlass_;
  const tenant_arguments& arguments_;
  const colours tint_;
};

int tenant_command(const tenant_arguments& a, const invocation& i) {
  reactor::loop loop;
  int code = success;
  auto prepared = prepare_service(loop, a.fleet, i, code);
  if (!prepared) return code;
  prepared->options.does = units::mode::look;
  service windlass(loop, std::move(prepared->options), prepared->log);
  tenant_work command(loop, windlass, a);
  run_to_end(loop, "tenant", command.run());
  return command.exit_code;
}

void add_common(flags& f, tenant_arguments& to) {
  declare_fleet(f, to.fleet);
  f.seconds("--timeout", to.timeout, "seconds to wait for the clusters' answers").shows_default();
  declare_listing(f, to.list, {.follows = list_flags::watch::none});
}
void add_name(flags& f, tenant_arguments& to, bool required) {
  f.value("NAME", to.name, "[NAMESPACE/]NAME of the Tenant, on every cluster that has it")
      .required(required);
}

void declare_list(flags& f, tenant_arguments&) {
  f.footer(
      "Examples:\n  windlass tenant list\n  windlass tenant list -n shops -o wide\n  windlass "
      "tenant list --field-selector phase=Error -o name");
}
void declare_status(flags& f, tenant_arguments& to) {
  add_name(f, to, true);
  f.footer("Example:\n  windlass tenant status acme --chart-name demo");
}
void declare_diff(flags& f, tenant_arguments& to) {
  add_name(f, to, true);
  f.footer(
      "Example:\n  windlass tenant diff acme --chart-name demo --chart-version 1.3.0\n\nThe chart "
      "is rendered with what each cluster has now; nothing is written. Of Secrets no value is "
      "shown.");
}
void declare_retry(flags& f, tenant_arguments& to) {
  add_name(f, to, false);
  f.on("--failed", to.failed, "every Tenant whose phase is Error");
  f.on("--upgrade", to.upgrade,
       "forget what is noted of the release, so that it is upgraded once in any case");
  f.on("-y,--yes", to.yes, "do it; without it only shown");
  f.finally([&to]() -> std::string {
    return to.name.empty() != to.failed ? "either NAME or --failed is required" : "";
  });
  f.footer("Example:\n  windlass tenant retry --failed --yes");
}

}  // namespace

std::vector<app::command> tenant_commands() {
  tenant_arguments begin;
  begin.fleet.apis = {"tenants"};
  begin.fleet.apis_named = true;
  return family<tenant_arguments>(
      {"tenant", "Releases of Tenants: what is there, what an upgrade would change, try again"},
      {{"list", "Every Tenant: its phase, what it has, and what would be done", verb::list,
        declare_list},
       {"status", "One Tenant: its release, conditions, why it waits", verb::status,
        declare_status},
       {"diff", "The objects that installing or upgrading it would change", verb::diff,
        declare_diff},
       {"retry", "Try again at once what waits after a failure", verb::retry, declare_retry}},
      add_common, tenant_command, begin);
}

}  // namespace cli
