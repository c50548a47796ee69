#include "vit/vit_c.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "vit/vit.h"

struct vit_classifier {
  vit::Classifier classifier;
  std::vector<std::string> labels;  ///< of every class; predictions point to them
};

struct vit_image {
  vit::Image image;
};

namespace {

/// `name`: the argument.
template <typename... Parts>
[[noreturn]] void refuse(const char* name, const Parts&... parts) {
  vit::fail_at(name, parts...);
}

struct LastError {
  std::string what;
  const char* text = "";  ///< what, or a constant where there is no memory for it
};

LastError& last_error() {
  thread_local LastError error;
  return error;
}

void keep(const char* what) noexcept {
  LastError& error = last_error();
  try {
    error.what = what;
    error.text = error.what.c_str();
  } catch (...) {
    error.text = "out of memory";
  }
}

/// task(), or `failed` and the error where it throws.
template <typename Result, typename Task>
Result guarded(Result failed, const Task& task) noexcept {
  try {
    return task();
  } catch (const std::bad_alloc&) {
    keep("out of memory");
  } catch (const std::exception& error) {
    keep(error.what());
  } catch (...) {
    keep("unknown error");
  }
  return failed;
}

template <typename T>
T& given(T* pointer, const char* name) {
  if (pointer == nullptr) refuse(name, "got NULL");
  return *pointer;
}

vit::FeatureKind kind_of(int kind) {
  constexpr std::array kKinds{vit::FeatureKind::kClass, vit::FeatureKind::kMean,
                              vit::FeatureKind::kPatches, vit::FeatureKind::kClassAndMean,
                              vit::FeatureKind::kPooled};
  if (kind < 0 || static_cast<std::size_t>(kind) >= kKinds.size())
    refuse("kind", "got ", kind, ", expected 0 to ", kKinds.size() - 1);
  return kKinds[static_cast<std::size_t>(kind)];
}

/// The labels as predictions name them.
std::vector<std::string> labels_of(const vit::Classifier& classifier) {
  const std::size_t classes = classifier.config().head.classes;
  std::vector<std::string> labels(classes);
  for (vit::Prediction& p : classifier.top(std::vector<float>(classes), classes))
    labels[p.index] = std::move(p.label);
  return labels;
}

std::size_t feature_count(const vit_classifier& owner, vit::FeatureKind kind) {
  vit::check_features(owner.classifier.config(), kind);
  return vit::feature_count(owner.classifier.config(), kind);
}

}  // namespace

extern "C" {

const char* vit_version() {
  return vit::version().data();
}

vit_classifier* vit_load(const char* model, size_t threads) {
  return guarded<vit_classifier*>(nullptr, [&] {
    vit::ClassifierOptions options;
    options.threads = threads;
    auto classifier = vit::Classifier::load(model == nullptr ? "" : model, options);
    std::vector<std::string> labels = labels_of(classifier);
    return new vit_classifier{std::move(classifier), std::move(labels)};
  });
}

void vit_free(vit_classifier* classifier) {
  delete classifier;
}

size_t vit_class_count(const vit_classifier* classifier) {
  return guarded<size_t>(0, [&] { return given(classifier, "classifier").labels.size(); });
}

vit_image* vit_read_image(const char* path) {
  return guarded<vit_image*>(nullptr,
                             [&] { return new vit_image{vit::read_image(&given(path, "path"))}; });
}

vit_image* vit_decode_image(const void* bytes, size_t size) {
  return guarded<vit_image*>(nullptr, [&] {
    if (bytes == nullptr) refuse("bytes", "got NULL");
    return new vit_image{vit::patch::decode({static_cast<const std::byte*>(bytes), size}, "image")};
  });
}

vit_image* vit_image_of_pixels(const unsigned char* rgb, size_t width, size_t height) {
  return guarded<vit_image*>(nullptr, [&] {
    const std::uint8_t& first = given(rgb, "rgb");
    constexpr size_t kMost = std::numeric_limits<std::ptrdiff_t>::max() / 3;
    if (width == 0 || height == 0 || width > kMost / height)
      refuse("image size", "got ", width, "x", height, ", expected at least 1x1");
    return new vit_image{
        {.width = width, .height = height, .pixels = {&first, &first + width * height * 3}}};
  });
}

void vit_free_image(vit_image* image) {
  delete image;
}

size_t vit_classify(const vit_classifier* classifier, const vit_image* image,
                    vit_prediction* predictions, size_t count) {
  return guarded<size_t>(0, [&] {
    const vit_classifier& owner = given(classifier, "classifier");
    vit_prediction* to = &given(predictions, "predictions");
    if (count == 0) refuse("count", "got 0, expected at least 1");
    const auto best = owner.classifier.classify(given(image, "image").image, count);
    for (const vit::Prediction& p : best)
      *to++ = {p.index, owner.labels[p.index].c_str(), p.probability};
    return best.size();
  });
}

size_t vit_feature_count(const vit_classifier* classifier, int kind) {
  return guarded<size_t>(
      0, [&] { return feature_count(given(classifier, "classifier"), kind_of(kind)); });
}

size_t vit_embed(const vit_classifier* classifier, const vit_image* image, int kind,
                 float* features, size_t count) {
  return guarded<size_t>(0, [&] {
    const vit_classifier& owner = given(classifier, "classifier");
    const vit::FeatureKind own = kind_of(kind);
    const size_t needed = feature_count(owner, own);
    if (count < needed) refuse("count", "got ", count, ", expected at least ", needed);
    float* to = &given(features, "features");
    std::ranges::copy(owner.classifier.features(given(image, "image").image, own), to);
    return needed;
  });
}

const char* vit_last_error() {
  return last_error().text;
}

}  // extern "C"
