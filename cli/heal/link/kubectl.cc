#include "cli/heal/link/kubectl.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "cli/heal/link/interruptions.h"
#include "cli/process/child_command.h"

namespace armgate::heal {
namespace {

constexpr Duration kLookMax = std::chrono::minutes(3);       // kubectl gives up by itself before
constexpr size_t kParsedBytesMax = 1 << 20;                  // of output that is read: tokens, thousands of nodes
constexpr Duration kBesideDrain = std::chrono::seconds(10);  // for kubectl to say which pods it gave up on

std::string last_line(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  const std::string_view last = std::string_view(text).substr(text.rfind('\n') + 1);
  return printable(last.substr(last.size() - std::min(last.size(), kTailBytes)));
}

Finished run_to_its_end(const Words& words, const Environment& environment, Duration most) {
  CommandRunner runner;
  Finished finished = runner.run_quietly(words, environment, kParsedBytesMax, most);
  note_interruptions(finished.interruptions);
  return finished;
}

Error failed(const Words& words, const Finished& finished, Duration most) {
  const std::string last = last_line(finished.printed);
  if (finished.is_late)
    return gateway_error(ErrorKind::BadInput,
                         fmt::format("{} did not come to its end within {} min{}{}", words.front(), minutes_text(most),
                                     last.empty() ? "" : "; the last it said: ", last));
  return gateway_error(ErrorKind::BadInput, fmt::format("{} ended with {}: {}", words.front(), finished.exit_code, last));
}

}  // namespace

Result<std::string> run_command(const Words& words, const Environment& environment, Duration most) {
  Finished finished = run_to_its_end(words, environment, most);
  if (finished.exit_code != 0 || finished.is_late) return failed(words, finished, most);
  if (finished.is_cut) {
    return gateway_error(ErrorKind::TooLarge,
                         fmt::format("{} printed more than the {} bytes that are read of it", words.front(), kParsedBytesMax));
  }
  return std::move(finished.printed);
}

Result<void> check_kubectl(const NodeAccess& access, const Environment& environment) {
  const std::string& file = access.kubeconfig;
  if (::access(file.c_str(), R_OK) != 0)
    return gateway_error(ErrorKind::BadInput, fmt::format("there is no file {} that can be read (--kubeconfig)", file));
  const auto context = run_command(context_command(file), environment, kLookMax);
  if (context) return {};
  return gateway_error(ErrorKind::BadInput,
                       fmt::format("{} cannot be used with kubectl (--kubeconfig): {}", file, context.error().context));
}

Result<NodeCount> count_nodes(const NodeAccess& access, const Environment& environment, const std::string& pool) {
  const auto printed = run_command(nodes_command(access.kubeconfig, pool), environment, kLookMax);
  return printed ? read_nodes(*printed) : Result<NodeCount>(printed.error());
}

Result<std::string> drain_pool(const NodeAccess& access, const Environment& environment, const std::string& pool) {
  const auto cordoned = run_command(cordon_command(access.kubeconfig, pool), environment, kLookMax);
  if (!cordoned) return cordoned.error();
  const Words drain = drain_command(access.kubeconfig, pool, access.drain);
  // kubectl gives each node its time, one after the other.
  const Finished drained = run_to_its_end(drain, environment, access.drain + kBesideDrain);
  if (drained.exit_code == 0 && !drained.is_late) return std::string();
  const Words pods = pods_left(drained.printed, drained.is_late ? Drain::CutOff : Drain::Ended);
  if (pods.empty()) return failed(drain, drained, access.drain).context;
  if (!drained.is_late) return first_of(pods);
  return fmt::format("{} (the {} min of --drain-min were over before kubectl had tried every node)", first_of(pods),
                     minutes_text(access.drain));
}

}  // namespace armgate::heal
