// Which pack answered for a unit, what it was given, what it said, and what was not taken of it.
#include "policies/commands/explain.hpp"

#include "app/output.hpp"
#include "policies/rollout.hpp"
#include "policies/rollout_views.hpp"
#include "reactor/loop.hpp"
#include "service/commands/looking.hpp"
#include "service/connect.hpp"
#include "service/overview/overview.hpp"

#include <boost/json.hpp>
#include <unistd.h>

#include <algorithm>

namespace cli {

using namespace app;

namespace {

namespace json = boost::json;
using policies::value;

constexpr std::string_view plan_hook = "rollout.plan";

json::value as_json(const value& v) {
  boost::system::error_code bad;
  json::value out = json::parse(policies::to_text(v), bad);
  return bad ? json::value() : out;
}

/// What a person can take in: scalars, and how many there are of the rest.
value brief(const value& record) {
  value::object out;
  if (const value::object* all = record.if_object())
    for (const auto& [key, v] : *all) {
      if (v.if_bool() || v.if_number() || v.if_string()) out.emplace(key, v);
      if (key.ends_with("labels") && v.if_object() && !v.if_object()->empty()) out.emplace(key, v);
    }
  return out;
}

template <class T>
const T* seen_as(const policies::argument& a) {
  const policies::view* v = std::get_if<policies::view>(&a);
  return v && v->type == &policies::view_type_of<T>() ? static_cast<const T*>(v->object.get())
                                                      : nullptr;
}

/// What was not taken of a plan.
std::vector<std::string> clamps_of(const policies::question_note& n) {
  if (n.hook != plan_hook || !n.answer || n.arguments.size() < 2) return {};
  const auto* units = seen_as<std::vector<policies::rollout_unit>>(n.arguments[0]);
  const auto* fleet = seen_as<policies::rollout_fleet>(n.arguments[1]);
  if (!units || !fleet) return {};
  auto read = policies::read_rollout_answer(*n.answer, {*units, *fleet});
  if (!read) return {read.error().message()};
  return std::move(read->clamped);
}

/// What a plan says of one unit.
value said_of(const value& answer, const std::string& unit) {
  value::object out;
  if (const value* start = answer.find("start"); start && start->if_array()) {
    const value::array& all = *start->if_array();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all[i].if_string() && *all[i].if_string() == unit)
        out.emplace("start", static_cast<double>(i + 1));
  }
  if (const value* holds = answer.find("holds"))
    if (const value* why = holds->find(unit)) out.emplace("hold", *why);
  return out;
}

std::string words(const value& v) {
  std::string out;
  if (const value::object* all = v.if_object())
    for (const auto& [key, one] : *all)
      out += (out.empty() ? "" : " ") + key + "=" +
             (one.if_string() ? *one.if_string() : policies::to_text(one));
  return out;
}

}  // namespace

std::optional<explained_question> question_about(const policies::question_note& n,
                                                 const std::string& unit) {
  explained_question q;
  q.hook = n.hook;
  q.pack = n.pack;
  q.version = n.version;
  q.digest = n.digest;
  if (n.failed) q.fault = n.failed->message();
  bool found = false;
  for (const policies::argument& a : n.arguments) {
    if (const auto* units = seen_as<std::vector<policies::rollout_unit>>(a)) {
      if (n.hook != plan_hook) continue;
      for (const policies::rollout_unit& u : *units)
        if (u.name == unit) {
          found = true;
          q.cluster = u.cluster;
          const auto alone = std::make_shared<const policies::rollout_unit>(u);
          q.unit = brief(policies::plain_of(policies::view_of(alone)));
        }
    } else if (const auto* one = seen_as<policies::rollout_unit>(a)) {
      found = found || one->name == unit;
      q.cluster = one->cluster;
      q.unit = brief(policies::plain_of(a));
    } else if (seen_as<policies::rollout_fleet>(a)) {
      q.fleet = brief(policies::plain_of(a));
    }
  }
  if (!found) return std::nullopt;
  if (n.answer) q.answer = n.hook == plan_hook ? said_of(*n.answer, unit) : *n.answer;
  q.clamped = clamps_of(n);
  return q;
}

json::object explained_document(const std::string& unit,
                                const std::vector<explained_question>& all) {
  json::array questions;
  for (const explained_question& q : all) {
    json::array clamped;
    for (const std::string& c : q.clamped) clamped.emplace_back(c);
    json::object o{{"cluster", q.cluster},     {"hook", q.hook},     {"pack", q.pack},
                   {"version", q.version},     {"digest", q.digest}, {"unit", as_json(q.unit)},
                   {"fleet", as_json(q.fleet)}};
    if (q.fault.empty())
      o["answer"] = as_json(q.answer);
    else
      o["fault"] = q.fault;
    o["clamped"] = std::move(clamped);
    questions.push_back(std::move(o));
  }
  return document("PolicyExplanation", {{"unit", unit}, {"questions", std::move(questions)}});
}

page explained_text(const std::vector<explained_question>& all) {
  page text;
  for (const explained_question& q : all) {
    text += page(q.hook) + " of " + q.cluster + ": " + q.pack + " " + q.version + " (" + q.digest +
            ")\n  said    " + (q.fault.empty() ? page(words(q.answer)) : page(q.fault)) +
            "\n  unit    " + with_short_digests(words(q.unit)) + "\n  fleet   " + words(q.fleet) +
            "\n";
    for (const std::string& c : q.clamped) text += page("  not taken: ") + c + "\n";
  }
  return text;
}

int explain_policy(const policy_arguments& a, const invocation& i) {
  reactor::loop loop;
  int code = success;
  auto prepared = prepare_service(loop, a.fleet, i, code);
  if (!prepared) return code;
  prepared->options.does = units::mode::look;
  service windlass(loop, std::move(prepared->options), prepared->log);
  const std::size_t slash = a.name.rfind('/');
  const std::string cluster = slash == std::string::npos ? std::string() : a.name.substr(0, slash);
  const std::string unit = slash == std::string::npos ? a.name : a.name.substr(slash + 1);
  std::vector<explained_question> all;
  windlass.packs().on_question = [&](const policies::question_note& n) {
    auto q = question_about(n, unit);
    if (q && (cluster.empty() || q->cluster == cluster) && std::ranges::find(all, *q) == all.end())
      all.push_back(std::move(*q));
  };
  const auto look = [&]() -> reactor::awaitable<int> {
    (void)co_await look_at(windlass, loop, cluster, loop.now() + std::chrono::seconds(15));
    co_return success;
  };
  code = run_started(loop, windlass, "explain", look);
  if (code != success) return code;
  if (all.empty())
    return complain("no policy was asked about \"" + a.name +
                    "\": there is no such unit, or none of its kind waits to start");
  if (a.output == output_format::text)
    write_out(STDOUT_FILENO, explained_text(all));
  else
    return write_document(explained_document(a.name, all), a.output);
  return success;
}

}  // namespace cli
