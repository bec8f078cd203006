#pragma once

#include "helm/tenants/plan/tenant_plan.hpp"
#include "k8s/client/condition.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace helm::tenants {

/// The condition ClusterPlan/<cluster>: which chart the service at work wants on the cluster, and
/// what it does about that, so that who only looks need not know its settings.
/// Shape    True UpToDate; False Install, Upgrade, Uninstall; False Held. The message is the
///          chart's text, and of Held "; <code>: <sentence>" behind it.
/// Returns  none for what is over in a moment: what was said before stays.
std::optional<k8s::condition> published(const tenant_plan& p, const desired_release& wanted,
                                        std::string_view cluster);

/// What is published on the object, as a plan to show, and the chart that is wanted.
struct seen_plan {
  tenant_plan plan;
  std::string chart;
};
/// Of an object on which nothing is published, for who only looks and was told no chart: it waits,
/// since the settings of the service are not known here.
tenant_plan unknown_plan(const tenant& t, std::string_view cluster);
/// None where nothing is, or not what published() writes.
std::optional<seen_plan> plan_published_on(const tenant& t, std::string_view cluster);

}  // namespace helm::tenants
