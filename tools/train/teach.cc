#include "tools/train/teach.h"

#include <memory>
#include <mutex>

#include "tools/cli/class_names.h"
#include "tools/cli/progress.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"
#include "tools/train/named_classes.h"
#include "vit/base/hash.h"
#include "vit/gradient/network.h"
#include "vit/model/load.h"
#include "vit/model/open.h"
#include "vit/model/runner.h"
#include "vit/train/evaluate.h"
#include "vit/train/probe.h"
#include "weights/checkpoint.h"
#include "weights/store.h"

namespace vit::tools {
namespace {

namespace fs = std::filesystem;

/// Number of most likely classes stored per answer.
constexpr size_t kKept = 16;

/// A hash of everything that affects the inputs of the teacher.
std::uint64_t fingerprint_of(const TrainSettings& settings, const train::BatchSource& source,
                             std::uint64_t data_fingerprint) {
  const train::BatchRule& rule = settings.training.batches;
  const train::Augmentation& how = rule.augmentation;
  Hash hash;
  hash.add(data_fingerprint);
  if (settings.teacher_crops == 0) return hash.value();
  hash.add(rule.seed);
  hash.add(describe(source.recipe));
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

/// The network of a teacher, or none if it has parts without backward pass, which the network does
/// not know.
std::optional<gradient::Network<float>> network_of(const weights::Checkpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config;
  if (config.embedding.conv_stem || !gradient::without_backward_pass(config).empty()) return {};
  return gradient::load_network<float>(checkpoint);
}

/// Identifies the weights of a model that has no network.
std::uint64_t hash_of(const weights::Checkpoint& checkpoint) {
  Hash hash;
  for (const auto& [name, weight] : checkpoint.weights()) {
    const std::vector<float> numbers = weight.numbers();
    hash.add(name);
    hash.add_row(numbers.data(), numbers.size());
  }
  return hash.value();
}

/// At its own input size.
weights::Checkpoint open_teacher(const TrainSettings& settings) {
  auto checkpoint = weights::open(weights::find_model(settings.teacher));
  set_input(checkpoint);
  check_tokens(checkpoint.config, kMostTokens, settings.teacher);
  return checkpoint;
}

class Teacher {
 public:
  Teacher(const TrainSettings& settings, const train::BatchSource& source)
      : settings_(settings),
        source_(source),
        checkpoint_(open_teacher(settings)),
        classes_(classes_of(checkpoint_, settings, source.dataset)),
        recipe_(checkpoint_.recipe),
        network_(network_of(checkpoint_)) {
    if (!network_) model_ = load_model(checkpoint_);
    train::keep_margins(source.dataset.train, recipe_);
  }

  /// Depends on the model and on its matched classes.
  std::uint64_t hash() const {
    Hash hash;
    if (network_)
      hash.add_row(network_->numbers.data(), network_->numbers.size());
    else
      hash.add(hash_of(checkpoint_));
    hash.add_row(classes_.data(), classes_.size());
    hash.add(describe(recipe_));
    return hash.value();
  }

  /// One pass over all images.
  void answer(train::TeacherTable& table, ThreadPool& pool) const {
    const size_t count = source_.dataset.train.size(), crops = table.shape().crops,
                 pass = table.finished();
    const std::string what = "teacher, pass " + std::to_string(pass + 1) + " of " +
                             std::to_string(table.shape().passes()) + ": image";
    ProgressLine line;
    std::mutex counting;  // the answers come from all threads
    size_t done = 0;
    const auto image = [&](size_t i, patch::Image& memory) -> const patch::Image& {
      if (crops == 0) return source_.dataset.train[i].image;
      return memory = train::teacher_crop(source_, settings_.training.batches, i, pass);
    };
    const auto answers = [&](size_t first, ConstMatrixView logits) {
      for (size_t r = 0; r < logits.rows; ++r) {
        std::vector<float> probabilities(classes_.size());
        train::restricted_softmax(logits.row_span(r), classes_, probabilities);
        table.set(first + r, probabilities);
      }
      const std::lock_guard lock(counting);
      done += logits.rows;
      line.update([&](size_t) { return count_text(what, done, count); });
    };
    ask({.count = count, .image = image, .answers = answers}, pool);
    table.finish_pass();
  }

 private:
  void ask(const train::Questions& questions, ThreadPool& pool) const {
    if (network_) {
      const gradient::NetworkView<float> view(
          *network_, {.numbers = network_->numbers, .operands = settings_.training.operands});
      train::answer_questions(view, recipe_, questions, &pool);
      return;
    }
    std::vector<std::unique_ptr<Runner>> runners(pool.size());
    std::vector<patch::Image> memory(pool.size());
    parallel_for(&pool, questions.count, [&](size_t i, size_t worker) {
      auto& runner = runners[worker];
      if (!runner) runner = std::make_unique<Runner>(*model_, recipe_);
      const std::span<const float> logits = runner->logits(questions.image(i, memory[worker]));
      questions.answers(i, {logits.data(), 1, logits.size()});
    });
  }

  const TrainSettings& settings_;
  const train::BatchSource& source_;
  weights::Checkpoint checkpoint_;
  std::vector<size_t> classes_;
  Recipe recipe_;
  std::optional<gradient::Network<float>> network_;
  std::optional<Model> model_;  ///< where there is no network
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
    fail_again(error, "; use another file, or remove this one to compute the answers again");
  }
}

void save_answers(const train::TeacherTable& table, const fs::path& path) {
  if (path.empty()) return;
  table.save(path);
  write_output("pass " + std::to_string(table.finished()) + " of " +
               std::to_string(table.shape().passes()) + " of the teacher's answers is in " +
               printable(path.string()) + "\n");
}

/// Of a preview: complete, so that the epochs show the teacher's crops, but without answers.
train::Teaching without_answers(const TrainSettings& settings, const data::Dataset& dataset) {
  train::Teaching teaching{train::TeacherTable({.images = dataset.train.size(),
                                                .classes = dataset.labels.size(),
                                                .crops = settings.teacher_crops,
                                                .kept = 1}),
                           settings.teacher_share};
  while (!teaching.table.complete()) teaching.table.finish_pass();
  return teaching;
}

}  // namespace

std::optional<train::Teaching> ask_teacher(const TrainSettings& settings,
                                           const train::BatchSource& source,
                                           std::uint64_t data_fingerprint, ThreadPool& pool) {
  const data::Dataset& dataset = source.dataset;
  if (settings.teacher.empty()) return std::nullopt;
  if (!settings.preview.empty()) return without_answers(settings, dataset);
  const fs::path& path = settings.teacher_answers;
  const train::TeacherShape shape{
      .images = dataset.train.size(),
      .classes = dataset.labels.size(),
      .crops = settings.teacher_crops,
      .kept = std::min(kKept, dataset.labels.size()),
      .fingerprint = fingerprint_of(settings, source, data_fingerprint)};
  train::Teaching teaching{stored_answers(path, shape), settings.teacher_share};
  train::TeacherTable& table = teaching.table;
  if (table.complete() && !is_there(settings.teacher)) {
    write_message(settings.teacher + ": does not exist; its stored answers in " + path.string() +
                  " are used");
    return teaching;
  }
  const Teacher teacher(settings, source);
  const std::uint64_t hash = teacher.hash();
  if (table.finished() > 0 && table.teacher() != hash)
    fail_at(path.string(), "holds the answers of another teacher than ", settings.teacher,
            "; use another file, or remove this one");
  table.set_teacher(hash);
  if (table.complete())
    write_output(printable(path.string()) + ": the teacher's answers are reused\n");
  while (!table.complete()) {
    teacher.answer(table, pool);
    save_answers(table, path);
  }
  return teaching;
}

}  // namespace vit::tools
