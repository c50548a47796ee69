#include "tools/rows/exports/exports.h"

#include "patch/image/pixel_budget.h"
#include "tools/cli/progress.h"
#include "tools/rows/exports/page.h"
#include "tools/rows/exports/parquet_rows.h"
#include "vit/base/thread_pool.h"

namespace vit::tools {

const OutputKinds<ExportKind>& export_kinds() {
  static const OutputKinds<ExportKind> kinds{{".parquet", ExportKind::kParquet},
                                             {".html", ExportKind::kPage}};
  return kinds;
}

std::optional<ExportKind> export_kind(const std::filesystem::path& path) {
  return find_by_ending(path, export_kinds());
}

std::optional<std::uint64_t> export_rows(const ClassRows& source, const ExportSettings& settings,
                                         const StopSignals& signals) {
  if (settings.kind == ExportKind::kParquet) return write_parquet(source, settings.output);
  ProgressLine progress(settings.quiet ? ProgressLine::Show::kNever
                                       : ProgressLine::Show::kOnTerminal);
  patch::PixelBudget budget(settings.max_pixels);
  patch::DecodeOptions decoding(settings.exif);
  decoding.max_pixels = settings.max_pixels;
  decoding.budget = &budget;
  ThreadPool pool(settings.threads);
  const std::uint64_t rows =
      write_page(source, settings.output,
                 {.decoding = decoding,
                  .pool = &pool,
                  .progress =
                      [&](std::uint64_t done, std::uint64_t all) {
                        progress.update([&](size_t) { return count_text("pictures", done, all); });
                      },
                  .stop = &signals.flag()});
  if (signals.number() != 0) return std::nullopt;
  return rows;
}

}  // namespace vit::tools
