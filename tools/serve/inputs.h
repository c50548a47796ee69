/// The images of a request, in any of the forms that it may have.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "patch/image/image.h"
#include "tools/output/json.h"
#include "tools/serve/http/message.h"

namespace vit::tools::serve {

struct NamedImage {
  std::string name;
  std::string_view bytes;  ///< of an image file; held by the request or by its Inputs
};

/// The form of a body, by its media type.
enum class BodyKind { kImage, kMultipart, kJson };

/// The type in the header Content-Type: "image/jpeg" of "image/jpeg; charset=x", in lower case.
std::string media_type(const Request& request);
/// Throws a StatusError (415) for a type that holds no images.
BodyKind body_kind(const Request& request);

/// Images with fields of text beside them: those of a form, or of a JSON object.
struct Inputs {
  std::vector<NamedImage> images;
  std::deque<std::string> decoded;  ///< images that did not come as plain bytes
  Json fields = Json::object();
};

/// The request must outlive them. `or_embeddings`: JSON may have an array "embeddings" instead of
/// images, which stays among the fields. Throws a StatusError: 400 for what is malformed, 413 for
/// more than `most_images`.
Inputs read_inputs(const Request& request, size_t most_images, bool or_embeddings = false);

/// The JSON of a body. Throws a StatusError (400) if it is not JSON.
Json parse_json(std::string_view text);

/// An image as a string of JSON: base64, or a data: URL with base64. Throws a StatusError (400).
std::string image_bytes(const Json& text, std::string_view where);

/// Little-endian float32 in base64, as OpenAI's clients read it.
std::string packed_numbers(const std::vector<float>& numbers);
/// Such a text, or an array of numbers. Throws a StatusError (400).
std::vector<float> numbers_of(const Json& json, const std::string& where);

/// A setting of a request: of the address, or of the form or JSON. Numbers become text.
std::optional<std::string> setting(const Request& request, const Json& fields,
                                   const std::string& name);

struct PixelLimits {
  size_t max_pixels = 0;
  patch::Exif exif = patch::Exif::kApply;
};
/// Throws a StatusError: 415 if the bytes are not an image, 413 for too many pixels, 422 for an
/// image that cannot be decoded.
patch::Image decode_input(const NamedImage& input, const PixelLimits& limits);

}  // namespace vit::tools::serve
