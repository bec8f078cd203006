#include "releases/home_releases.hpp"

#include "k8s/client/client.hpp"
#include "k8s/client/events.hpp"
#include "k8s/fleet/cluster.hpp"
#include "reactor/loop.hpp"
#include "releases/conditions.hpp"
#include "releases/events.hpp"
#include "releases/names.hpp"
#include "releases/pool_decision.hpp"

#include <boost/json.hpp>

#include <algorithm>

namespace releases {

namespace docs = policies::releases;
namespace json = boost::json;
using namespace std::chrono_literals;

namespace {

/// Six providers with a Release a week for six years.
constexpr std::size_t most_releases = 2'000;
constexpr reactor::nanoseconds consent_timeout = 5s,  // without it more is denied, never less
    verdict_retry = 1min;

k8s::controller_options conditions_of_releases(reactor::metrics* metrics,
                                               const reactor::logger& log) {
  k8s::controller_options o;
  o.name = "release";
  o.concurrency = 1;
  o.metrics = metrics;
  o.log = log;
  return o;
}

k8s::condition said(std::string_view type, std::string_view status, std::string_view reason,
                    std::string message, std::int64_t generation) {
  k8s::condition c;
  c.type = type;
  c.status = status;
  c.reason = reason;
  c.message = std::move(message);
  c.observed_generation = generation;
  return c;
}

k8s::condition mapped(const verdict& v, std::int64_t generation) {
  const auto say = [&](const char* status, std::string_view reason, std::string message) {
    return said(release_condition::mapped, status, reason, std::move(message), generation);
  };
  if (!v.unreadable.empty()) return say("False", release_reason::unreadable, v.unreadable);
  if (!v.image || !*v.image)
    return say("Unknown", release_reason::policy_fault,
               v.image ? v.image->error().message() : std::string());
  const docs::map_answer& a = **v.image;
  if (a.verdict == docs::decision::deny)
    return say("False", release_reason::not_named, ids_of(a.findings, docs::severity::error));
  const docs::pool_image none;
  const docs::pool_image& first = a.images.empty() ? none : a.images.front();
  std::string name = first.image;
  for (const std::string& tag : first.tags) name += (name.empty() ? "" : ",") + tag;
  if (name.empty()) return say("True", release_reason::providers_own, "rule " + first.rule);
  return say("True", release_reason::named, name + " (rule " + first.rule + ")");
}

k8s::condition allowed(const verdict& v, std::int64_t generation) {
  const auto say = [&](const char* status, std::string_view reason, std::string message) {
    return said(release_condition::allowed, status, reason, std::move(message), generation);
  };
  if (!v.unreadable.empty()) return say("False", release_reason::denied, v.unreadable);
  if (!v.alone || !*v.alone)
    return say("Unknown", release_reason::not_judged,
               v.alone ? v.alone->error().message() : std::string());
  const docs::diff_answer& a = **v.alone;
  std::string ids = ids_of(a.findings, docs::severity::info);
  if (a.verdict != docs::decision::allow && !v.content.empty())
    ids += "; a waiver quotes the hash " + v.content;
  if (a.verdict != docs::decision::allow && !v.consent_problem.empty())
    ids += "; in the ConfigMap " + std::string(names::consent) + ": " + v.consent_problem;
  switch (a.verdict) {
    case docs::decision::allow: return say("True", release_reason::clean, std::move(ids));
    case docs::decision::needs_approval:
      return say("False", release_reason::needs_approval, std::move(ids));
    case docs::decision::deny: break;
  }
  return say("False", release_reason::denied, std::move(ids));
}

std::string status_of(const std::vector<k8s::condition>& all, std::string_view type) {
  const k8s::condition* c = k8s::find_condition(all, type);
  return c ? c->status : std::string();
}

}  // namespace

bool put_conditions(std::vector<k8s::condition>& all, const verdict& v, std::int64_t generation,
                    reactor::wall_time now) {
  const bool one = k8s::set_condition(all, mapped(v, generation), now);
  const bool other = k8s::set_condition(all, allowed(v, generation), now);
  return one || other;
}

home_releases::home_releases(k8s::engagement& on, std::shared_ptr<library> books, options o)
    : on_(on),
      books_(std::move(books)),
      options_(std::move(o)),
      releases_(on.loop(), on.api(),
                k8s::all_of(collection(), options_.limits, on.log(), most_releases)),
      consent_(on.loop(), on.api(),
               k8s::only(k8s::resources::config_maps(), {options_.ns, std::string(names::consent)},
                         options_.limits, on.log())),
      controller_(on.loop(), *this, conditions_of_releases(options_.metrics, on.log()),
                  [](const std::string& name) { return name; }),
      tasks_(on.loop()) {
  on.follow(releases_);
  releases_.on_change([this](const release* before, const release* now) {
    const std::string name = (now ? now : before)->meta.name.str();
    if (!now) return books_->remove(name);
    // What we write ourselves is no news for those who read documents.
    if (before && before->document == now->document) return controller_.add(name);
    books_->put(name, now->document);
  });
  consent_.on_change([this](const consent*, const consent* now) {
    books_->consent_to(now ? std::string_view(now->waivers) : std::string_view());
  });
  books_->start();
  releases_.start();
  consent_.start();
  if (options_.does == units::mode::look) return;
  tasks_.start("conditions of Releases", [this]() -> awaitable<void> {
    (void)co_await releases_.synced();
    (void)co_await consent_.synced(on_.loop().now() + consent_timeout);
    controller_.start();
  });
}

awaitable<void> home_releases::stop() {
  if (options_.on_stop) options_.on_stop();
  co_await tasks_.cancel_and_join();
  co_await controller_.stop();
  co_await releases_.stop();
  co_await consent_.stop();
  co_await books_->stop();
}

awaitable<bool> home_releases::synced(reactor::steady_time deadline) {
  const bool complete = co_await releases_.synced(deadline);
  if (!complete) co_return false;
  (void)co_await consent_.synced(std::min(deadline, on_.loop().now() + consent_timeout));
  co_return co_await books_->read(deadline);
}

void home_releases::judge_again() {
  releases_.objects().each([this](const release& r) { controller_.add(r.meta.name.str()); });
}

awaitable<std::vector<units::plan_row>> home_releases::overview() {
  std::vector<units::plan_row> rows;
  releases_.objects().each([&](const release& r) {
    units::plan_row row;
    row.name = r.meta.name.str();
    units::add_problems(row.problems, release_conditions, r.conditions);
    if (!row.problems.empty()) rows.push_back(std::move(row));
  });
  std::ranges::sort(rows, {}, &units::plan_row::name);
  co_return rows;
}

void home_releases::describe(json::object& entry) const {
  entry["releases"] = releases_.objects().size();
}

void home_releases::tell(const release& of, const std::vector<k8s::condition>& before,
                         const std::vector<k8s::condition>& after) {
  const auto turned = [&](std::string_view type, const k8s::event_kind& good,
                          const k8s::event_kind& bad) {
    const k8s::condition* now = k8s::find_condition(after, type);
    if (!now || now->status == status_of(before, type) || now->status == "Unknown") return;
    const k8s::object_reference about{std::string(names::api_version), "Release", "",
                                      of.meta.name.str(), of.meta.uid.text()};
    on_.on().events().record(
        k8s::tell_of(now->is_true() ? good : bad, about,
                     now->message.empty() ? now->reason : now->reason + ": " + now->message));
  };
  turned(release_condition::mapped, release_event::mapped, release_event::not_mapped);
  turned(release_condition::allowed, release_event::allowed, release_event::not_allowed);
}

awaitable<k8s::result<k8s::next>> home_releases::reconcile(std::string name) {
  if (!on_.is_live()) co_return k8s::requeue_after(5s);
  if (!books_->is_read()) co_return k8s::await_change();
  const auto b = books_->find(name);
  if (!b) co_return k8s::await_change();
  verdict v;
  v.unreadable = b->content ? std::string() : b->problem;
  if (v.unreadable.empty()) {
    docs::pool_facts usual;
    v.image = co_await books_->image(name, usual);
    v.alone = co_await books_->step(std::string(), name, usual);
  }
  if (v.unreadable.empty()) v.content = b->content->hash;
  v.consent_problem = books_->consent_problem();
  const release* found = releases_.find({"", name});
  if (!found || !books_->is_read()) co_return k8s::await_change();
  const release now = *found;
  std::vector<k8s::condition> conditions = now.conditions;
  const bool failed = v.unreadable.empty() && !(v.image && *v.image && v.alone && *v.alone);
  const k8s::next then = failed ? k8s::requeue_after(verdict_retry) : k8s::await_change();
  const bool in_use = options_.in_use ? options_.in_use(name).value_or(now.in_use) : now.in_use;
  const bool another = put_conditions(conditions, v, now.meta.generation, on_.loop().wall());
  // The annotation gives way once the server's kind has the field.
  const bool may_give_way = now.in_annotation && !drops_conditions_.value_or(false);
  // All that its own controller would deploy is there: nothing, or that controller knows.
  const bool ready =
      now.ready ||
      (b->content && std::ranges::none_of(b->content->components, &docs::entry::operator_deploys));
  if (!another && !may_give_way && now.in_use == in_use && now.ready == ready) co_return then;
  release next = now;
  next.conditions = std::move(conditions);
  next.in_use = in_use;
  next.ready = ready;
  auto written = co_await publish(next);
  if (!written) co_return written.error();
  tell(now, now.conditions, next.conditions);
  co_return then;
}

/// Writes the status as the kind's own controller does (ready, inUse), and the conditions, into an
/// annotation where the server drops them: else each start would find and tell everything again.
awaitable<k8s::result<void>> home_releases::publish(release now) {
  const json::array conditions = k8s::conditions_to_json(now.conditions);
  json::object status;
  status["ready"] = now.ready;
  status["inUse"] = now.in_use;
  status["conditions"] = conditions;
  json::object patch;
  patch["metadata"] = json::object{{"resourceVersion", now.meta.resource_version.text()}};
  patch["status"] = std::move(status);
  auto written = co_await on_.api().merge_patch(
      collection(), now.meta.key(), std::move(patch),
      k8s::request_options().at("status").by(std::string(names::field_manager)));
  if (!written) co_return written.error();
  const json::value* kept = written->if_contains("status");
  const bool dropped = !kept || !kept->is_object() || !kept->get_object().contains("conditions");
  if (dropped && !drops_conditions_.value_or(false))
    on_.log().warning(
        "the kind Release of this cluster has no status.conditions; they are kept in "
        "an annotation until deploy/crds/releases.yaml is applied",
        {{"annotation", names::conditions}});
  drops_conditions_ = dropped;
  if (!dropped && now.meta.annotations.get(names::conditions).empty())
    co_return k8s::result<void>();
  json::object annotations;
  annotations[names::conditions] =
      dropped ? json::value(json::serialize(conditions)) : json::value(nullptr);
  json::object metadata;
  metadata["annotations"] = std::move(annotations);
  json::object note;
  note["metadata"] = std::move(metadata);
  auto noted =
      co_await on_.api().merge_patch(collection(), now.meta.key(), std::move(note),
                                     k8s::request_options().by(std::string(names::field_manager)));
  if (!noted) co_return noted.error();
  co_return k8s::result<void>();
}

}  // namespace releases
