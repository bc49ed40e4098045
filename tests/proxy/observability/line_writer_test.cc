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
#include <future>
#include <memory>
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

// Comes back when that is done.
void use(LineWriter& writer, int fd) {
  const auto done = std::make_shared<std::promise<void>>();
  writer.reopen([done, fd] {
    done->set_value();
    return LineWriter::Reopened{fd, ""};
  });
  done->get_future().wait();
}

void wait_for_lines(const std::filesystem::path& file, size_t count) {
  for (int tries = 0; lines_of(file).size() < count && tries < 5'000; ++tries) ::usleep(1'000);
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
    use(writer, ::open("/dev/full", O_WRONLY | O_CLOEXEC));
    writer.write("lost too");
    use(writer, end_of(file));
    use(writer, end_of(file));  // with nothing to write, which proves nothing
    writer.write("first");
    wait_for_lines(file, 2);
    EXPECT_THAT(lines_of(file), ElementsAre("first", "lost 2")) << "without a further line";
    writer.write("second");
  }
  EXPECT_THAT(lines_of(file), ElementsAre("first", "lost 2", "second"));
}

TEST(LineWriter, AChangeOfTheFilePartsTheLinesWhereItWasAskedFor) {
  const TemporaryDirectory directory;
  LineWriter writer(end_of(directory.path() / "0"), tell_lost);
  for (size_t i = 0; i < 200; ++i) {
    const auto old = directory.path() / std::to_string(i);
    const auto next = directory.path() / std::to_string(i + 1);
    if (i % 4 == 0) ::usleep(3'000);  // it sleeps
    if (i % 3 == 0) writer.write("before");
    const auto done = std::make_shared<std::promise<void>>();
    writer.reopen([done, next] {
      done->set_value();
      return LineWriter::Reopened{end_of(next), "reopened"};
    });
    ::usleep(i % 2 == 0 ? 0 : 500);
    writer.write("after");
    done->get_future().wait();
    wait_for_lines(next, 2);
    ASSERT_THAT(lines_of(next), ElementsAre("reopened", "after"));
    EXPECT_EQ(lines_of(old).size(), (i == 0 ? 0u : 2u) + (i % 3 == 0 ? 1u : 0u)) << i;
  }
}

// As a disk that hangs: who asks for the change is not to wait for it.
TEST(LineWriter, AFileThatTakesNothingKeepsNobodyFromAskingForAnother) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "lines";
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  {
    LineWriter writer(pipe[1], tell_lost);
    writer.write(std::string(100'000, '.'));  // a pipe takes 64 KiB
    ::usleep(20'000);                         // it writes
    writer.write("before");
    int asked = 0;
    const auto reopen = [&] {
      ++asked;
      return LineWriter::Reopened{end_of(file), "reopened " + std::to_string(asked)};
    };
    writer.reopen(reopen);
    writer.write("after");
    writer.reopen(reopen);
    EXPECT_FALSE(std::filesystem::exists(file)) << "what came before goes first";
    std::string text;
    std::array<char, 65536> some{};
    for (ssize_t count = 0; (count = ::read(pipe[0], some.data(), some.size())) > 0;)
      text.append(some.data(), static_cast<size_t>(count));
    EXPECT_TRUE(text.ends_with(".\nbefore\n"));
  }
  ::close(pipe[0]);
  EXPECT_THAT(lines_of(file), ElementsAre("reopened 1", "after"));
}

TEST(LineWriter, AFileThatCannotBeOpenedLeavesTheOldOneInUse) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "lines";
  {
    LineWriter writer(end_of(file), tell_lost);
    writer.write("before");
    writer.reopen([] { return LineWriter::Reopened{-1, "cannot be"}; });
    writer.write("after");
  }
  EXPECT_THAT(lines_of(file), ElementsAre("before", "cannot be", "after"));
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
