#include "proxy/cluster/engine/seal.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <cstring>
#include <memory>

#include "base/check.h"
#include "certs/secret_file.h"

namespace armgate::cluster {
namespace {

constexpr size_t kSecretMin = 32;
constexpr size_t kNonce = 12;  // NIST SP 800-38D, 8.2.2: random ones suffice for 2^32 rows of one key
constexpr size_t kTag = 16;

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// One key for each use, so that none of them tells anything of another.
template <class Bytes>
void derive(std::string_view secret, std::string_view use, Bytes& into) {
  unsigned size = 0;
  const auto* done =
      HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()), bytes_of(use), use.size(), into.data(), &size);
  GATE_CHECK(done != nullptr && size == into.size(), "OpenSSL has no HMAC-SHA-256");
}

}  // namespace

ClusterKey::ClusterKey(std::string_view secret) {
  derive(secret, "armgate cluster: rows", sealing_);
  derive(secret, "armgate cluster: hashes", hashing_);
  derive(secret, "armgate cluster: fingerprint", told_);
}

Result<ClusterKey> ClusterKey::from_secret(std::string_view secret) {
  if (secret.size() < kSecretMin) {
    return gateway_error(ErrorKind::BadInput, fmt::format("the cluster's key has {} bytes; it must have {} at least, as of "
                                                          "\"openssl rand -base64 48\"",
                                                          secret.size(), kSecretMin));
  }
  return ClusterKey(secret);
}

Result<ClusterKey> ClusterKey::load(const std::filesystem::path& file) {
  auto secret = certs::read_secret_file(file);
  if (!secret) return std::move(secret).error();
  while (!secret->empty() && (secret->back() == '\n' || secret->back() == '\r')) secret->pop_back();
  auto key = from_secret(*secret);
  if (!key) return gateway_error(ErrorKind::BadInput, fmt::format("{}: {}", file.string(), key.error().context));
  return key;
}

std::string ClusterKey::seal(std::string_view plain, std::string_view place) const {
  std::string sealed(kNonce + plain.size() + kTag, '\0');
  unsigned char* const nonce = bytes_of(sealed);
  GATE_CHECK(RAND_bytes(nonce, kNonce) == 1, "no randomness");
  const Context context(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool done =
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, sealing_.data(), nonce) == 1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &size, bytes_of(place), static_cast<int>(place.size())) == 1 &&
      EVP_EncryptUpdate(context.get(), nonce + kNonce, &size, bytes_of(plain), static_cast<int>(plain.size())) == 1 &&
      EVP_EncryptFinal_ex(context.get(), nonce + kNonce + size, &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTag, nonce + kNonce + plain.size()) == 1;
  GATE_CHECK(done, "OpenSSL does not encrypt");
  return sealed;
}

std::optional<std::string> ClusterKey::open(std::string_view sealed, std::string_view place) const {
  if (sealed.size() < kNonce + kTag) return std::nullopt;
  std::string plain(sealed.size() - kNonce - kTag, '\0');
  std::string tag(sealed.substr(sealed.size() - kTag));
  const Context context(EVP_CIPHER_CTX_new());
  int size = 0;
  const bool done = EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, sealing_.data(), bytes_of(sealed)) == 1 &&
                    EVP_DecryptUpdate(context.get(), nullptr, &size, bytes_of(place), static_cast<int>(place.size())) == 1 &&
                    EVP_DecryptUpdate(context.get(), bytes_of(plain), &size, bytes_of(sealed) + kNonce,
                                      static_cast<int>(plain.size())) == 1 &&
                    EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTag, tag.data()) == 1 &&
                    EVP_DecryptFinal_ex(context.get(), bytes_of(plain) + size, &size) == 1;
  if (!done) return std::nullopt;
  return plain;
}

HashKey ClusterKey::hash_key() const {
  HashKey key;
  std::memcpy(&key.first, hashing_.data(), sizeof key.first);
  std::memcpy(&key.second, hashing_.data() + sizeof key.first, sizeof key.second);
  return key;
}

std::string ClusterKey::fingerprint() const {
  std::string text;
  for (size_t i = 0; i < 8; ++i) text += fmt::format("{:02x}", told_[i]);
  return text;
}

std::string place_of_row(uint32_t author, uint64_t batch) { return fmt::format("{}/{}", author, batch); }

}  // namespace armgate::cluster
