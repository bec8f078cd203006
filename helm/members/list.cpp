#include "helm/members/list.hpp"

#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace cli {
namespace {

namespace json = boost::json;

/// "2 pools, 24 nodes": what is moved there.
std::string runs(const cluster_overview& c) {
  std::string text;
  for (const api_overview& a : c.apis) {
    std::size_t units = 0;
    for (const units::plan_row& r : a.rows) units += r.units.size();
    const std::size_t rows = a.rows.size();
    if (rows == 0) continue;
    text += (text.empty() ? "" : "; ") + std::to_string(rows) + " " +
            (rows == 1 ? a.says.row : a.says.rows) + ", " + std::to_string(units) + " " +
            (units == 1 ? a.says.unit : a.says.units);
  }
  return text.empty() ? "-" : text;
}

std::string joined(const std::map<std::string, std::string>& labels) {
  std::string text;
  for (const auto& [key, value] : labels) text += (text.empty() ? "" : ",") + key + "=" + value;
  return text.empty() ? "-" : text;
}

}  // namespace

reactor::awaitable<std::vector<listed_cluster>> list_clusters(service& s, reactor::loop& l,
                                                              std::string secret_label,
                                                              reactor::steady_time deadline) {
  fleet_overview f = co_await look_at(s, l, {}, deadline);
  std::vector<listed_cluster> all;
  for (cluster_overview& c : f.clusters) {
    listed_cluster one;
    for (k8s::cluster* running : s.clusters()) {
      if (running->name() != c.name) continue;
      one.version = running->discovery().version().git_version;
      for (const auto& [key, value] : running->labels())
        if (key.str() != secret_label) one.labels[std::string(key.str())] = value.str();
      one.token_expires = running->token_expires();
      one.token_problem = running->token_problem();
    }
    one.seen = std::move(c);
    all.push_back(std::move(one));
  }
  co_return all;
}

namespace {

json::object json_of_cluster(const listed_cluster& c) {
  json::object one{{"name", c.seen.name}, {"server", c.seen.server}, {"state", c.seen.state}};
  if (!c.version.empty()) one["version"] = c.version;
  json::object labels, apis;
  for (const auto& [key, value] : c.labels) labels[key] = value;
  one["labels"] = std::move(labels);
  if (c.token_expires) one["tokenExpires"] = reactor::format_rfc3339(*c.token_expires);
  if (!c.token_problem.empty()) one["tokenProblem"] = c.token_problem;
  for (const api_overview& a : c.seen.apis) {
    std::size_t units = 0;
    for (const units::plan_row& r : a.rows) units += r.units.size();
    apis[a.name] = json::object{{"state", a.state}, {"rows", a.rows.size()}, {"units", units}};
  }
  one["apis"] = std::move(apis);
  if (!c.seen.last_error.empty()) one["lastError"] = c.seen.last_error;
  return one;
}

}  // namespace

listing list_of_clusters(const std::vector<listed_cluster>& all) {
  listing t({{"CLUSTER"},
             {"STATE"},
             {"VERSION", 4},
             {"LABELS", 2},
             {"TOKEN ENDS", 1},
             {"MOVES", 3},
             {"NOTE"}});
  for (const listed_cluster& c : all) {
    listed_object one{"cluster", {}, {}, c.seen.name, {c.labels.begin(), c.labels.end()}};
    one.cells = {c.seen.name,
                 c.seen.state,
                 c.version.empty() ? std::string("-") : c.version,
                 joined(c.labels),
                 c.token_expires ? reactor::format_rfc3339(*c.token_expires) : std::string("-"),
                 runs(c.seen),
                 c.seen.last_error};
    one.body = json_of_cluster(c);
    one.body.erase("name");
    one.trouble = c.seen.state != "Live" ? 2 : c.seen.last_error.empty() ? 0 : 1;
    t.add(std::move(one));
  }
  return t;
}

reactor::result<void, std::string> choose_clusters(std::vector<listed_cluster>& all,
                                                   const list_request& asked) {
  listing chosen = list_of_clusters(all);
  if (auto kept = chosen.choose(asked); !kept) return kept;
  std::vector<listed_cluster> out;
  for (const listed_object& o : chosen.objects())
    out.push_back(*std::ranges::find_if(all, [&](const auto& c) { return c.seen.name == o.name; }));
  all = std::move(out);
  return {};
}

page list_text(const std::vector<listed_cluster>& all, std::size_t columns,
               const list_request& asked) {
  return list_of_clusters(all).text(asked, columns, output_rows() > 4 ? output_rows() - 4 : 0);
}

json::object list_document(const std::vector<listed_cluster>& all) {
  json::array clusters;
  for (const listed_cluster& c : all) clusters.push_back(json_of_cluster(c));
  json::object o;
  o["clusters"] = std::move(clusters);
  o["items"] = list_of_clusters(all).items();
  return document("ClusterList", std::move(o));
}

}  // namespace cli
