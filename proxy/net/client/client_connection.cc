#include "proxy/net/client/client_connection.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

namespace armgate::net {

using Content = http::ComposedResponse::Content;

void ClientConnection::begin(arm::Method method, int minor_version, http::Connection connection) {
  state_ = State::Nothing;
  method_ = method;
  minor_version_ = minor_version;
  if (connection_ == http::Connection::Keep) connection_ = connection;
  pending_.clear();
  ends_with_connection_ = false;
  read_came_early_ = unread_came_early_ = false;
}

Task<Result<void>> ClientConnection::write_head(const arm::ResponseHead& head, BodyLength length) {
  if (state_ != State::Nothing) co_return refuse("a second head was written");
  std::optional<arm::ResponseHead> adapted;  // only where something must be changed
  const bool may_have_content = method_ != arm::Method::Head && head.status >= 200 && head.status != 204 && head.status != 304;
  if (!may_have_content) {
    // A HEAD answer announces the length of what GET would return (RFC 9110 §8.6); a 204 must not have one.
    if (method_ == arm::Method::Head && length.kind == BodyLength::Kind::Known) {
      adapted.emplace(head).fields.set("Content-Length", std::to_string(length.bytes));
    }
    if (head.status == 204) adapted.emplace(head).fields.remove("Content-Length");
    length = BodyLength{};
  } else if (length.kind == BodyLength::Kind::None) {
    adapted.emplace(head).fields.remove("Content-Length");
    length = {BodyLength::Kind::Known, 0};  // without it the client would wait for content until the connection ends
  }
  const auto composed = http::compose_response(pending_, adapted ? *adapted : head, length, connection_, minor_version_);
  if (!composed) {
    state_ = State::Failed;
    co_return composed.error();
  }
  state_ = State::Writing;
  content_ = composed->content;
  connection_ = composed->connection;
  counted_ = length.kind == BodyLength::Kind::Known;
  left_ = length.bytes;
  ends_with_connection_ = length.kind == BodyLength::Kind::Unknown && content_ == Content::Plain;
  co_return Result<void>{};
}

Task<Result<void>> ClientConnection::write_body(std::string_view piece) {
  if (state_ != State::Writing) co_return refuse("content was written outside an answer");
  if (content_ == Content::None || piece.empty()) co_return Result<void>{};
  if (content_ == Content::Chunked) {
    const std::string start = fmt::format("{}{:x}\r\n", std::exchange(pending_, {}), piece.size());
    const std::array<std::string_view, 3> chunk{start, piece, "\r\n"};
    auto written = co_await stream_.write_all(chunk, clock_.now() + write_max_);
    co_return noted(std::move(written));
  }
  if (counted_ && piece.size() > left_) co_return refuse("more content was written than declared");
  left_ -= counted_ ? piece.size() : 0;
  if (counted_ && left_ == 0) note_early_input();
  const std::string start = std::exchange(pending_, {});
  const std::array<std::string_view, 2> pieces{start, piece};
  auto written = co_await stream_.write_all(pieces, clock_.now() + write_max_);
  co_return noted(std::move(written));
}

Task<Result<void>> ClientConnection::finish() {
  if (state_ != State::Writing) co_return refuse("an answer was finished that was not begun");
  if (content_ == Content::Plain && counted_ && left_ > 0) co_return refuse("less content was written than declared");
  std::string last = std::exchange(pending_, {});
  if (content_ == Content::Chunked) http::append_last_chunk(last);
  if (!last.empty()) {
    note_early_input();
    auto written = co_await stream_.write_all(last, clock_.now() + write_max_);
    if (!written) co_return noted(std::move(written));
  }
  state_ = State::Complete;
  co_return Result<void>{};
}

Result<void> ClientConnection::noted(Result<void> written) {
  if (!written) state_ = State::Failed;
  return written;
}

Result<void> ClientConnection::refuse(std::string_view why) {
  state_ = State::Failed;
  return gateway_error(ErrorKind::Internal, fmt::format("{}; the connection is closed", why));
}

}  // namespace armgate::net
