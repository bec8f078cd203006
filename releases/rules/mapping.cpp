#include "releases/rules/mapping.hpp"

#include "releases/rules/answer_table.hpp"
#include "releases/rules/ask.hpp"
#include "releases/rules/hooks.hpp"
#include "releases/rules/typical.hpp"
#include "releases/rules/views.hpp"

namespace policies {

template <>
struct view_record<releases::baked_tool> {
  static constexpr const char* name = "tool";
  static constexpr field fields[] = {
      field_of<&releases::baked_tool::name>("name"),
      field_of<&releases::baked_tool::version>("version"),
  };
};

template <>
struct view_record<releases::image_tools> {
  static constexpr const char* name = "image and its tools";
  static constexpr field fields[] = {
      field_of<&releases::image_tools::image>("image"),
      field_of<&releases::image_tools::tools>("tools"),
  };
};

template <>
struct view_record<releases::map_question> {
  static constexpr const char* name = "map question";
  static constexpr field fields[] = {
      field_of<&releases::map_question::release>("release"),
      field_of<&releases::map_question::pools>("pools",
                                               "none: one of the default form of the provider"),
      field_of<&releases::map_question::catalogue>(
          "catalogue", "the images that were built, where that is known"),
      field_of<&releases::map_question::values>(
          "values", "of providerIntegration, where a rule reads no Release"),
      field_of<&releases::map_question::tools>("tools", "that are baked into the image"),
      field_of<&releases::map_question::known_tools>(
          "known_tools", "those of other images, so that no two lists get one name"),
  };
};

namespace releases {

template <>
struct answer_record<image_segment> {
  static constexpr const char* name = "segment of an image";
  static constexpr answer_field<image_segment> fields[] = {
      taken<&image_segment::name>("name", "\"kubernetes\""),
      taken<&image_segment::text>("text", "\"1.34.10\""),
      taken<&image_segment::source>("source", "the document and the field that says so"),
  };
};

template <>
struct answer_record<pool_image> {
  static constexpr const char* name = "image of a pool";
  static constexpr answer_field<pool_image> fields[] = {
      taken<&pool_image::pool>("pool", "its name, as in the question"),
      taken<&pool_image::image>("image",
                                "its name; empty with tags, or where the provider brings its own"),
      taken<&pool_image::rule>("rule", "the row of the tables that named it"),
      taken<&pool_image::segments>("segments", "what the name was put together from"),
      taken<&pool_image::image_version>("image_version", "of a gallery"),
      taken<&pool_image::tags>("tags", "of a template: all must match"),
      taken<&pool_image::ref>("ref", "how an image of that name is fetched"),
      taken<&pool_image::length>("length", "of the name, in characters"),
      taken<&pool_image::limit>("limit", "the most characters that the provider takes"),
  };
};

template <>
struct answer_record<baked_tool> {
  static constexpr const char* name = "tool";
  static constexpr answer_field<baked_tool> fields[] = {
      taken<&baked_tool::name>("name"),
      taken<&baked_tool::version>("version"),
  };
};

template <>
struct answer_record<map_answer> {
  static constexpr const char* name = "image names";
  static constexpr answer_field<map_answer> fields[] = {
      taken<&map_answer::provider>("provider", "\"aws\""),
      taken<&map_answer::chart>("chart", "the version of the cluster chart"),
      taken<&map_answer::explained>("explained", "which row of the tables applies, and why"),
      taken<&map_answer::images>("images", "one a pool, in the order of the question"),
      taken<&map_answer::inside>("inside", "the tools in the image, where the tables know them"),
      findings_of<map_answer>(),
  };
};

namespace {

using reactor::errc;
using reactor::make_fault;
using reactor::result;

constexpr std::int64_t instructions_per_entry = 2'000;

}  // namespace

std::int64_t release_instructions(std::size_t entries) {
  return unit_instructions + instructions_per_entry * static_cast<std::int64_t>(entries);
}

result<map_answer> read_map_answer(const value& answer, const map_question& question) {
  auto out = read_answer<map_answer>(answer);
  if (!out) return out;
  // What is denied has no name that could be used all the same.
  if (out->verdict == decision::deny) {
    out->images.clear();
    return out;
  }
  const auto refused = [](std::string why) {
    return make_fault(errc::malformed, {}, std::move(why));
  };
  const std::size_t expected = std::max<std::size_t>(1, question.pools.size());
  if (out->images.size() != expected)
    return refused("images: expected one a pool, " + std::to_string(expected) + ", got " +
                   std::to_string(out->images.size()));
  for (std::size_t i = 0; i < question.pools.size(); ++i)
    if (out->images[i].pool != question.pools[i].name)
      return refused("images[" + std::to_string(i + 1) + "].pool: expected " +
                     question.pools[i].name + ", the pool at this place");
  return out;
}

hook map_hook() {
  map_question q;
  q.release = typical_release();
  hook h = hook_of<map_answer>({"release.map", "what is the OS image of these pools called?",
                                "for each pool whose image follows from a Release, whenever the "
                                "Release or the pool changed, "
                                "and by `windlass release map`",
                                "no image: what waits for one keeps the one that it has"},
                               std::move(q), 4, nullptr);
  h.takes = [](const value& answer, const hook::asking& of) {
    map_question asked;
    const value question = plain_argument(of.question, 0);
    const value* pools = question.find("pools");
    if (const value::array* all = pools ? pools->if_array() : nullptr)
      for (const value& one : *all) asked.pools.push_back({.name = one.text_of("name")});
    return outcome_of(read_map_answer(answer, asked));
  };
  return h;
}

reactor::awaitable<result<map_answer>> map_release(host& packs, subject s,
                                                   std::shared_ptr<const map_question> question) {
  const std::size_t entries = question->release->components.size() +
                              question->release->apps.size() + question->pools.size() * 10 +
                              question->tools.size() + 5 * question->known_tools.size() +
                              (question->catalogue ? question->catalogue->size() / 50 : 0);
  auto read = [question](const value& answer) { return read_map_answer(answer, *question); };
  co_return co_await ask<map_answer>(packs, "release.map", std::move(s), question, entries,
                                     std::move(read));
}

}  // namespace releases
}  // namespace policies
