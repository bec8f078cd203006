#pragma once

#include "helm/apart/ask.hpp"
#include "helm/placed/cluster_reads.hpp"
#include "helm/release/release_jobs.hpp"

#include <optional>
#include <string>

template <>
inline constexpr helm::placed::record_driver formats::wire_last<helm::placed::record_driver> =
    helm::placed::record_driver::config_maps;

namespace helm::placed {

/// A record's object, as a list of names shows it.
struct listed_record {
  std::string name, version, status;
  int revision = 0;
};

/// The newest record of a release, as it is stored, and what is read from it.
struct stored_release {
  static constexpr apart::job_number number = apart::job_number::stored;
  std::string text;  // data.release
  listed_record of;
  record_driver kind = record_driver::secrets;
  std::string ns;

  using answer = known_release;
  /// What cannot be read has its labels alone: they say what state it is in.
  known_release run(release::loaded& none) const;
};

/// In a child process where there are some, else on the worker. `place` names the record's object
/// (release::place_of_record).
reactor::awaitable<known_release> read_stored(reactor::loop& l, stored_release what,
                                              std::string place,
                                              apart::memory_share* within = nullptr);

}  // namespace helm::placed
