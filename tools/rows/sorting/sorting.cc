#include "tools/rows/sorting/sorting.h"

#include <algorithm>
#include <tuple>

#include "tools/cli/usage_error.h"
#include "tools/output/format.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

/// More folders are only counted in the last line.
constexpr size_t kMostListed = 8;

std::string listed(const std::map<std::string, std::uint64_t>& placed) {
  if (placed.empty() || placed.size() > kMostListed) return "";
  std::vector<std::pair<std::string, std::uint64_t>> folders(placed.begin(), placed.end());
  std::ranges::stable_sort(folders, std::greater(), &std::pair<std::string, std::uint64_t>::second);
  std::string text;
  for (const auto& [folder, files] : folders)
    text += (text.empty() ? " (" : ", ") + folder + " " + format_count(files);
  return text + ")";
}

const char* done_word(SortBy by) {
  if (by == SortBy::kMove) return " moved into ";
  return by == SortBy::kCopy ? " copied into " : " linked into ";
}

}  // namespace

ClassFolders class_folders(const std::map<size_t, std::string>& labels) {
  ClassFolders names;
  std::map<std::string, size_t> uses;
  for (const auto& [index, label] : labels) ++uses[names[index] = folder_name(label)];
  for (auto& [index, name] : names)
    if (uses[name] > 1) name += " (" + std::to_string(index) + ")";
  return names;
}

ClassFolders class_folders(const std::vector<std::string>& labels, size_t classes) {
  std::map<size_t, std::string> named;
  for (size_t i = 0; i < classes; ++i)
    named[i] = i < labels.size() ? labels[i] : "class " + std::to_string(i);
  return class_folders(named);
}

fs::path kept_folders(const std::string& path, const std::vector<std::string>& bases) {
  const fs::path file = fs::path(path).lexically_normal();
  fs::path best;
  size_t longest = 0;
  for (const auto& base : bases) {
    const fs::path relative = file.lexically_relative(fs::path(base).lexically_normal());
    if (relative.empty() || *relative.begin() == ".." || base.size() < longest) continue;
    longest = base.size();
    best = relative.parent_path();
  }
  fs::path kept;
  for (const auto& part : best) {
    std::string name = part.string();
    if (name == "." || name.empty()) continue;
    if (name.ends_with('!')) name.pop_back();  // of "shard.tar!/name"
    kept /= folder_name(name);
  }
  return kept;
}

Sorting::Sorting(SortSettings settings, ClassFolders class_folders)
    : settings_(std::move(settings)), class_folders_(std::move(class_folders)) {
  if (settings_.by == SortBy::kNothing) return;
  const auto refuse = [&](const char* option, const std::string& folder) {
    for (const auto& [index, name] : class_folders_)
      if (name == folder)
        fail_usage("option '", option, "' got '", folder, "', which is the folder of class ", index,
                   "; expected another name");
  };
  refuse("--unsure-folder", settings_.unsure);
  refuse("--failed-folder", settings_.failed);
  if (settings_.by == SortBy::kMove) moves_.emplace(settings_.folder);
}

std::optional<std::string> Sorting::folder_of(bool failed, const Prediction* best) const {
  if (failed) return settings_.failed.empty() ? std::nullopt : std::optional(settings_.failed);
  if (best == nullptr || best->probability < settings_.least) return settings_.unsure;
  const auto found = class_folders_.find(best->index);
  if (found == class_folders_.end())
    throw Unreadable("its row names class " + std::to_string(best->index) +
                     ", which the model does not have");
  return found->second;
}

void Sorting::place(Row& row) {
  if (settings_.by == SortBy::kNothing) return;
  try {
    const auto folder =
        folder_of(row.failed(), row.predictions.empty() ? nullptr : &row.predictions.front());
    if (folder) put(row.input, *folder);
  } catch (const Unreadable& error) {
    if (row.failed())
      ++failed_unplaced_;
    else
      row.reason = "could not be copied: " + std::string(error.reason_at(row.input.path));
  }
}

void Sorting::place(const StoredRow& row, const std::atomic<bool>& stop) {
  if (settings_.by == SortBy::kNothing) return;
  try {
    const auto folder =
        folder_of(row.failed, row.predictions.empty() ? nullptr : &row.predictions.front());
    if (!folder) return;
    if (moves_ && moves_->knows(row.path))
      count(*folder);
    else
      put(input_of(row, stop), *folder);
  } catch (const Unreadable& error) {
    if (stop) return;
    if (row.failed)
      ++failed_unplaced_;
    else if (++vanished_ == 1)
      first_problem_ = error.what();
  }
}

void Sorting::finish() {
  if (moves_) moves_->flush();
}

Input Sorting::input_of(const StoredRow& row, const std::atomic<bool>& stop) {
  std::error_code ignored;
  Input input{.number = row.number, .path = row.path, .file = row.path};
  if (fs::is_regular_file(row.path, ignored)) return input;
  input = input_of_row(row.number, row.path, stop, finder_);
  if (!input.archive)
    fail_as<Unreadable>(row.path, input.problem.empty() ? "no such file" : input.problem);
  return input;
}

void Sorting::put(const Input& input, const std::string& folder) {
  fs::path into = settings_.folder / folder;
  if (settings_.keep_folders) into /= kept_folders(input.path, settings_.bases);
  if (settings_.by == SortBy::kMove) {
    moves_->add(input, into);
  } else {
    make_folder(into);
    // A link cannot point to a member of an archive.
    if (settings_.by == SortBy::kLink && !input.archive)
      link_into(input, into);
    else
      copy_into(input, into);
  }
  count(folder);
}

void Sorting::count(const std::string& folder) {
  if (folder == settings_.unsure)
    ++unsure_;
  else if (folder == settings_.failed)
    ++failed_;
  else
    ++placed_[folder];
}

std::string Sorting::summary() const {
  if (settings_.by == SortBy::kNothing) return "";
  std::uint64_t files = 0;
  for (const auto& [folder, count] : placed_) files += count;
  std::string text = ", " + format_count(files) + done_word(settings_.by) +
                     format_count(placed_.size()) + (placed_.size() == 1 ? " folder" : " folders") +
                     listed(placed_);
  if (unsure_ != 0) text += ", " + format_count(unsure_) + " into " + settings_.unsure;
  if (failed_ != 0) text += ", " + format_count(failed_) + " into " + settings_.failed;
  if (failed_unplaced_ != 0)
    text += ", " + format_count(failed_unplaced_) + " failed without a file";
  return text;
}

std::string Sorting::problem() const {
  if (vanished_ == 0) return "";
  return format_count(vanished_) +
         (vanished_ == 1 ? " file of an earlier row" : " files of earlier rows") +
         " could not be sorted, the first: " + first_problem_;
}

void sort_rows(Results& results, Sorting& sorting, const std::atomic<bool>& stop) {
  while (!stop) {
    const auto row = results.next();
    if (!row) break;
    sorting.place(*row, stop);
  }
  sorting.finish();
}

}  // namespace vit::tools
