#include "tools/eval/data.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <functional>
#include <memory>

#include "patch/image/pixel_budget.h"
#include "tools/output/csv.h"
#include "vit/base/error.h"
#include "vit/base/text.h"
#include "vit/data/image_files.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

struct ClassFolder {
  fs::path path;
  size_t truth = 0;
};

/// Whether all folders in it are classes: data/ may be given instead of data/val/.
bool holds_classes(const fs::path& folder, const ClassNames& names) {
  const auto inner = data::folders_in(folder);
  return !inner.empty() && std::ranges::all_of(inner, [&](const fs::path& path) {
    return names.find(path.filename().string()).has_value();
  });
}

[[noreturn]] void fail_unmatched(const fs::path& folder, const std::vector<fs::path>& unmatched,
                                 const ClassNames& names) {
  const auto was_trained_on = [](const fs::path& path) {
    return path.filename().string().starts_with("train");
  };
  std::vector<fs::path> likely_first = unmatched;
  // Not std::ranges: Clang 14 does not compile libstdc++'s subranges.
  std::stable_partition(likely_first.begin(), likely_first.end(), std::not_fn(was_trained_on));
  for (const fs::path& path : likely_first)
    if (holds_classes(path, names))
      fail_at(folder.string(), "its folders are not classes of ", names.model(), ", but those in ",
              path.string(), " are; did you mean that folder?");
  std::string more;
  constexpr size_t kShown = 5;
  for (size_t i = 1; i < std::min(unmatched.size(), kShown); ++i)
    more += (i == 1 ? " '" : ", '") + unmatched[i].filename().string() + "'";
  if (unmatched.size() > kShown) more += ", …";
  if (!more.empty())
    more = (unmatched.size() == 2
                ? "; nor is another folder:"
                : "; nor are " + std::to_string(unmatched.size() - 1) + " other folders:") +
           more;
  fail_at(folder.string(), "class folder ", names.explain(unmatched.front().filename().string()),
          more);
}

std::vector<ClassFolder> match_folders(const fs::path& folder, const std::vector<fs::path>& paths,
                                       const ClassNames& names) {
  std::vector<ClassFolder> matched;
  std::vector<fs::path> unmatched;
  for (const fs::path& path : paths) {
    if (const auto found = names.find(path.filename().string()))
      matched.push_back({path, *found});
    else
      unmatched.push_back(path);
  }
  if (!unmatched.empty()) fail_unmatched(folder, unmatched, names);
  return matched;
}

/// Lists images, and counts other files.
using List = std::function<void(const TakeImage& take, data::SkippedFiles& skipped)>;

List list_class_folders(std::vector<ClassFolder> folders) {
  return [folders = std::move(folders)](const TakeImage& take, data::SkippedFiles& skipped) {
    std::uint64_t number = 0;
    for (const ClassFolder& folder : folders)
      data::visit_images(
          folder.path,
          [&](const std::string& path) {
            take({path, number++, folder.truth});
            return true;
          },
          skipped);
  };
}

/// n01440764_10026.JPEG, as ImageNet names its files.
List list_named_files(const fs::path& folder, const ClassNames& names) {
  return [folder, &names](const TakeImage& take, data::SkippedFiles& skipped) {
    std::uint64_t number = 0;
    const auto take_named = [&](const std::string& path) {
      const std::string name = fs::path(path).filename().string();
      const auto id = leading_wordnet_id(name);
      const auto truth = id.empty() ? std::nullopt : names.find(id);
      if (id.empty())
        fail_at(path, "no class given, expected ", folder.string(),
                "/CLASS/IMAGE, or names that begin with a WordNet id such as n01440764");
      if (!truth) fail_at(path, names.explain(id));
      take({path, number++, *truth});
      return true;
    };
    data::visit_images(folder, take_named, skipped);
  };
}

/// The columns of file and label in a CSV file.
struct Columns {
  size_t file = 0;
  size_t label = 1;
  bool header = false;
};

std::optional<size_t> column_named(const std::vector<std::string>& fields,
                                   std::initializer_list<std::string_view> words) {
  for (size_t i = 0; i < fields.size(); ++i)
    if (std::ranges::find(words, lower(fields[i])) != words.end()) return i;
  return std::nullopt;
}

