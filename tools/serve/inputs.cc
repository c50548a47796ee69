#include "tools/serve/inputs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "patch/image/image_header.h"
#include "tools/output/html.h"
#include "tools/serve/multipart.h"
#include "tools/serve/status_error.h"
#include "vit/base/text.h"

namespace vit::tools::serve {
namespace {

constexpr size_t kFormFields = 64;  ///< parts of a form that are not images
constexpr std::string_view kForms =
    "expected an image (image/jpeg, image/png, image/webp, image/bmp, image/tiff, image/gif, "
    "image/heic, image/avif or "
    "application/octet-stream), multipart/form-data or application/json";

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text));
}

void check_count(size_t images, size_t most) {
  if (images == 0) fail_request(400, "there is no image in the request");
  if (images > most)
    fail_request(413, images, " images in one request; at most ", most, " are answered");
}

/// Nested JSON would be copied, written and freed with a function call per level.
void check_depth(std::string_view json) {
  constexpr size_t kMostLevels = 32;
  size_t levels = 0;
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') quoted = !quoted;
    if (quoted && c == '\\') ++i;
    if (quoted) continue;
    if ((c == '[' || c == '{') && ++levels > kMostLevels)
      fail_request(400, "the JSON is nested more than ", kMostLevels, " levels deep");
    if ((c == ']' || c == '}') && levels > 0) --levels;
  }
}

Inputs read_form(const Request& request, size_t most_images) {
  Inputs inputs;
  for (const FormPart& part :
       parse_form(request.body, form_boundary(request.header("content-type")),
                  most_images + kFormFields)) {
    if (part.is_file)
      inputs.images.push_back({part.file_name.empty() ? part.name : part.file_name, part.content});
    else
      inputs.fields[part.name] = std::string(part.content);
  }
  return inputs;
}

void add_json_image(const Json& json, Inputs& inputs) {
  const std::string number = std::to_string(inputs.images.size());
  const std::string where = "images[" + number + "]";
  if (!json.is_string() && (!json.is_object() || !json.contains("data")))
    fail_request(400, where, ": expected base64 text or {\"name\": ..., \"data\": base64 text}");
  const bool named = json.is_object() && json.contains("name") && json["name"].is_string();
  inputs.decoded.push_back(json.is_string() ? image_bytes(json, where)
                                            : image_bytes(json["data"], where + ".data"));
  inputs.images.push_back(
      {named ? json["name"].get<std::string>() : "image " + number, inputs.decoded.back()});
}

Inputs read_object(const Request& request, size_t most_images, bool or_embeddings) {
  Inputs inputs;
  Json json = parse_json(request.body);
  if (!json.is_object())
    fail_request(400, "the JSON is not an object, expected {\"images\": [...]}");
  const bool embeddings = or_embeddings && !json.contains("images") && json.contains("embeddings");
  const char* key = embeddings ? "embeddings" : "images";
  if (!json.contains(key) || !json[key].is_array())
    fail_request(400, "the JSON has no array \"", key, "\"");
  check_count(json[key].size(), most_images);
  if (!embeddings)
    for (const Json& one : json["images"]) add_json_image(one, inputs);
  json.erase("images");
  inputs.fields = std::move(json);
  return inputs;
}

}  // namespace

std::string media_type(const Request& request) {
  const std::string_view header = request.header("content-type");
  std::string type = lower(header.substr(0, std::min(header.find(';'), header.size())));
  while (type.ends_with(' ')) type.pop_back();
  return type;
}

BodyKind body_kind(const Request& request) {
  const std::string type = media_type(request);
  if (type == "multipart/form-data") return BodyKind::kMultipart;
  if (type == "application/json") return BodyKind::kJson;
  // curl --data-binary claims to send a form; decoding shows whether it is an image.
  if (type.empty() || type.starts_with("image/") || type == "application/octet-stream" ||
      type == "application/x-www-form-urlencoded")
    return BodyKind::kImage;
  fail_request(415, "a body of the type '", type, "' is not read; ", kForms);
}

