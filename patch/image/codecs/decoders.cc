// The module behind decoders(). Nothing of the library is linked into it but headers.
#include "patch/image/codecs.h"
#include "patch/image/codecs/library_decoders.h"
#include "patch/image/codecs/without_exceptions.h"

extern "C" {
__attribute__((visibility("default"))) extern const vit::patch::Decoders vit_decoders;
const vit::patch::Decoders vit_decoders{vit::patch::without_exceptions<vit::patch::decode_tiff>,
                                        vit::patch::without_exceptions<vit::patch::decode_webp>,
                                        vit::patch::without_exceptions<vit::patch::decode_gif>};
}
