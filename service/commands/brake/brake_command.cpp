// `windlass brake`: one object at home stops everything, and lets it go on.
#include "app/api/target_history.hpp"
#include "app/run_to_end.hpp"
#include "k8s/client/client.hpp"
#include "k8s/client/race.hpp"
#include "reactor/loop.hpp"
#include "service/commands/brake/brake.hpp"

#include <boost/json.hpp>

#include <algorithm>
#include <utility>

namespace cli {
namespace {

namespace json = boost::json;
using verb = brake_arguments::command;

k8s::object_key brake_in(const std::string& ns) {
  return {ns, std::string(units::brake_object)};
}

units::brake_data data_of(const json::object& config_map) {
  units::brake_data out;
  const json::value* data = config_map.if_contains("data");
  if (!data || !data->is_object()) return out;
  for (const std::string_view key : units::brake_key::all)
    if (const json::value* text = data->get_object().if_contains(key); text && text->is_string())
      out.emplace(key, std::string(text->get_string()));
  return out;
}

/// "the brake is on since …, by …: …; only of bootc; only on clusters with env=prod"
std::string sentence_of(const units::brake_order& is) {
  if (!is.is_on) {
    std::string text = "the brake is off";
    if (!is.since.empty()) text += " since " + is.since;
    return text + (is.by.empty() ? "" : ", by " + is.by);
  }
  std::string text = units::brake_sentence(is), apis;
  for (const std::string& api : is.only) apis += (apis.empty() ? "" : ", ") + api;
  if (!apis.empty()) text += "; only of " + apis;
  if (!is.selector.empty()) text += "; only on clusters with " + is.selector.text();
  return text;
}

/// The object at home; none where there is none.
reactor::awaitable<k8s::result<std::optional<json::object>>> read_brake_object(
    k8s::client& home, std::string ns) {  // borrowed
  auto got = co_await home.get(k8s::resources::config_maps(), brake_in(ns));
  std::optional<json::object> none;
  if (!got && got.error().code == k8s::errc::not_found) co_return none;
  if (!got) co_return got.error();
  co_return std::optional<json::object>(std::move(*got));
}

struct writing {
  const brake_arguments& arguments;
  command_output& out;

  int fail(std::string why) {
    out.complaint(std::move(why));
    return failure;
  }
  int show(const units::brake_order& is, bool written) {
    if (!arguments.list.output.is_machine()) {
      out.text(page(sentence_of(is)) + (written ? page("\n") : page("; nothing was written\n")));
      return success;
    }
    json::object o = brake_json(is);
    o["written"] = written;
    auto text = document_text(document("Brake", std::move(o)), arguments.list.output);
    if (!text) return fail(text.error());
    out.bytes(std::move(*text));
    return success;
  }
};

}  // namespace

std::optional<brake_edit> edit_of(const brake_arguments& a, const json::object* before,
                                  const std::string& by, const std::string& now) {
  const bool on = a.what == verb::on;
  const auto text_or_none = [&](const std::string& text) {
    return on && !text.empty() ? json::value(text) : json::value(nullptr);
  };
  if (!on) {
    if (!before) return std::nullopt;
    const units::brake_data was = data_of(*before);
    const auto state = was.find(units::brake_key::state);
    if (state != was.end() && state->second == "off") return std::nullopt;
  }
  std::string only;
  for (const std::string& api : a.only) only += (only.empty() ? "" : ",") + api;
  json::object data{{units::brake_key::state, on ? "on" : "off"},
                    {units::brake_key::by, by},
                    {units::brake_key::since, now}};
  data[units::brake_key::why] = text_or_none(a.why);
  data[units::brake_key::only] = text_or_none(only);
  data[units::brake_key::selector] = text_or_none(a.selector);
  brake_edit out;
  out.creates = !before;
  if (out.creates)
    for (auto one = data.begin(); one != data.end();)
      one = one->value().is_null() ? data.erase(one) : one + 1;
  json::object metadata;
  if (out.creates)
    metadata = {{"name", units::brake_object}, {"namespace", a.fleet.ns}};
  else
    metadata["resourceVersion"] = units::text_at(*before, {"metadata", "resourceVersion"});
  if (out.creates) out.body = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}};
  out.body["metadata"] = std::move(metadata);
  out.body["data"] = std::move(data);
  return out;
}

