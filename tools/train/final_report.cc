#include "tools/train/final_report.h"

#include "tools/eval/data.h"
#include "tools/eval/predictions.h"
#include "tools/eval/report.h"
#include "tools/output/terminal.h"
#include "tools/output/unicode.h"

namespace vit::tools {
void report_model(const TrainSettings& settings, const data::Dataset& dataset,
                  const Picture& curves) {
  const Classifier classifier = Classifier::load(settings.output, {.threads = settings.threads});
  // Named by its file: the user's models of one architecture all have the same name.
  const ClassNames names(settings.output.filename().string(), classifier.labels(),
                         classifier.config().head.classes, classifier.wordnet_ids());
  const LabelledSource source = labelled_samples(dataset.validation, settings.max_pixels);
  const auto folder = settings.beside(".eval");
  PredictionsFile predictions(predictions_file(folder), names, false);
  const Evaluation evaluation =
      evaluate(classifier, source, {},
               {.failed =
                    [](const Failure& failure) {
                      write_message(printable(failure.name + ": " + failure.reason));
                    },
                .answered = [&](const LabelledImage& image,
                                const Answer& answer) { predictions.add(image, answer); }});
  const std::string data = "the validation images of " + settings.data.string() +
                           (dataset.split_by_us ? " (random split)" : "");
  const EvaluationReport report{.data = data,
                                .names = names,
                                .evaluation = evaluation,
                                .curves = curves.pixels.empty() ? nullptr : &curves};
  predictions.commit();
  write_evaluation(folder, report, source.read);
  write_output("\n" + evaluation_text(report) + "\nreport " +
               printable((folder / "index.html").string()) + "\n");
}

}  // namespace vit::tools
