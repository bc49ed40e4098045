// Lines that are written by a thread of their own: in order, whole, and never at the cost of who writes them.
#include "proxy/observability/line_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/small_files.h"
#include "tests/support/temporary_directory.h"

namespace armgate {
namespace {

using testing::ElementsAre;

int end_of(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  EXPECT_GE(fd, 0);
  return fd;
}

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string tell_lost(uint64_t lines) { return "lost " + std::to_string(lines); }

TEST(LineWriter, KeepsTheOrderOfEachThreadAndEndsWithTheLastLine) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "lines";
  constexpr int kThreads = 4;
  constexpr int kLines = 2'000;
  {
    LineWriter writer(end_of(file), tell_lost);
    std::vector<std::thread> threads;
    threads.reserve(kThreads);
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&writer, t] {
        for (int i = 0; i < kLines; ++i) writer.write(std::to_string(t) + " " + std::to_string(i));
      });
    }
    for (auto& thread : threads) thread.join();
  }
  std::array<int, kThreads> next{};
  for (const std::string& line : lines_of(file)) {
    const auto thread = static_cast<size_t>(line.front() - '0');
    EXPECT_EQ(line, std::to_string(thread) + " " + std::to_string(next.at(thread)++));
  }
  EXPECT_THAT(next, ElementsAre(kLines, kLines, kLines, kLines));
}

TEST(LineWriter, GivesUpTheOldestLinesOfAPipeThatNobodyReadsAndSaysHowMany) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  constexpr int kLines = 40'000;
  const std::string rest(500, '.');
  std::string text;
  std::thread reader;
  {
    LineWriter writer(pipe[1], tell_lost);
    for (int i = 0; i < kLines; ++i) writer.write(std::to_string(i) + rest);  // 20 MB; a pipe takes 64 KB
    reader = std::thread([&] {
      std::array<char, 65536> some{};
      for (ssize_t count = 0; (count = ::read(pipe[0], some.data(), some.size())) > 0;)
        text.append(some.data(), static_cast<size_t>(count));
    });
  }
  reader.join();
  ::close(pipe[0]);
  std::istringstream lines(text);
  uint64_t arrived = 0;
  uint64_t lost = 0;
  std::string newest;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("lost ")) {
      lost += std::stoull(line.substr(5));
    } else {
      ++arrived;
      newest = line;
    }
  }
  EXPECT_GT(lost, 15'000u);
  EXPECT_EQ(arrived + lost, static_cast<uint64_t>(kLines));
  EXPECT_EQ(newest, std::to_string(kLines - 1) + rest) << "the newest are kept";
}

TEST(LineWriter, TellsWhatCouldNotBeWrittenAsSoonAsALineCanBe) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "lines";
  {
    LineWriter writer(::open("/dev/full", O_WRONLY | O_CLOEXEC), tell_lost);
    writer.write("lost");
    writer.use(::open("/dev/full", O_WRONLY | O_CLOEXEC));
    writer.write("lost too");
    writer.use(end_of(file));
    writer.use(end_of(file));  // with nothing to write, which proves nothing
    writer.write("first");
    writer.use(end_of(file));
    EXPECT_THAT(lines_of(file), ElementsAre("first", "lost 2")) << "without a further line";
    writer.write("second");
  }
  EXPECT_THAT(lines_of(file), ElementsAre("first", "lost 2", "second"));
}

TEST(LineWriter, GoesOnAfterAChangeOfTheFileThatCameBeforeItWokeUp) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "lines";
  LineWriter writer(end_of(file), tell_lost);
  for (size_t i = 1; i <= 200; ++i) {
    ::usleep(3'000);  // it sleeps
    writer.write("before");
    writer.use(end_of(file));
    ::usleep(i % 2 == 0 ? 0 : 500);
    writer.write("after");
    size_t tries = 0;
    while (lines_of(file).size() < 2 * i && ++tries < 5'000) ::usleep(1'000);
    ASSERT_EQ(lines_of(file).size(), 2 * i) << "it sleeps for ever";
  }
}

// Lost lines are told once others can be written again.
void write_until_one_is_lost(LineWriter& writer, const std::atomic<uint64_t>& lost) {
  while (lost == 0) {
    {
      const SmallFiles small(10);
      writer.write("0123456789 and more");
      ::usleep(20'000);
    }
    for (int i = 0; i < 5; ++i) {
      writer.write("next");
      ::usleep(5'000);
    }
  }
}

TEST(LineWriter, TakesBackWhatIsPartOfALine) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "lines";
  std::atomic<uint64_t> lost = 0;
  {
    LineWriter writer(end_of(file), [&lost](uint64_t lines) {
      lost += lines;
      return std::string("told");
    });
    write_until_one_is_lost(writer, lost);
  }
  const auto lines = lines_of(file);
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), "next");
  for (const auto& line : lines) EXPECT_TRUE(line == "next" || line == "told" || line == "0123456789 and more") << line;
}

TEST(LineWriter, BeginsANewLineAfterOneThatWasCutAndCannotBeTakenBack) {
  const int file = ::memfd_create("lines", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  std::atomic<uint64_t> lost = 0;
  {
    LineWriter writer(::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC), [&lost](uint64_t lines) {
      lost += lines;
      return std::string("told");
    });
    write_until_one_is_lost(writer, lost);
  }
  const auto lines = lines_of(path);
  ::close(file);
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines.front(), "0123456789");
  EXPECT_EQ(lines.back(), "next");
}

}  // namespace
}  // namespace armgate
