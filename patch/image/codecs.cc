#include "patch/image/codecs.h"

#include "patch/image/load_module.h"

namespace vit::patch {
namespace {

constexpr const char* kWhat = "the image codecs";

}  // namespace

// A load that failed is tried again.
const Decoders& decoders() {
  static const auto* const loaded =
      static_cast<const Decoders*>(load_module(kWhat, VIT_DECODERS_MODULE, kDecodersSymbol));
  return *loaded;
}

const HeifDecoders& heif_decoders() {
  static const auto* const loaded = static_cast<const HeifDecoders*>(
      load_module(kWhat, VIT_HEIF_DECODERS_MODULE, kHeifDecodersSymbol));
  return *loaded;
}

const Encoders& encoders() {
  static const auto* const loaded =
      static_cast<const Encoders*>(load_module(kWhat, VIT_ENCODERS_MODULE, kEncodersSymbol));
  return *loaded;
}

}  // namespace vit::patch
