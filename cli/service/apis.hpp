#pragma once

#include "units/api.hpp"

#include <string>
#include <vector>

namespace cli {

/// Every API of this program, in the order in which people see them.
std::vector<units::api> apis();

/// Takes the place of the one of its name.
void put_in_place(std::vector<units::api>& all, const units::api& one);

struct fleet_arguments;
/// The same APIs, with what the command line says about the clusters' Secrets. Those that somebody
/// names run whether or not home serves their kinds.
std::vector<units::api> of_fleet(std::vector<units::api> all, const fleet_arguments& a);

struct registry_arguments;
/// Whether one of them asks registries, so that what the next one needs is worth reading.
bool asks_registries(const std::vector<units::api>& all);
/// The same APIs, with what the command line says about registries and where the operator's own
/// objects are.
std::vector<units::api> with_registries(std::vector<units::api> all, const registry_arguments& a,
                                        const std::string& operator_ns);

/// Their names, for --apis.
std::vector<std::string> names_of(const std::vector<units::api>& all);
/// Those that are named, each once and in the order of `all`.
std::vector<units::api> chosen_of(const std::vector<units::api>& all,
                                  const std::vector<std::string>& names);

/// The same APIs, impatient, and content with a registry that speaks no TLS.
std::vector<units::api> asking_often(std::vector<units::api> all, const std::string& ref);

}  // namespace cli
