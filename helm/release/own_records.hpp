#pragma once

#include "k8s/client/resource.hpp"
#include "reactor/awaitable.hpp"

#include <string>

namespace reactor {
class loop;
}
namespace k8s {
class client;
}

namespace helm::release {

/// The child that reads records whose bytes this process wrote (docs/adr/0014).
inline constexpr const char* own_records = "records that this process wrote";

/// Names the object of a record, on any cluster.
std::string place_of_record(const k8s::client& api, const k8s::resource& kind,
                            const k8s::object_key& key);

/// Says which child reads a record: the one for our own where the process wrote exactly this
/// `text` (data.release), else the one of `others`.
reactor::awaitable<std::string> reader_of_record(reactor::loop& l, std::string place,
                                                 std::string text, std::string others);

}  // namespace helm::release