Inputs read_inputs(const Request& request, size_t most_images, bool or_embeddings) {
  Inputs inputs;
  switch (body_kind(request)) {
    case BodyKind::kImage:
      inputs.images.push_back({request.parameter("name").value_or("image"), request.body});
      return inputs;
    case BodyKind::kMultipart:
      inputs = read_form(request, most_images);
      check_count(inputs.images.size(), most_images);
      return inputs;
    case BodyKind::kJson:
      return read_object(request, most_images, or_embeddings);
  }
  return inputs;
}

Json parse_json(std::string_view text) {
  check_depth(text);
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    fail_request(400, "the body is not valid JSON: at byte ", error.byte);
  }
}

std::string image_bytes(const Json& text, std::string_view where) {
  if (!text.is_string()) fail_request(400, where, ": expected an image as base64 text");
  std::string_view encoded = text.get_ref<const std::string&>();
  if (encoded.starts_with("http:") || encoded.starts_with("https:"))
    fail_request(400, where, ": images of other servers are not fetched; send the image itself");
  if (encoded.starts_with("data:")) {
    const size_t comma = encoded.find(',');
    if (comma == encoded.npos || !lower(encoded.substr(0, comma)).ends_with(";base64"))
      fail_request(400, where, ": expected a URL such as data:image/png;base64,...");
    encoded.remove_prefix(comma + 1);
  }
  auto bytes = from_base64(encoded);
  if (!bytes) fail_request(400, where, ": not valid base64");
  return std::move(*bytes);
}

std::string packed_numbers(const std::vector<float>& numbers) {
  static_assert(std::endian::native == std::endian::little);
  std::string bytes(numbers.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return base64(bytes);
}

std::vector<float> numbers_of(const Json& json, const std::string& where) {
  std::vector<float> numbers;
  if (json.is_array()) {
    for (const Json& one : json) {
      if (!one.is_number()) fail_request(400, where, ": expected numbers, got ", one.type_name());
      numbers.push_back(one.get<float>());
    }
  } else if (json.is_string()) {
    const auto bytes = from_base64(json.get_ref<const std::string&>());
    if (!bytes || bytes->size() % sizeof(float) != 0)
      fail_request(400, where, ": not float32 numbers in base64");
    numbers.resize(bytes->size() / sizeof(float));
    std::memcpy(numbers.data(), bytes->data(), bytes->size());
  } else {
    fail_request(400, where, ": expected an array of numbers, or float32 in base64");
  }
  if (!std::ranges::all_of(numbers, [](float x) { return std::isfinite(x); }))
    fail_request(400, where, ": a number is not finite");
  return numbers;
}

std::optional<std::string> setting(const Request& request, const Json& fields,
                                   const std::string& name) {
  if (auto given = request.parameter(name)) return given;
  if (!fields.contains(name)) return std::nullopt;
  const Json& value = fields[name];
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number() || value.is_boolean()) return dump(value);
  fail_request(400, "'", name, "' is ", value.type_name(), ", expected text or a number");
}

patch::Image decode_input(const NamedImage& input, const PixelLimits& limits) {
  const auto bytes = as_bytes(input.bytes);
  try {
    if (bytes.empty()) fail_at(input.name, "the file is empty");
    patch::check_format(bytes, input.name);
  } catch (const StatusError&) {
    throw;
  } catch (const Error& error) {
    fail_request(415, error.what());
  }
  const patch::ImageHeader header = patch::read_header(bytes);
  if (header.width != 0 && header.height > limits.max_pixels / header.width)
    fail_request(413, input.name, ": the image is too large: ", header.width, "x", header.height,
                 " pixels; the limit of this server is ", limits.max_pixels, " pixels");
  patch::DecodeOptions options(limits.exif);
  options.max_pixels = limits.max_pixels;
  try {
    return patch::decode(bytes, input.name, options);
  } catch (const Error& error) {
    fail_request(422, error.what());
  }
}

}  // namespace vit::tools::serve
