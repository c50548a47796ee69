/// Files that are made from all rows at once, when these are complete.
#pragma once

#include <filesystem>
#include <optional>

#include "patch/image/image.h"
#include "tools/cli/check_output.h"
#include "tools/cli/stop_signals.h"
#include "tools/rows/class_rows.h"

namespace vit::tools {

enum class ExportKind { kParquet, kPage };

const OutputKinds<ExportKind>& export_kinds();
/// By the ending of the name.
std::optional<ExportKind> export_kind(const std::filesystem::path& path);

struct ExportSettings {
  std::filesystem::path output;
  ExportKind kind = ExportKind::kParquet;
  size_t threads = 0;  ///< 0: one per available core
  size_t max_pixels = patch::kUsualMaxPixels;
  patch::Exif exif = patch::Exif::kApply;
  bool quiet = false;
};

/// Returns the number of rows; none: it was stopped by a signal, and nothing was written.
std::optional<std::uint64_t> export_rows(const ClassRows& source, const ExportSettings& settings,
                                         const StopSignals& signals);

}  // namespace vit::tools
