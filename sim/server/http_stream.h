// http_stream.h – HTTP/1.1 over one TCP connection, with TLS or without: for the simulated ARM's server and the demo's clients.
//
// Why: the one place with Beast, which shares nothing with proxy/http and proxy/net. Its parser and serializer are used on
// bytes; its asynchronous operations took a tenth of the whole build.
// Limits    bodies of 8 MB (ARM's own), heads of 64 KB.
// Threads   the connection's executor, which must be one.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/system/error_code.hpp>
#include <memory>
#include <string>

#include "arm/http.h"
#include "base/time.h"
#include "proxy/async/task.h"

namespace armgate::sim {

using ErrorCode = boost::system::error_code;

class HttpStream {
 public:
  explicit HttpStream(boost::asio::ip::tcp::socket socket);
  ~HttpStream();
  HttpStream(HttpStream&&) = delete;

  // Closes the connection, and so ends what waits for it, unless called again within that time. Zero: never.
  void expire_after(Duration duration);
  // Without an orderly end: the peer learns nothing.
  void reset();

  // ---- a server's ----
  Task<ErrorCode> accept_tls(boost::asio::ssl::context& context);
  // The next request, its body whole; who asks whether to send the body is told to. False at the end of the connection.
  Task<bool> read_request(arm::Request& request);
  // To the request that was read last. True if the connection can take another.
  Task<bool> write_response(arm::Response response);
  Task<void> close_tls();

  // ---- a client's ----
  Task<ErrorCode> connect(boost::asio::ip::tcp::endpoint endpoint);
  Task<ErrorCode> connect_tls(boost::asio::ssl::context& context, std::string host);
  Task<ErrorCode> write_request(arm::Request request);
  // `body_follows` is false for what CONNECT is answered. is_open() is false afterwards if the server closes the connection.
  Task<ErrorCode> read_response(arm::Response& response, bool body_follows = true);
  bool is_open() const { return keep_alive_; }

 private:
  struct Transport;
  template <class Parser>
  Task<ErrorCode> read(Parser& parser);
  template <class Serializer>
  Task<ErrorCode> write(Serializer& serializer);
  Task<ErrorCode> write_text(std::string text);

  std::shared_ptr<Transport> transport_;  // the timer's handler may come later than the end of this
  std::string received_;                  // and not read yet
  unsigned version_ = 11;
  bool keep_alive_ = true;
  bool is_head_ = false;
};

}  // namespace armgate::sim