reactor::awaitable<int> set_brake(reactor::loop& l, k8s::client& home, brake_arguments a,
                                  std::vector<std::string> apis, command_output& out) {
  writing w{a, out};
  auto before = co_await read_brake_object(home, a.fleet.ns);
  if (!before) co_return w.fail(before.error().message());
  const json::object* seen = *before ? &**before : nullptr;
  const units::brake_order was =
      seen ? units::read_brake(data_of(*seen), apis) : units::brake_order();
  std::string by = co_await user_of(home);
  if (by.empty()) by = home.field_manager();
  auto edit = edit_of(a, seen, by, reactor::format_rfc3339(l.wall()));
  if (!edit) co_return w.show(was, false);
  k8s::result<json::object> done = json::object();
  if (edit->creates)
    done = co_await home.create(k8s::resources::config_maps(), a.fleet.ns, std::move(edit->body));
  else
    done = co_await home.merge_patch(k8s::resources::config_maps(), brake_in(a.fleet.ns),
                                     std::move(edit->body));
  if (done) co_return w.show(units::read_brake(data_of(*done), apis), true);
  const k8s::written what = edit->creates ? k8s::written::created : k8s::written::existing;
  if (!k8s::is_a_race(done.error(), what)) co_return w.fail(done.error().message());
  auto now = co_await read_brake_object(home, a.fleet.ns);
  std::string is = "it is not known what it says";
  if (now && *now) is = sentence_of(units::read_brake(data_of(**now), apis));
  if (now && !*now) is = "the brake is off";
  co_return w.fail("another writer was faster, so nothing was written: " + is);
}

listing under_way(const fleet_overview& f, const std::vector<units::api>& apis, colours tint) {
  const auto waits_its_turn = [&](const std::string& api, const std::string& code) {
    const std::string_view kind = units::kind_in(code);
    const auto is_turn = [&](const units::hold_kind& k) {
      return k.code == kind && k.nature == units::hold_nature::turn;
    };
    if (code == units::hold_code::braked.code) return true;
    if (std::ranges::any_of(units::hold_code::of_every_api, is_turn)) return true;
    const auto of = std::ranges::find(apis, api, &units::api::name);
    return of != apis.end() && std::ranges::any_of(of->holds, is_turn);
  };
  listing out({{"CLUSTER"}, {"API", 1}, {"UNIT"}, {"CODE"}, {"WHAT IT DOES"}});
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& api : c.apis)
      for (const units::plan_row& row : api.rows)
        for (const units::hold& h : row.holds) {
          const auto unit = std::ranges::find(row.units, h.unit, &units::unit::name);
          if (unit == row.units.end() || unit->is != units::standing::moving ||
              waits_its_turn(api.name, h.code))
            continue;
          listed_object one{api.says.unit, c.name, {}, h.unit, c.labels};
          one.cells = {c.name, api.name, h.unit, toned(h.code, tone::busy, tint),
                       with_short_digests(h.sentence)};
          one.body = {{"cluster", c.name}, {"api", api.name}, {"row", row.name},
                      {"unit", h.unit},    {"code", h.code},  {"reason", h.sentence}};
          out.add(std::move(one));
        }
  return out;
}

std::vector<overriding_row> overriding(const fleet_overview& f) {
  std::vector<overriding_row> out;
  for (const cluster_overview& c : f.clusters)
    for (const api_overview& api : c.apis)
      for (const units::plan_row& row : api.rows)
        if (!row.overrides.empty()) out.push_back({c.name, api.name, row.name, row.overrides});
  return out;
}

