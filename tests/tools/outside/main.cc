// outside MODEL IMAGE: classifies from four threads, prints the first three classes.
#include <vit/vit.h>
#include <iostream>
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

}  // namespace

int main(int, char** argv) try {
  if (vit::version() != vit::kVersion) throw vit::Error("the headers are of another version");
  const auto classifier = vit::Classifier::load(argv[1]);
  const vit::Image image = vit::read_image(argv[2]);
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
