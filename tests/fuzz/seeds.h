/// Small files of every format, good and bad ones.
#pragma once

#include <string>
#include <vector>

namespace vit::fuzz {

std::vector<std::string> safetensors_seeds();
std::vector<std::string> index_seeds();
std::vector<std::string> pickle_seeds();
std::vector<std::string> pth_seeds();
std::vector<std::string> legacy_pth_seeds();
std::vector<std::string> npy_seeds();
std::vector<std::string> npz_seeds();
std::vector<std::string> gguf_seeds();
std::vector<std::string> ggml_seeds();
std::vector<std::string> config_seeds();
std::vector<std::string> self_description_seeds();
std::vector<std::string> image_seeds();
std::vector<std::string> tar_seeds();
std::vector<std::string> zip_seeds();
std::vector<std::string> gzip_seeds();
std::vector<std::string> form_seeds();
std::vector<std::string> request_seeds();
std::vector<std::string> jpeg_seeds();
std::vector<std::string> bmp_seeds();
std::vector<std::string> tiff_seeds();
std::vector<std::string> webp_seeds();
std::vector<std::string> gif_seeds();
std::vector<std::string> heif_seeds();
std::vector<std::string> tokenizer_json_seeds();
std::vector<std::string> sentencepiece_seeds();
std::vector<std::string> search_index_seeds();

}  // namespace vit::fuzz
