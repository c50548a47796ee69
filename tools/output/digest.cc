#include "tools/output/digest.h"

#include <openssl/evp.h>

#include <array>

#include "vit/base/encoding.h"
#include "vit/base/error.h"

namespace vit::tools {

struct Digest::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
};

void Digest::Free::operator()(State* state) const {
  EVP_MD_CTX_free(state->context);
  delete state;
}

Digest::Digest(const char* algorithm) : state_(new State) {
  const EVP_MD* digest = EVP_get_digestbyname(algorithm);
  if (digest == nullptr || EVP_DigestInit_ex(state_->context, digest, nullptr) != 1)
    fail("OpenSSL does not offer ", algorithm);
}

Digest Digest::sha256() {
  return Digest("SHA256");
}

Digest Digest::git_blob(std::size_t size) {
  Digest digest("SHA1");
  const std::string header = "blob " + std::to_string(size);
  digest.add(std::as_bytes(std::span(header.c_str(), header.size() + 1)));
  return digest;
}

void Digest::add(std::span<const std::byte> bytes) {
  if (EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) != 1)
    fail("OpenSSL cannot compute a hash");
}

std::string Digest::finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned length = 0;
  if (EVP_DigestFinal_ex(state_->context, bytes.data(), &length) != 1)
    fail("OpenSSL cannot compute a hash");
  return to_hex({reinterpret_cast<const char*>(bytes.data()), length});
}

}  // namespace vit::tools
