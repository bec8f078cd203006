#pragma once

#include "formats/go/time.hpp"
#include "helm/charts/chart.hpp"
#include "helm/go.hpp"
#include "helm/render/manifests.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace helm::release {

enum class status : std::uint8_t {
  unknown,
  deployed,
  uninstalled,
  superseded,
  failed,
  uninstalling,
  pending_install,
  pending_upgrade,
  pending_rollback,
};
/// "pending-install"
std::string_view to_string(status s);
/// A word that Helm does not know is `unknown`.
status read_status(std::string_view word);
/// An action is under way, or was when its process died.
bool is_pending(status s);

/// How a hook went the last time; phase is empty before the first.
struct hook_run {
  go_time started, completed;
  std::string phase;  // Unknown, Running, Succeeded, Failed
};

struct recorded_hook {
  hook what;
  hook_run last_run;
};

/// One revision of a release, as it is kept on the cluster.
/// Lifetime copies share chart and values, which are never changed.
struct record {
  std::string name, ns;
  int revision = 0;
  status state = status::unknown;
  go_time first_deployed, last_deployed, deleted;  // the zero time means never
  std::string description, notes;
  std::shared_ptr<const chart> origin;  // null where the record has none; without subcharts
  value config;                         // what the user gave: a map or nil
  std::string manifest;
  std::vector<recorded_hook> hooks;
  std::map<std::string, std::string> labels;  // kept beside the record, not in it
  std::string apply_method;                   // "ssa", "csa" or empty
  std::string uid;                            // of the object it was read from, else empty
};

inline bool is_zero(const go_time& t) {
  return t.seconds == go_time{}.seconds && t.nanoseconds == 0;
}

/// What a record looks like to others.
enum class record_parts : std::uint8_t { all, without_chart };

/// The record as JSON with members in Helm's order.
/// Errors   a value that JSON cannot hold.
/// `resources` is info.resources as JSON, what the cluster has of the release: shown, never stored.
outcome<std::string> write_record(const record& r, record_parts parts = record_parts::all,
                                  const std::string& resources = {});
/// The same in parts: what a record shares with others is written, what is its own and may be long
/// is copied, so that another thread can write it.
struct record_text {
  std::string before, manifest;
  std::vector<recorded_hook> hooks;
  std::string after;
  /// write_record's text.
  std::string whole() const;
};
outcome<record_text> write_record_in_parts(const record& r, record_parts parts = record_parts::all,
                                           const std::string& resources = {});
/// The chart of a record, as it stands in one.
outcome<std::string> write_chart(const chart& c);
/// Reads records of Helm 3 and 4; members it does not know are passed over.
/// Errors   encoding/json's, or the member that has the wrong type.
outcome<record> read_record(std::string_view json);

/// The text that is stored: base64 of the gzipped JSON.
outcome<std::string> encode_record(const record& r);
/// The same of a record that was written already. For loop::offload.
std::string pack_record(const std::string& written);
/// Also reads what was stored without compression.
/// Errors   damaged base64, gzip or JSON; more than 64 MiB unpacked.
outcome<record> decode_record(std::string_view text);

/// A record, and how many bytes it takes unpacked.
struct sized_record {
  record what;
  std::uint64_t bytes = 0;
};
/// Shape    an empty record whose bytes are more than `limit_bytes` where it takes more than that.
/// Errors   those of decode_record.
outcome<sized_record> decode_record_within(std::string_view text, std::uint64_t limit_bytes);

/// What the record has the cluster hold, as one text to make a digest of: name, namespace,
/// revision, manifest and hooks. What changes while it is worked on (its state, how hooks went) is
/// not in it.
std::string content_of(const record& r);

/// "sh.helm.release.v1.web.v3"
std::string storage_name(std::string_view release, int revision);
/// The 3 of it; none for another release, and beyond a billion.
std::optional<int> revision_in(std::string_view stored, std::string_view release);

/// RFC 3339 with as many decimals as it takes, "" for the zero time.
std::string json_time(const go_time& t);

/// "web-1.2.3" and the chart's appVersion, MISSING where the record has no chart.
std::string chart_label(const record& r);
std::string app_version(const record& r);

}  // namespace helm::release
