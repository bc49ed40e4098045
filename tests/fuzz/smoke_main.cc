// smoke_main.cc – runs a fuzz target over its corpus and seeded mutations of it.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/rng.h"
#include "tests/fuzz/fuzz.h"

namespace {

constexpr int kMutationsPerFile = 400;
constexpr uint64_t kSeed = 20221;

std::string mutate(std::string text, armgate::Rng& rng) {
  const uint64_t edits = 1 + rng.below(4);
  for (uint64_t i = 0; i < edits; ++i) {
    const size_t at = rng.below(text.size() + 1);
    switch (rng.below(4)) {
      case 0: text.insert(at, 1, static_cast<char>(rng.below(256))); break;
      case 1: text.erase(at, 1 + rng.below(8)); break;
      case 2: text.insert(at, text.substr(at / 2, rng.below(32))); break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(rng.below(256));
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_DIRECTORY\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr, "%s holds no corpus\n", argv[1]);
    return 1;
  }
  armgate::Rng rng(kSeed);
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    armgate::fuzz::fuzz_one(text);
    for (int i = 0; i < kMutationsPerFile; ++i) armgate::fuzz::fuzz_one(mutate(text, rng));
  }
  std::printf("%zu files and %zu mutations held\n", files.size(), files.size() * kMutationsPerFile);
  return 0;
}
