#pragma once

// Releases as a policy sees them.

#include "policies/host/view.hpp"
#include "releases/rules/difference.hpp"
#include "releases/rules/document.hpp"
#include "releases/rules/mapping.hpp"
#include "releases/rules/repository.hpp"

namespace policies {

template <>
struct view_record<releases::entry> {
  static constexpr const char* name = "Release entry";
  static constexpr field fields[] = {
      field_of<&releases::entry::name>("name"),
      field_of<&releases::entry::version>("version", "as written: a stray v stays"),
      field_of<&releases::entry::catalog>("catalog", "its default where none is named"),
      field_of<&releases::entry::component_version>(
          "component_version", "the version of the component that an app belongs to"),
      field_of<&releases::entry::reference>("reference"),
      field_of<&releases::entry::depends_on>("depends_on", "apps that come before it"),
  };
};

template <>
struct view_record<releases::problem> {
  static constexpr const char* name = "problem of a document";
  static constexpr field fields[] = {
      field_of<&releases::problem::id>("id", "stable, \"release.schema\""),
      field_of<&releases::problem::subject>("subject", "\"component/etcd\""),
      field_of<&releases::problem::from>("from", "what was there"),
      field_of<&releases::problem::to>("to", "what it became, or should be"),
      field_of<&releases::problem::why>("why", "a sentence"),
      field_of<&releases::problem::evidence>("evidence", "the document and the field"),
  };
};

template <>
struct view_record<releases::document> {
  static constexpr const char* name = "release";
  static constexpr field fields[] = {
      field_of<&releases::document::name>("name", "\"aws-34.5.0\""),
      field_of<&releases::document::file>("file", "what evidence names"),
      field_of<&releases::document::folder>("folder",
                                            "\"capa\"; empty: it is from no folder of Releases"),
      field_of<&releases::document::stored_as>("stored_as",
                                               "\"v34.5.0\": what its place says it is"),
      field_of<&releases::document::archived>("archived",
                                              "no longer offered, whatever its state says"),
      field_of<&releases::document::state>("state"),
      field_of<&releases::document::date>("date"),
      field_of<&releases::document::components>("components", "as written"),
      field_of<&releases::document::apps>("apps", "as written"),
      field_of<&releases::document::hash>(
          "hash", "of what it consists of: neither its name nor its state and date count"),
      field_of<&releases::document::problems>("problems", "what was found while it was read"),
  };
};

template <>
struct view_record<releases::request_exception> {
  static constexpr const char* name = "exception of a request";
  static constexpr field fields[] = {
      field_of<&releases::request_exception::release>("release", "its name"),
      field_of<&releases::request_exception::reason>("reason"),
  };
};

template <>
struct view_record<releases::request> {
  static constexpr const char* name = "request";
  static constexpr field fields[] = {
      field_of<&releases::request::name>("name", "of an app or a component"),
      field_of<&releases::request::version>("version", "which versions a Release must have"),
      field_of<&releases::request::issue>("issue"),
      field_of<&releases::request::except>("except", "Releases that are excused"),
  };
};

template <>
struct view_record<releases::request_block> {
  static constexpr const char* name = "block of requests";
  static constexpr field fields[] = {
      field_of<&releases::request_block::range>("range", "of Releases"),
      field_of<&releases::request_block::requests>("requests"),
  };
};

template <>
struct view_record<releases::request_file> {
  static constexpr const char* name = "request file";
  static constexpr field fields[] = {
      field_of<&releases::request_file::file>("file"),
      field_of<&releases::request_file::blocks>("blocks"),
      field_of<&releases::request_file::problems>("problems", "what was found while it was read"),
  };
};

template <>
struct view_record<releases::waiver> {
  static constexpr const char* name = "waiver";
  static constexpr field fields[] = {
      field_of<&releases::waiver::rule>("rule"),
      field_of<&releases::waiver::subject>("subject"),
      field_of<&releases::waiver::of>("release"),
      field_of<&releases::waiver::hash>("hash"),
      field_of<&releases::waiver::reason>("reason"),
      field_of<&releases::waiver::by>("by"),
      field_of<&releases::waiver::until>("until"),
  };
};

template <>
struct view_record<releases::pool_facts> {
  static constexpr const char* name = "pool facts";
  static constexpr field fields[] = {
      field_of<&releases::pool_facts::name>("name"),
      field_of<&releases::pool_facts::kind>("kind"),
      field_of<&releases::pool_facts::architecture>("architecture"),
      field_of<&releases::pool_facts::channel>("channel"),
      field_of<&releases::pool_facts::suffix>("suffix"),
      field_of<&releases::pool_facts::image>("image", "names the image itself: no rule is asked"),
      field_of<&releases::pool_facts::running>("running", "what a machine of it reports"),
  };
};

template <>
struct view_record<releases::rendered_object> {
  static constexpr const char* name = "rendered object";
  static constexpr field fields[] = {
      field_of<&releases::rendered_object::kind>("kind"),
      field_of<&releases::rendered_object::name>("name"),
      field_of<&releases::rendered_object::digest>("digest",
                                                   "of all that it says beside its metadata"),
  };
};

template <>
struct view_record<releases::rendered_chart> {
  static constexpr const char* name = "rendered chart";
  static constexpr field fields[] = {
      field_of<&releases::rendered_chart::file>("file"),
      field_of<&releases::rendered_chart::objects>("objects", "in the order of the chart"),
  };
};

template <>
struct view_record<releases::diff_question> {
  static constexpr const char* name = "diff question";
  static constexpr field fields[] = {
      field_of<&releases::diff_question::base>("base", "none: the Release is judged alone"),
      field_of<&releases::diff_question::release>("release", "what is judged"),
      field_of<&releases::diff_question::pools>("pools", "whose images are compared"),
      field_of<&releases::diff_question::catalogue>(
          "catalogue", "the images that were built, where that is known"),
      field_of<&releases::diff_question::values>(
          "values", "of providerIntegration, where a rule reads no Release"),
      field_of<&releases::diff_question::others>("others", "all Releases of the provider"),
      field_of<&releases::diff_question::requests>("requests", "requests.yaml of the provider"),
      field_of<&releases::diff_question::registered>("registered",
                                                     "resources of its kustomization.yaml"),
      field_of<&releases::diff_question::app_ranges>("app_ranges", "of Kubernetes, by app"),
      field_of<&releases::diff_question::within>(
          "within", "\"folder\": what concerns all of a provider is said by release.folder"),
      field_of<&releases::diff_question::rendered_from>(
          "rendered_from", "what the chart of the base renders, where it was rendered"),
      field_of<&releases::diff_question::rendered_to>("rendered_to", "the same of the Release"),
  };
};

}  // namespace policies
