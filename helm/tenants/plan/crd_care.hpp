#pragma once

#include "helm/placed/plan/writes.hpp"
#include "helm/tenants/kinds/names.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace helm::tenants {

/// What is to be done about our kind on a cluster.
enum class crd_step : std::uint8_t { none, create, replace };
/// One that is there has an owner and was perhaps changed: it is only replaced where its
/// annotation says that it is an older one of ours. `revision` is that annotation, empty where
/// there is none; nothing at all where the kind is absent.
crd_step care_for(std::optional<std::string_view> revision) noexcept;

/// Reading or creating it failed for a moment (no connection, reset, timeout, 5xx): up to five
/// attempts, 200 ms more each time for a read, 300 ms for a create. None: give up, and try again
/// after a minute.
enum class crd_request : std::uint8_t { read, create };
std::optional<reactor::nanoseconds> crd_pause(crd_request what, const write_answer& answer,
                                              int attempts_made) noexcept;
/// "grant get/create on customresourcedefinitions.apiextensions.k8s.io": what an operator has to do
/// about a 403.
std::string crd_remedy(crd_request what);

}  // namespace helm::tenants
