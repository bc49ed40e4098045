#include "proxy/request/send_whole.h"

#include <utility>

#include "proxy/request/budget.h"

namespace armgate {

Task<Result<arm::Response>> send_whole(const Parts& parts, Hash128 principal, const arm::Request& request, SendLimits limits,
                                       std::optional<arm::ResponseHead>* broken_off) {
  auto answer = co_await parts.upstream.send(request, limits);
  if (!answer) co_return std::move(answer).error();
  note_budgets(parts, {principal, request.head.target}, request.head.method, answer->head);
  auto body =
      co_await read_whole(*answer->body, parts.clock, {parts.shared.options.write_answer_bytes_max, limits.answered_by()});
  if (!body) {
    if (broken_off != nullptr) *broken_off = std::move(answer->head);
    co_return std::move(body).error();
  }
  co_return arm::Response{std::move(answer->head), *std::move(body)};
}

}  // namespace armgate
