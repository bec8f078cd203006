#include "helm/members/list.hpp"

#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"

#include <boost/json.hpp>

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

page list_text(const std::vector<listed_cluster>& all, std::size_t columns) {
  table t({"CLUSTER", "STATE", "VERSION", "LABELS", "TOKEN ENDS", "MOVES", "NOTE"});
  for (const listed_cluster& c : all)
    t.row({c.seen.name, c.seen.state, c.version.empty() ? std::string("-") : c.version,
           joined(c.labels),
           c.token_expires ? reactor::format_rfc3339(*c.token_expires) : std::string("-"),
           runs(c.seen), c.seen.last_error});
  return t.text({}, columns);
}

json::object list_document(const std::vector<listed_cluster>& all) {
  json::array clusters;
  for (const listed_cluster& c : all) {
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
    clusters.push_back(std::move(one));
  }
  json::object o;
  o["clusters"] = std::move(clusters);
  return document("ClusterList", std::move(o));
}

}  // namespace cli