namespace {

/// What is under way is looked for while the brake is on.
reactor::awaitable<int> show_brake(reactor::loop& l, service& s, const brake_arguments& a,
                                   const std::vector<units::api>& apis) {  // borrowed
  const units::brake_order is = s.brake().order();
  if (!is.is_on && !is.problem.empty()) co_return complain(is.problem);
  fleet_overview f;
  if (is.is_on) f = co_await look_at(s, l, a.list.only_cluster(), l.now() + a.timeout);
  listing all = under_way(f, apis, colours_at(STDOUT_FILENO));
  around_list around;
  around.head = page(sentence_of(is)) + "\n";
  json::array overridden;
  for (const overriding_row& one : overriding(f)) {
    around.head += page(one.cluster) + ": " + one.row + ": " + one.sentence + "\n";
    overridden.push_back(json::object{
        {"cluster", one.cluster}, {"api", one.api}, {"row", one.row}, {"reason", one.sentence}});
  }
  json::object says = brake_json(is);
  if (!overridden.empty()) says["overrides"] = std::move(overridden);
  if (is.is_on && all.objects().empty()) around.tail = "nothing is under way\n";
  for (const cluster_overview& c : f.clusters)
    if (c.state != "Live" && !has_nothing(c.state))
      around.tail += page(c.name) + " is " + c.state + "; what goes on there is not known\n";
  if (all.objects().empty() && !a.list.output.is_machine()) {
    write_out(STDOUT_FILENO, around.head + around.tail);
    co_return success;
  }
  co_return show_list(std::move(all), a.list, "underWay", document("Brake", std::move(says)),
                      around);
}

int wrong_brake(std::string why) {
  return complain(std::move(why), wrong_usage);
}

int brake_command(const brake_arguments& a, const invocation& i) {
  reactor::loop loop;
  int code = success;
  const auto selector = k8s::label_selector::parse(std::string_view(a.selector));
  if (!selector) return wrong_brake("--selector " + a.selector + ": " + selector.error());
  std::vector<std::string> names;
  for (const units::api& one : i.apis()) names.push_back(one.name);
  auto prepared = prepare_service(loop, a.fleet, i, code);
  if (!prepared) return code;
  k8s::connection home = prepared->options.home;
  if (home.server.empty())
    return wrong_brake("a fleet of contexts has no home, where the brake would be");
  command_output out = standard_output();
  if (a.what == verb::status) {
    prepared->options.does = units::mode::look;
    prepared->options.shows = units::verdicts::published;
    service windlass(loop, std::move(prepared->options), prepared->log);
    return run_started(loop, windlass, "brake",
                       [&] { return show_brake(loop, windlass, a, i.apis()); });
  }
  const auto work = [&]() -> reactor::awaitable<void> {
    k8s::client api(loop, std::move(home));
    code = co_await set_brake(loop, api, a, names, out);
    co_await api.stop();
    loop.stop();
  };
  run_to_end(loop, "brake", work());
  return code;
}

void add_common(flags& f, brake_arguments& to) {
  declare_fleet(f, to.fleet);
}
void declare_on(flags& f, brake_arguments& to) {
  f.output(to.list.output);
  f.value("--why", to.why, "what a person reads beside everything that waits")
      .required()
      .check([](const std::string& text) {
        const bool says = text.find_first_not_of(" \t\r\n") != text.npos;
        return std::string(says ? "" : "it says nothing");
      })
      .takes("TEXT")
      .matters();
  f.value("--only", to.only, "names of APIs; else all of them")
      .separated(',')
      .repeated()
      .check([known = f.apis()](const std::string& name) {
        const bool there = std::ranges::find(known, name, &units::api::name) != known.end();
        return there ? std::string() : "there is no API \"" + name + "\"";
      })
      .takes("API,…")
      .matters();
  f.value("-l,--selector", to.selector, "clusters with these labels; else all of them")
      .takes("SELECTOR")
      .matters();
  f.footer(
      "Examples:\n  windlass brake on --why \"nodes come back without network\"\n  windlass brake "
      "on --why \"new chart fails\" --only tenants -l env=prod");
}
void declare_off(flags& f, brake_arguments& to) {
  f.output(to.list.output);
  f.footer("Example:\n  windlass brake off");
}
void declare_brake_status(flags& f, brake_arguments& to) {
  declare_listing(f, to.list, {.follows = list_flags::watch::none});
  f.seconds("--timeout", to.timeout, "seconds to wait for the clusters' answers").shows_default();
  f.footer("Examples:\n  windlass brake status\n  windlass brake status -o json");
}

}  // namespace

std::vector<app::command> brake_commands() {
  return family<brake_arguments>(
      {"brake", "Stop everything that Windlass would begin on the fleet, and let it go on"},
      {{"on", "Begin nothing more; what is under way ends", verb::on, declare_on},
       {"off", "Go on", verb::off, declare_off},
       {"status", "Whether it is on, who asked for it and why, and what is still under way",
        verb::status, declare_brake_status}},
      add_common, brake_command);
}

}  // namespace cli
