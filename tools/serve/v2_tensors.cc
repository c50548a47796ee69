#include "tools/serve/v2_tensors.h"

#include <bit>
#include <cstdint>
#include <cstring>

#include "tools/serve/inputs.h"
#include "tools/serve/status_error.h"
#include "vit/base/text.h"

namespace vit::tools::serve {
namespace {

static_assert(std::endian::native == std::endian::little);  // as in the protocol

constexpr size_t kMostElements = size_t{1} << 28;

std::string text_of(const Json& json, const char* name, const std::string& where) {
  if (!json.is_object() || !json.contains(name) || !json[name].is_string())
    fail_request(400, where, " has no text \"", name, "\"");
  return json[name].get<std::string>();
}

bool flag_of(const Json& json, const char* name, bool otherwise) {
  if (!json.is_object() || !json.contains("parameters")) return otherwise;
  const Json& parameters = json["parameters"];
  if (!parameters.is_object() || !parameters.contains(name)) return otherwise;
  if (!parameters[name].is_boolean()) fail_request(400, "\"", name, "\" is not true or false");
  return parameters[name].get<bool>();
}

std::optional<size_t> binary_size(const Json& json) {
  if (!json.contains("parameters") || !json["parameters"].is_object() ||
      !json["parameters"].contains("binary_data_size"))
    return std::nullopt;
  const Json& size = json["parameters"]["binary_data_size"];
  if (!size.is_number_unsigned()) fail_request(400, "\"binary_data_size\" is not a number");
  return size.get<size_t>();
}

std::vector<size_t> shape_of(const Json& json, const std::string& where) {
  if (!json.contains("shape") || !json["shape"].is_array())
    fail_request(400, where, " has no array \"shape\"");
  std::vector<size_t> shape;
  size_t elements = 1;
  for (const Json& edge : json["shape"]) {
    if (!edge.is_number_unsigned() || edge.get<size_t>() == 0 ||
        edge.get<size_t>() > kMostElements / elements)
      fail_request(400, where, ": \"shape\" has ", dump(edge), ", expected a number from 1");
    shape.push_back(edge.get<size_t>());
    elements *= shape.back();
  }
  return shape;
}

size_t elements_of(const std::vector<size_t>& shape) {
  size_t elements = 1;
  for (const size_t edge : shape) elements *= edge;
  return elements;
}

/// Strings with their length, four bytes, before each.
std::vector<std::string> split_elements(std::string_view bytes, const std::string& where) {
  std::vector<std::string> elements;
  while (!bytes.empty()) {
    std::uint32_t length = 0;
    if (bytes.size() < sizeof(length)) fail_request(400, where, ": its binary data is cut short");
    std::memcpy(&length, bytes.data(), sizeof(length));
    bytes.remove_prefix(sizeof(length));
    if (length > bytes.size()) fail_request(400, where, ": its binary data is cut short");
    elements.emplace_back(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return elements;
}

void read_numbers(const Json& data, std::vector<float>& out) {
  if (data.is_array()) {
    for (const Json& one : data) read_numbers(one, out);  // rows may be nested
  } else if (data.is_number()) {
    out.push_back(data.get<float>());
  } else {
    fail_request(400, "\"data\" has ", data.type_name(), ", expected numbers");
  }
}

void read_binary(std::string_view bytes, const std::string& where, InferInput& input) {
  if (input.is_bytes) {
    input.elements = split_elements(bytes, where);
    return;
  }
  if (bytes.size() != elements_of(input.shape) * sizeof(float))
    fail_request(400, where, ": ", bytes.size(), " bytes of binary data, expected ",
                 elements_of(input.shape) * sizeof(float));
  input.numbers.resize(bytes.size() / sizeof(float));
  std::memcpy(input.numbers.data(), bytes.data(), bytes.size());
}

void read_data(const Json& json, const std::string& where, InferInput& input) {
  if (!json.contains("data") || !json["data"].is_array())
    fail_request(400, where, " has neither \"data\" nor \"binary_data_size\"");
  if (!input.is_bytes) return read_numbers(json["data"], input.numbers);
  for (const Json& one : json["data"]) input.elements.push_back(image_bytes(one, where));
}

InferInput read_input(const Json& json, std::string_view binary) {
  InferInput input;
  input.name = text_of(json, "name", "an input");
  const std::string where = "input '" + input.name + "'";
  const std::string type = text_of(json, "datatype", where);
  if (type != "BYTES" && type != "FP32")
    fail_request(400, where, " has the datatype ", type, ", expected BYTES or FP32");
  input.is_bytes = type == "BYTES";
  input.shape = shape_of(json, where);
  const auto size = binary_size(json);
  if (size.value_or(0) != binary.size())
    fail_request(400, where, ": ", binary.size(),
                 " bytes follow the JSON, but \"binary_data_size\" is ", size.value_or(0));
  if (size)
    read_binary(binary, where, input);
  else
    read_data(json, where, input);
  const size_t count = input.is_bytes ? input.elements.size() : input.numbers.size();
  if (count != elements_of(input.shape))
    fail_request(400, where, " has ", count, " elements, but its shape says ",
                 elements_of(input.shape));
  return input;
}

/// Splits a body into its JSON and what follows.
std::pair<std::string_view, std::string_view> split_body(const Request& request) {
  const std::string_view body = request.body, header = request.header(kJsonLength);
  if (header.empty()) return {body, {}};
  const auto length = to_number<size_t>(header);
  if (!length || *length > body.size())
    fail_request(400, "Inference-Header-Content-Length is '", header, "', but the body has ",
                 body.size(), " bytes");
  return {body.substr(0, *length), body.substr(*length)};
}

}  // namespace

InferRequest parse_infer(const Request& request) {
  const auto [text, binary] = split_body(request);
  const Json json = parse_json(text);
  if (!json.is_object() || !json.contains("inputs") || !json["inputs"].is_array() ||
      json["inputs"].size() != 1)
    fail_request(400,
                 "expected {\"inputs\": [one tensor]}: \"image\" (BYTES) or \"pixels\" (FP32)");
  InferRequest infer;
  if (json.contains("id") && json["id"].is_string()) infer.id = json["id"].get<std::string>();
  infer.input = read_input(json["inputs"][0], binary);
  infer.binary = flag_of(json, "binary_data_output", false);
  if (!json.contains("outputs")) return infer;
  if (!json["outputs"].is_array()) fail_request(400, "\"outputs\" is not an array");
  for (const Json& one : json["outputs"])
    infer.outputs.push_back(
        {text_of(one, "name", "an output"), flag_of(one, "binary_data", infer.binary)});
  return infer;
}

Reply infer_reply(const std::string& model, const InferRequest& request,
                  const std::vector<OutputTensor>& outputs) {
  Json json;
  json["model_name"] = model;
  json["model_version"] = "1";
  if (request.id) json["id"] = *request.id;
  json["outputs"] = Json::array();
  std::string binary;
  for (const OutputTensor& output : outputs) {
    Json one;
    one["name"] = output.name;
    one["datatype"] = "FP32";
    one["shape"] = output.shape;
    if (output.binary) {
      const size_t bytes = output.numbers.size() * sizeof(float);
      one["parameters"]["binary_data_size"] = bytes;
      binary.append(reinterpret_cast<const char*>(output.numbers.data()), bytes);
    } else {
      one["data"] = output.numbers;
    }
    json["outputs"].push_back(std::move(one));
  }
  Reply reply{.body = dump(json)};
  if (binary.empty()) return reply;
  reply.content_type = "application/octet-stream";
  reply.headers.emplace_back("Inference-Header-Content-Length", std::to_string(reply.body.size()));
  reply.body += binary;
  return reply;
}

}  // namespace vit::tools::serve
