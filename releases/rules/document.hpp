#pragma once

#include "reactor/plain/result.hpp"
#include "releases/rules/finding.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace policies::releases {

/// A field that is not known here: kept for readers that know it.
struct unknown_field {
  std::string name, json;
  friend bool operator==(const unknown_field&, const unknown_field&) = default;
};

/// A component or an app of a Release. Absent fields are empty, `catalog` is its default.
struct entry {
  std::string name, version, catalog, component_version, reference;
  std::vector<std::string> depends_on;
  bool operator_deploys = false;  // releaseOperatorDeploy
  std::vector<unknown_field> unknown;
  friend bool operator==(const entry&, const entry&) = default;
};

/// A Release as it was read, with what is wrong with it. Nothing of it is changed: a version keeps
/// a stray v.
struct document {
  std::string name;       // metadata.name: "aws-34.5.0", of the old generation "v14.1.0"
  std::string file;       // what evidence names: "capa/v34.5.0.yaml"
  std::string folder;     // "capa"; empty when it is not from a folder of Releases
  std::string stored_as;  // "v34.5.0": what the place says it is
  bool archived = false;  // no longer offered, whatever its state says
  std::string state, date, end_of_life, notice;
  std::vector<unknown_field> annotations;  // of metadata
  std::vector<entry> components, apps;     // as written
  std::vector<unknown_field> unknown;      // of spec
  /// SHA-256 of what it consists of: all of spec but date and state, without regard to order.
  /// Neither name nor annotations.
  std::string hash;
  std::vector<problem> problems;
};

/// Reads one Release.
/// Shape    what breaks a rule of the form is a problem with the place
///          ("spec.components[etcd].version") and the rest is still read; a version that YAML took
///          for a number keeps its own text.
/// Errors   errc::malformed: no YAML, or no Release. errc::limit: beyond 1 MiB, 50,000 values,
///          2,000 components or apps, or a text of a field of 4 KiB. `doing` names `file`.
reactor::result<document> read_document(std::string_view text, std::string file);

/// The document as YAML, with unknown fields and without what has its default. What it writes,
/// read_document reads back.
std::string write_document(const document& d);

/// The catalog of an app, or of a component, that names none.
std::string_view default_catalog(bool app);

/// Fills in `hash` again after a change.
void renew_hash(document& d);

}  // namespace policies::releases
