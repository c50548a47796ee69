/// Requests and answers of the Open Inference Protocol, version 2, in JSON or with binary tensors.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tools/output/json.h"
#include "tools/serve/http/message.h"

namespace vit::tools::serve {

/// The header with the size of the JSON in a body that continues with binary tensors.
inline constexpr const char* kJsonLength = "inference-header-content-length";

struct InferInput {
  std::string name;
  std::vector<std::string> elements{};  ///< of a BYTES tensor
  std::vector<float> numbers{};         ///< of an FP32 tensor
  std::vector<size_t> shape{};
  bool is_bytes = false;
};

struct InferOutput {
  std::string name;
  bool binary = false;
};

struct InferRequest {
  std::optional<std::string> id;
  InferInput input;
  std::vector<InferOutput> outputs;  ///< empty: all of them
  bool binary = false;               ///< outputs that do not say otherwise
};

/// Throws a StatusError (400) that says what is wrong.
InferRequest parse_infer(const Request& request);

struct OutputTensor {
  std::string name;
  std::vector<size_t> shape;
  std::vector<float> numbers;
  bool binary = false;
};
Reply infer_reply(const std::string& model, const InferRequest& request,
                  const std::vector<OutputTensor>& outputs);

}  // namespace vit::tools::serve
