#include "tools/train/teach.h"

#include <mutex>

#include "tools/cli/class_names.h"
#include "tools/cli/progress.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "tools/train/named_classes.h"
#include "vit/base/hash.h"
#include "vit/model/load.h"
#include "vit/train/probe.h"
#include "weights/checkpoint.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

/// Number of most likely classes stored per answer.
constexpr size_t kKept = 16;

/// A hash of everything that affects the inputs of the teacher.
std::uint64_t fingerprint_of(const TrainSettings& settings, const data::Dataset& dataset) {
  const train::BatchRule& rule = settings.training.batches;
  const train::Augmentation& how = rule.augmentation;
  Hash hash;
  hash.add(data::fingerprint(dataset));
  if (settings.teacher_crops == 0) return hash.value();
  hash.add(rule.seed);
  hash.add(describe(rule.recipe));
  hash.add(static_cast<std::uint64_t>(how.crop));
  hash.add(std::uint64_t{how.pad});
  hash.add_row(&how.least_area, 1);
  hash.add(std::uint64_t{how.flip});
  if (rule.alternate_flips) hash.add(std::uint64_t{2});
  return hash.value();
}

/// The teacher's class for each class of the data.
std::vector<size_t> classes_of(const weights::Checkpoint& teacher, const TrainSettings& settings,
                               const data::Dataset& dataset) {
  const ClassNames known(settings.teacher, teacher.labels, teacher.config.head.classes,
                         teacher.wordnet_ids);
  NamedClasses names;
  if (!settings.teacher_classes.empty()) names = read_named_classes(settings.teacher_classes);
  std::vector<size_t> classes;
  for (const std::string& label : dataset.labels) {
    const auto said = names.find(label);
    const std::string& name = said == names.end() ? label : said->second;
    const std::optional<size_t> found = known.find(name);
    if (!found)
      fail(known.explain(name),
           "; --teacher-classes FILE matches the classes: lines of a class of the data, a "
           "tab, and the teacher's label");
    classes.push_back(*found);
  }
  return classes;
}

class Teacher {
 public:
  Teacher(const TrainSettings& settings, const data::Dataset& dataset)
      : settings_(settings),
        dataset_(dataset),
        checkpoint_(weights::open(weights::find_model(settings.teacher))),
        classes_(classes_of(checkpoint_, settings, dataset)),
        recipe_(checkpoint_.recipe),
        network_(
            gradient::load_network<float>(checkpoint_, recipe_.crop_height, recipe_.crop_width)) {
    check_tokens(checkpoint_.config, kMostTokens, settings.teacher);
    train::keep_margins(dataset.train, recipe_);
  }

  /// Depends on the model and on its matched classes.
  std::uint64_t hash() const {
    Hash hash;
    hash.add_row(network_.numbers.data(), network_.numbers.size());
    hash.add_row(classes_.data(), classes_.size());
    hash.add(describe(recipe_));
    return hash.value();
  }

  /// One pass over all images.
  void answer(train::TeacherTable& table, ThreadPool& pool) const {
    const size_t crops = table.shape().crops, pass = table.finished();
    const std::string what = "teacher, pass " + std::to_string(pass + 1) + " of " +
                             std::to_string(table.shape().passes()) + ": image";
    ProgressLine line;
    std::mutex counting;  // the answers come from all threads
    size_t done = 0;
    gradient::NetworkView<float> view(network_);
    view.operands = settings_.training.operands;
    train::answer_questions(
        view, recipe_,
        {.count = dataset_.train.size(),
         .image =
             [&](size_t i) {
               const patch::Image& image = dataset_.train[i].image;
               return crops == 0 ? image
                                 : train::teacher_crop(image, settings_.training.batches, i, pass);
             },
         .answer =
             [&](size_t i, std::span<const float> logits) {
               std::vector<float> probabilities(classes_.size());
               train::restricted_softmax(logits, classes_, probabilities);
               table.set(i, probabilities);
               const std::lock_guard lock(counting);
               ++done;
               line.update([&](size_t) { return count_text(what, done, dataset_.train.size()); });
             }},
        &pool);
    table.finish_pass();
  }

 private:
  const TrainSettings& settings_;
  const data::Dataset& dataset_;
  weights::Checkpoint checkpoint_;
  std::vector<size_t> classes_;
  Recipe recipe_;
  gradient::Network<float> network_;
};

bool is_there(const std::string& model) {
  try {
    return fs::exists(weights::find_model(model));
  } catch (const Error&) {
    return false;
  }
}

train::TeacherTable stored_answers(const fs::path& path, const train::TeacherShape& shape) {
  if (path.empty() || !fs::exists(path)) return train::TeacherTable(shape);
  try {
    return train::TeacherTable::load(path, shape);
  } catch (const Error& error) {
    fail(error, "; use another file, or remove this one to compute the answers again");
  }
}

void save_answers(const train::TeacherTable& table, const fs::path& path) {
  if (path.empty()) return;
  table.save(path);
  write_output("pass " + std::to_string(table.finished()) + " of " +
               std::to_string(table.shape().passes()) + " of the teacher's answers is in " +
               printable(path.string()) + "\n");
}

}  // namespace

std::optional<train::Teaching> ask_teacher(const TrainSettings& settings,
                                           const data::Dataset& dataset, ThreadPool& pool) {
  if (settings.teacher.empty()) return std::nullopt;
  const fs::path& path = settings.teacher_answers;
  train::Teaching teaching{stored_answers(path, {.images = dataset.train.size(),
                                                 .classes = dataset.labels.size(),
                                                 .crops = settings.teacher_crops,
                                                 .kept = std::min(kKept, dataset.labels.size()),
                                                 .fingerprint = fingerprint_of(settings, dataset)}),
                           settings.teacher_share};
  train::TeacherTable& table = teaching.table;
  if (table.complete() && !is_there(settings.teacher)) {
    write_message(settings.teacher + ": does not exist; its stored answers in " + path.string() +
                  " are used");
    return teaching;
  }
  const Teacher teacher(settings, dataset);
  if (table.finished() > 0 && table.teacher() != teacher.hash())
    fail(path.string(), ": holds the answers of another teacher than ", settings.teacher,
         "; use another file, or remove this one");
  table.set_teacher(teacher.hash());
  if (table.complete())
    write_output(printable(path.string()) + ": the teacher's answers are reused\n");
  while (!table.complete()) {
    teacher.answer(table, pool);
    save_answers(table, path);
  }
  return teaching;
}

}  // namespace vit::tools
