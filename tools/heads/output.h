/// The report of `vit heads` as a table, numbers, plots and a page.
#pragma once

#include <string>
#include <vector>

#include "tools/draw/canvas.h"
#include "vit/data/skipped_files.h"
#include "vit/interpret/head_report.h"

namespace vit::tools {

using interpret::HeadReport;

/// A report and the name of its model.
struct NamedReport {
  std::string model;
  HeadReport report;
  data::SkippedFiles skipped{};  ///< of the folder of images
};

std::string heads_table(const NamedReport& named);
std::string heads_csv(const NamedReport& named);
std::string heads_json(const NamedReport& named);
/// Distance by depth, and the importance of each head.
Picture heads_plots(const NamedReport& named);
/// `matrices`: a PNG per head.
std::string heads_page(const NamedReport& named, const std::vector<std::string>& matrices);

/// Pictures of the mean attention of each head, [layers·heads·T, T]: queries down, keys across,
/// colours by the square root, each with its own scale.
std::vector<std::string> matrix_pictures(const HeadReport& report, const Matrix& attention);

/// Plots of the page, in its colours.
std::string distance_svg(const HeadReport& report);
std::string importance_svg(const HeadReport& report);
std::string patterns_svg(const HeadReport& report);

/// "dead", "like 3:1", or nothing.
std::string notes_on(const HeadReport& report, const interpret::HeadSummary& head);
/// "3:1"
std::string head_name(const HeadId& id);

}  // namespace vit::tools
