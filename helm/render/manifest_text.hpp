#pragma once

#include "helm/render/manifests.hpp"
#include "reactor/plain/owned.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace helm {

/// A document as it stands in a manifest: "---\n# Source: app/templates/x.yaml\n…\n".
std::string source_block(const std::string& path, const std::string& text);

enum class notes_of : std::uint8_t { chart, subcharts_too };
/// Takes NOTES.txt files out of what was rendered; those that count are the notes.
std::string take_notes(std::map<std::string, std::string>& files, const std::string& chart_name,
                       notes_of which);

/// What may still change a manifest before anybody sees it, a program for one: not for the loop's
/// thread. `steady` and `cancelled` end it early and may be missing.
using manifest_step = reactor::carried<outcome<std::string>(
    const std::string& manifest, const std::function<std::chrono::nanoseconds()>& steady,
    const std::atomic<bool>* cancelled)>;

struct manifest_options {
  bool hide_secrets = false;  // their text is left out
  manifest_step after;        // may be empty
  /// Gets each document; empty: they become the manifest.
  std::function<void(const std::string& path, const std::string& text)> put;
  std::function<std::chrono::nanoseconds()> steady;
  const std::atomic<bool>* cancelled = nullptr;
};

/// Sorted documents as one text, each under the file that it is from, as the step that comes after
/// leaves it. `before` is put in front, for that step to see.
/// Errors   those of `after`.
outcome<std::string> manifest_of(const sorted_manifests& sorted, std::string before,
                                 const manifest_options& how);

}  // namespace helm
