#include "proxy/request/read_again.h"

#include <algorithm>
#include <utility>

#include "arm/etag.h"
#include "arm/operation.h"
#include "arm/throttle.h"
#include "proxy/request/budget.h"
#include "proxy/request/content_coding.h"
#include "proxy/request/identify.h"
#include "proxy/request/send_whole.h"

namespace armgate {
namespace {

constexpr Duration kFirstPause = std::chrono::milliseconds(500);
constexpr Duration kLongestPause = std::chrono::seconds(5);
constexpr Duration kAnswerLeast = std::chrono::seconds(5);  // for one read, also if nobody can wait any more

Task<Result<SeenState>> read_by(const Parts& parts, std::string host, OwnRead read, std::string authorization,
                                TimePoint until) {
  const auto& options = parts.shared.options;
  if (!options.may_ask(host)) {
    co_return gateway_error(ErrorKind::BadInput, "the URL's host is not a configured ARM host; a token is not sent there");
  }
  const Asker asker{principal_of(parts.shared.hasher, authorization), read.target};
  auto has_budget = co_await wait_for_budget(parts, asker, until);
  if (!has_budget) co_return std::move(has_budget).error();
  arm::Request request;
  request.head.host = std::move(host);
  request.head.target = std::move(read.target);
  request.head.method = read.method;
  request.head.method_token = arm::to_text(read.method);
  if (!authorization.empty()) request.head.fields.add("Authorization", authorization);
  request.head.fields.add("Accept", "application/json");
  request.head.fields.add("User-Agent", "armgate/" ARMGATE_VERSION);
  const TimePoint deadline =
      std::min(parts.clock.now() + options.read_again_timeout, std::max(until, parts.clock.now() + kAnswerLeast));
  auto answer = co_await send_whole(parts, asker.principal, request, deadline);
  if (!answer) co_return std::move(answer).error();
  auto plain = plain_content(answer->head, answer->body, options.write_answer_bytes_max);
  if (!plain) co_return std::move(plain).error();
  SeenState seen;
  seen.head = std::move(answer->head);
  seen.body = (*std::move(plain)).into_string();
  seen.etag = arm::etag_of(seen.head, seen.body).value_or("");
  co_return std::move(seen);
}

}  // namespace

OwnRead own_read(const Parts& parts, const Hash128& resource_key, std::string_view target) {
  const bool by_post =
      parts.shared.resources.ask(resource_key, [](const policy::History& history) { return history.is_read_by_post(); });
  if (by_post) return {arm::list_target_of(target), arm::Method::Post};
  return {std::string(target)};
}

Task<Result<SeenState>> read_once(const Parts& parts, std::string host, OwnRead read, std::string authorization) {
  const TimePoint deadline = parts.clock.now() + parts.shared.options.read_again_timeout;
  co_return co_await read_by(parts, std::move(host), std::move(read), std::move(authorization), deadline);
}

Task<Result<SeenState>> read_again(const Parts& parts, std::string host, OwnRead read, std::string authorization,
                                   TimePoint until) {
  const TimePoint deadline = std::min(parts.clock.now() + parts.shared.options.read_again_timeout, until);
  Duration pause = kFirstPause;
  while (true) {
    auto seen = co_await read_by(parts, host, read, authorization, deadline);
    const bool transient = seen ? seen->is_refused_for_now() : seen.error().kind != ErrorKind::BadInput;
    if (!transient) co_return std::move(seen);
    Duration wait = pause;
    if (seen) wait = std::max(wait, arm::retry_after(seen->head.fields, parts.clock.wall()).value_or(Duration{}));
    if (parts.clock.now() + wait > deadline) co_return std::move(seen);
    co_await parts.clock.sleep_for(wait);
    pause = std::min(pause * 2, kLongestPause);
  }
}

}  // namespace armgate
