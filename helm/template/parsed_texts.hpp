#pragma once

#include "helm/template/node.hpp"
#include "reactor/plain/keyed_map.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace helm {

/// What `tpl` parsed, for when the same text comes again: the texts in a chart's values are the
/// same in every file of a render and, most of them, for every release.
/// Units    bytes of text. What is kept stays below twice `limit`: when the young generation is
///          full, it takes the place of the old one, and whatever is asked for there comes back.
/// Lifetime not for two threads at once, like the templates of a chart.
class parsed_texts {
public:
  using templates = std::vector<template_ptr>;
  static constexpr std::size_t limit = 128u << 10;

  /// Errors   template_error; such a text is not kept.
  std::shared_ptr<const templates> parse(const std::string& text);

  std::size_t bytes() const { return young_.bytes + old_.bytes; }

private:
  struct generation {
    reactor::keyed_map<std::string, std::shared_ptr<const templates>> known;
    std::size_t bytes = 0;
  };
  void keep(const std::string& text, std::shared_ptr<const templates> t);
  generation young_, old_;
};

}  // namespace helm
