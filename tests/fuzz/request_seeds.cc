/// Requests to vit serve: target, Content-Type and length of the JSON on a line each, then the
/// body.
#include "tests/fuzz/seeds.h"

namespace vit::fuzz {

std::vector<std::string> request_seeds() {
  const std::string json = "application/json\n\n";
  const std::string form =
      "multipart/form-data; boundary=b\n\n--b\r\nContent-Disposition: form-data; name=\"f\"; "
      "filename=\"a.png\"\r\n\r\nbytes\r\n--b\r\nContent-Disposition: form-data; name=\"k\"\r\n\r\n"
      "3\r\n--b--\r\n";
  const std::string infer =
      R"({"id":"1","inputs":[{"name":"image","datatype":"BYTES","shape":[1],"parameters":)"
      R"({"binary_data_size":7}}],"outputs":[{"name":"logits","parameters":{"binary_data":true}}]})";
  const std::string pixels =
      R"({"inputs":[{"name":"pixels","datatype":"FP32","shape":[1,2],"data":[[0.5,1e3]]}]})";
  return {
      "/v1/classify?k=3&name=a%20b+c\nimage/png\n\nbytes",
      "/v1/classify?labels=a,b&template=%7b%7d\n" + form,
      "/v1/classify\n" + json + R"({"images":["QUJD",{"name":"a","data":"data:a;base64,QQ=="}]})",
      "/v1/classify\n" + json + R"({"embeddings":[[1,-2.5e3],"AAAAAA=="],"labels":["a","b"]})",
      "/v2/models/m/infer\n" + json + pixels,
      "/v2/models/m/infer\napplication/octet-stream\n" + std::to_string(infer.size()) + "\n" +
          infer + std::string("\x03\0\0\0abc", 7),
      "/v1/classify\n" + json + "[[[[[[",
      "/%zz\n\n\n"};
}

}  // namespace vit::fuzz
