#include "bench/load/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/load/replace.h"
#include "json/tree.h"

namespace armgate::load {
namespace {

std::vector<std::string> common_fields(const LoadOptions& options, const std::string& authority) {
  std::vector<std::string> of_clients;
  for (size_t i = 0; i < std::max<size_t>(options.tokens.size(), 1); ++i) {
    std::string& fields =
        of_clients.emplace_back(fmt::format("Host: {}\r\nUser-Agent: armgate_load\r\nAccept: application/json\r\n", authority));
    if (!options.tokens.empty()) fields += fmt::format("Authorization: {}\r\n", options.tokens[i]);
    for (const auto& header : options.headers) fields += header + "\r\n";
  }
  return of_clients;
}

}  // namespace

Workload::Workload(const LoadOptions& options, std::string authority, uint64_t seed)
    : options_(options), fields_(common_fields(options, authority)), zipf_(options.resources, options.zipf), rng_(seed) {}

Operation Workload::next(size_t connection) {
  const Mix& mix = options_.mix;
  const double drawn = rng_.unit() * (mix.get + mix.put + mix.update);
  Operation operation;
  operation.client = connection % fields_.size();
  operation.kind = drawn < mix.get ? Kind::Get : drawn < mix.get + mix.put ? Kind::Put : Kind::Update;
  operation.resource = options_.pick == Pick::OwnOfConnection ? connection : zipf_.next(rng_);
  return operation;
}

void Workload::begin(std::string_view method, const std::string& path, const Operation& operation) {
  request_.clear();
  request_ += method;
  request_ += ' ';
  request_ += replaced(path, "{n}", std::to_string(operation.resource));
  request_ += " HTTP/1.1\r\n";
  request_ += fields_[operation.client];
}

const std::string& Workload::finish(std::string_view body) {
  fmt::format_to(std::back_inserter(request_), "Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{}", body.size(),
                 body);
  return request_;
}

const std::string& Workload::get_request(const Operation& operation) {
  begin("GET", options_.path, operation);
  return request_ += "\r\n";
}

const std::string& Workload::put_request(const Operation& operation) {
  begin("PUT", options_.put_path, operation);
  return finish(replaced(options_.body, "{v}", fmt::format("{:010}", ++values_)));
}

const std::string* Workload::update_request(const Operation& operation, const std::string& was_read) {
  auto resource = nlohmann::json::parse(was_read, nullptr, false);
  if (!resource.is_object()) return nullptr;
  auto& tags = resource["tags"];
  if (!tags.is_object()) tags = nlohmann::json::object();
  tags["load"] = fmt::format("{:010}", ++values_);
  begin("PUT", options_.put_path, operation);
  return &finish(resource.dump());
}

}  // namespace armgate::load
