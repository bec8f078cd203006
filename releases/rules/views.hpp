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
  static constexpr const char* name = "entry";
  static constexpr field fields[] = {
      field_of<&releases::entry::name>("name"),
      field_of<&releases::entry::version>("version"),
      field_of<&releases::entry::catalog>("catalog"),
      field_of<&releases::entry::component_version>("component_version"),
      field_of<&releases::entry::reference>("reference"),
      field_of<&releases::entry::depends_on>("depends_on"),
  };
};

template <>
struct view_record<releases::problem> {
  static constexpr const char* name = "problem";
  static constexpr field fields[] = {
      field_of<&releases::problem::id>("id"),
      field_of<&releases::problem::subject>("subject"),
      field_of<&releases::problem::from>("from"),
      field_of<&releases::problem::to>("to"),
      field_of<&releases::problem::why>("why"),
      field_of<&releases::problem::evidence>("evidence"),
  };
};

template <>
struct view_record<releases::document> {
  static constexpr const char* name = "release";
  static constexpr field fields[] = {
      field_of<&releases::document::name>("name"),
      field_of<&releases::document::file>("file"),
      field_of<&releases::document::folder>("folder"),
      field_of<&releases::document::stored_as>("stored_as"),
      field_of<&releases::document::archived>("archived"),
      field_of<&releases::document::state>("state"),
      field_of<&releases::document::date>("date"),
      field_of<&releases::document::components>("components"),
      field_of<&releases::document::apps>("apps"),
      field_of<&releases::document::hash>("hash"),
      field_of<&releases::document::problems>("problems"),
  };
};

template <>
struct view_record<releases::request_exception> {
  static constexpr const char* name = "exception";
  static constexpr field fields[] = {
      field_of<&releases::request_exception::release>("release"),
      field_of<&releases::request_exception::reason>("reason"),
  };
};

template <>
struct view_record<releases::request> {
  static constexpr const char* name = "request";
  static constexpr field fields[] = {
      field_of<&releases::request::name>("name"),
      field_of<&releases::request::version>("version"),
      field_of<&releases::request::issue>("issue"),
      field_of<&releases::request::except>("except"),
  };
};

template <>
struct view_record<releases::request_block> {
  static constexpr const char* name = "requests";
  static constexpr field fields[] = {
      field_of<&releases::request_block::range>("range"),
      field_of<&releases::request_block::requests>("requests"),
  };
};

template <>
struct view_record<releases::request_file> {
  static constexpr const char* name = "request file";
  static constexpr field fields[] = {
      field_of<&releases::request_file::file>("file"),
      field_of<&releases::request_file::blocks>("blocks"),
      field_of<&releases::request_file::problems>("problems"),
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
  static constexpr const char* name = "pool";
  static constexpr field fields[] = {
      field_of<&releases::pool_facts::name>("name"),
      field_of<&releases::pool_facts::kind>("kind"),
      field_of<&releases::pool_facts::architecture>("architecture"),
      field_of<&releases::pool_facts::channel>("channel"),
      field_of<&releases::pool_facts::suffix>("suffix"),
      field_of<&releases::pool_facts::image>("image"),
      field_of<&releases::pool_facts::running>("running"),
  };
};

template <>
struct view_record<releases::rendered_object> {
  static constexpr const char* name = "rendered object";
  static constexpr field fields[] = {
      field_of<&releases::rendered_object::kind>("kind"),
      field_of<&releases::rendered_object::name>("name"),
      field_of<&releases::rendered_object::digest>("digest"),
  };
};

template <>
struct view_record<releases::rendered_chart> {
  static constexpr const char* name = "rendered chart";
  static constexpr field fields[] = {
      field_of<&releases::rendered_chart::file>("file"),
      field_of<&releases::rendered_chart::objects>("objects"),
  };
};

template <>
struct view_record<releases::diff_question> {
  static constexpr const char* name = "question";
  static constexpr field fields[] = {
      field_of<&releases::diff_question::base>("base"),
      field_of<&releases::diff_question::release>("release"),
      field_of<&releases::diff_question::pools>("pools"),
      field_of<&releases::diff_question::catalogue>("catalogue"),
      field_of<&releases::diff_question::values>("values"),
      field_of<&releases::diff_question::others>("others"),
      field_of<&releases::diff_question::requests>("requests"),
      field_of<&releases::diff_question::registered>("registered"),
      field_of<&releases::diff_question::app_ranges>("app_ranges"),
      field_of<&releases::diff_question::within>("within"),
      field_of<&releases::diff_question::rendered_from>("rendered_from"),
      field_of<&releases::diff_question::rendered_to>("rendered_to"),
  };
};

}  // namespace policies
