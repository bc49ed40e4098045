// What stands in the engine: readable with the replicas' key, in its place, and not otherwise.
#include "proxy/cluster/engine/seal.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "certs/secret_file.h"
#include "tests/support/temporary_directory.h"

namespace armgate::cluster {
namespace {

const std::string kSecret(48, 's');

TEST(ClusterKey, OnlyTheSameKeyOpensWhatItSealed) {
  const auto key = *ClusterKey::from_secret(kSecret);
  const auto other = *ClusterKey::from_secret(std::string(48, 't'));
  const std::string sealed = key.seal("a body", "1/2");
  EXPECT_EQ(sealed.find("a body"), std::string::npos);
  EXPECT_EQ(key.open(sealed, "1/2"), "a body");
  EXPECT_EQ(other.open(sealed, "1/2"), std::nullopt);
  EXPECT_NE(key.fingerprint(), other.fingerprint());
  EXPECT_NE(key.hash_key().first, other.hash_key().first);
}

TEST(ClusterKey, WhatWasMovedOrChangedDoesNotOpen) {
  const auto key = *ClusterKey::from_secret(kSecret);
  std::string sealed = key.seal("a body", "1/2");
  EXPECT_EQ(key.open(sealed, "1/3"), std::nullopt) << "it was put in another's place";
  for (size_t i = 0; i < sealed.size(); ++i) {
    sealed[i] = static_cast<char>(sealed[i] ^ 1);
    EXPECT_EQ(key.open(sealed, "1/2"), std::nullopt) << i;
    sealed[i] = static_cast<char>(sealed[i] ^ 1);
  }
  EXPECT_EQ(key.open(sealed.substr(0, 20), "1/2"), std::nullopt);
}

TEST(ClusterKey, TheSameIsNotSealedTheSameTwice) {
  const auto key = *ClusterKey::from_secret(kSecret);
  EXPECT_NE(key.seal("x", "1/1"), key.seal("x", "1/1"));
  EXPECT_EQ(key.open(key.seal("", "1/1"), "1/1"), "");
}

TEST(ClusterKey, AFileThatIsTooShortOrOpenToOthersIsRefused) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "key";
  EXPECT_FALSE(ClusterKey::load(file).ok());
  ASSERT_TRUE(certs::write_file(file, "short", 0600).ok());
  EXPECT_NE(ClusterKey::load(file).error().context.find("32 at least"), std::string::npos);
  ASSERT_TRUE(certs::write_file(file, kSecret + "\n", 0600).ok());
  EXPECT_EQ(ClusterKey::load(file)->fingerprint(), ClusterKey::from_secret(kSecret)->fingerprint())
      << "an editor's last line end";
  std::filesystem::permissions(file, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  EXPECT_FALSE(ClusterKey::load(file).ok());
}

}  // namespace
}  // namespace armgate::cluster
