// outside MODEL IMAGE: classifies from four threads, prints the first three classes.
#include <vit/vit.h>
#include <iostream>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Predictions = std::vector<vit::Prediction>;

bool same(const Predictions& a, const Predictions& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].index != b[i].index || a[i].probability != b[i].probability) return false;
  return true;
}

/// Prints the fields of an Error about this file.
vit::Image read(std::string_view file) try {
  return vit::read_image(std::string(file));
} catch (const vit::Error& error) {
  if (error.where() != file) throw;
  throw vit::Error("the image " + std::string(error.where()) + " " + std::string(error.reason()));
}

}  // namespace

int main(int, char** argv) try {
  if (vit::version() != vit::kVersion) throw vit::Error("the headers are of another version");
  const auto classifier = vit::Classifier::load(argv[1]);
  const vit::Image image = read(argv[2]);
  std::vector<Predictions> answers(4);
  std::vector<std::thread> threads;
  for (Predictions& answer : answers)
    threads.emplace_back([&] { answer = classifier.classify(image, 3); });
  for (std::thread& thread : threads) thread.join();
  for (const Predictions& answer : answers)
    if (!same(answer, answers.front())) throw vit::Error("threads disagree");

  vit::Runner runner = classifier.runner();
  const auto features = runner.features(image, vit::FeatureKind::kMean);
  if (features.size() != classifier.config().encoder.width) throw vit::Error("wrong features");
  for (const auto& p : answers.front()) std::cout << p.label << ' ' << p.probability << '\n';
} catch (const vit::Error& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
