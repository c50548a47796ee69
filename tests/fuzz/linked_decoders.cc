// Fuzzing links the decoders that the program loads on demand.
#include "patch/image/codecs.h"

extern "C" {
extern const vit::patch::Decoders vit_decoders;
extern const vit::patch::HeifDecoders vit_heif_decoders;
}

namespace vit::patch {

const Decoders& decoders() {
  return vit_decoders;
}

const HeifDecoders& heif_decoders() {
  return vit_heif_decoders;
}

}  // namespace vit::patch