Columns columns_of(const std::vector<std::string>& first) {
  const auto file =
      column_named(first, {"file", "path", "image", "filename", "file_name", "filepath"});
  const auto label = column_named(first, {"label", "class", "target", "category", "truth"});
  if (!file || !label) return {};
  return {*file, *label, true};
}

List list_csv(const std::string& path, const ClassNames& names) {
  return [path, &names](const TakeImage& take, data::SkippedFiles&) {
    CsvReader reader(path);
    Columns columns;
    std::uint64_t number = 0;
    for (bool first = true; const auto fields = reader.next(); first = false) {
      if (first && (columns = columns_of(*fields)).header) continue;
      const auto where = [&] { return path + ": line " + std::to_string(reader.line()); };
      if (fields->size() <= std::max(columns.file, columns.label))
        fail_at(where(), "got ", fields->size(), fields->size() == 1 ? " field" : " fields",
                ", expected a file and its label");
      const std::string& label = (*fields)[columns.label];
      const auto truth = names.find(label);
      if (!truth)
        fail_at(where(), "label ", names.explain(label),
                first ? "; if this line names the columns, call them file and label" : "");
      const fs::path file = fs::path(path).parent_path() / (*fields)[columns.file];
      take({file.string(), number++, *truth});
    }
  };
}

List list_folder(const fs::path& folder, const ClassNames& names) {
  const auto folders = data::folders_in(folder);
  if (folders.empty()) return list_named_files(folder, names);
  return list_class_folders(match_folders(folder, folders, names));
}

/// Its images are few and small enough for memory; their labels come from the files.
LabelledFiles open_dataset(const data::Dataset& dataset, const std::string& path,
                           const ClassNames& names) {
  if (dataset.validation.empty())
    fail_at(path, "no test part in it, expected t10k-images-idx3-ubyte or test_batch.bin");
  std::vector<size_t> classes;
  for (const std::string& label : dataset.labels) {
    const auto truth = names.find(label);
    if (!truth) fail_at(path, "label ", names.explain(label));
    classes.push_back(*truth);
  }
  const auto samples = std::make_shared<std::vector<data::Sample>>(dataset.validation);
  for (data::Sample& sample : *samples) sample.label = classes[sample.label];
  LabelledFiles files{labelled_samples(*samples), samples->size(), {}};
  // The source keeps them alive.
  files.source.list = [samples, list = files.source.list](const TakeImage& take) { list(take); };
  return files;
}

}  // namespace

LabelledSource labelled_samples(const std::vector<data::Sample>& samples, size_t max_pixels) {
  LabelledSource source;
  source.list = [&samples](const TakeImage& take) {
    for (size_t i = 0; i < samples.size(); ++i)
      take({samples[i].file.empty() ? "image " + std::to_string(i) : samples[i].file, i,
            samples[i].label});
  };
  const auto budget = std::make_shared<patch::PixelBudget>(max_pixels);
  source.read = [&samples, max_pixels, budget](const LabelledImage& image) {
    const data::Sample& sample = samples[image.number];
    patch::DecodeOptions options;
    options.max_pixels = max_pixels;
    options.budget = budget.get();
    return sample.file.empty() ? sample.image : patch::read_image(sample.file, options);
  };
  return source;
}

LabelledFiles open_labelled(const std::string& path, const ClassNames& names,
                            const patch::DecodeOptions& options) {
  std::error_code problem;
  if (!fs::exists(path, problem))
    fail_at(path, problem ? "cannot open: " + problem.message() : "no such file or folder");
  if (data::is_idx_folder(path)) return open_dataset(data::read_idx(path), path, names);
  if (data::is_cifar_folder(path)) return open_dataset(data::read_cifar(path), path, names);
  const bool folder = fs::is_directory(path);
  const List list = folder ? list_folder(path, names) : list_csv(path, names);
  LabelledFiles files;
  files.source.list = [list](const TakeImage& take) {
    data::SkippedFiles counted_before;
    list(take, counted_before);
  };
  files.source.read = [options](const LabelledImage& image) {
    return patch::read_image(image.name, options);
  };
  list([&](const LabelledImage&) { ++files.images; }, files.skipped);
  if (files.images == 0 && folder)
    fail_at(path, "no image in it, expected files that end in ", data::kImageEndings);
  if (files.images == 0) fail_at(path, "no image in it, expected lines of file,label");
  return files;
}

}  // namespace vit::tools
