// Goal: what is to be compared comes in a coding that can be read, and whatever comes is read or refused, never misread.
#include "proxy/request/content_coding.h"

#include <gtest/gtest.h>

#include "tests/support/stage_rig.h"

namespace armgate::world {
namespace {

TEST(ContentCoding, OnlyReadableCodingsAreAskedFor) {
  const struct {
    std::string_view accepted;
    std::optional<std::string> becomes;
  } cases[] = {
      {"", std::nullopt},
      {"gzip, deflate", std::nullopt},
      {"GZIP;q=1.0, identity; q=0.5", std::nullopt},
      {"gzip, br;q=0, *;q=0.0", std::nullopt},
      {"gzip, deflate, br", "gzip, deflate"},
      {"gzip, compress, deflate, br", "gzip, deflate"},  // axios
      {"br;q=1.0, gzip;q=0.8, *;q=0.1", "gzip;q=0.8, gzip"},
      {"zstd", "identity"},
      {"br,,zstd ,", "identity"},
      {"*", "gzip"},
      {"br; q=0.001", "identity"},
      {"br; Q=0", std::nullopt},
  };
  for (const auto& c : cases) EXPECT_EQ(readable_codings(c.accepted), c.becomes) << c.accepted;
}

TEST(ContentCoding, OfSeveralLinesOneIsMade) {
  arm::Headers fields{{"Accept-Encoding", "gzip"}, {"Host", "h"}, {"accept-encoding", "br"}};
  accept_readable_codings(fields);
  EXPECT_EQ(fields.count("accept-encoding"), 1u);
  EXPECT_EQ(fields.get("accept-encoding"), "gzip");
  arm::Headers none{{"Host", "h"}};
  accept_readable_codings(none);
  EXPECT_FALSE(none.has("accept-encoding"));
}

TEST(ContentCoding, WhatIsNotComparedIsAskedForAsItsClientAsks) {
  const arm::Headers fields{{"Accept-Encoding", "br, gzip"}};
  const auto asked_as = [&](rules::Mode mode, const std::string& request) {
    StageRig rig;
    rig.set_mode(mode);
    rig.arm_lives([](const arm::Request&) {
      Step step;
      step.body = "{}";
      return step;
    });
    rig.ask("one", request, request.starts_with("PUT") ? "{}" : "", fields);
    return std::string(rig.seen().back().head.fields.get("accept-encoding"));
  };
  EXPECT_EQ(asked_as(rules::Mode::Protect, get(kScaleSet)), "gzip");
  EXPECT_EQ(asked_as(rules::Mode::Protect, put(kScaleSet)), "gzip");
  EXPECT_EQ(asked_as(rules::Mode::Observe, get(kScaleSet)), "br, gzip");
  EXPECT_EQ(asked_as(rules::Mode::Off, get(kScaleSet)), "br, gzip");
  EXPECT_EQ(asked_as(rules::Mode::Protect, "GET /subscriptions/s/providers?api-version=2021-04-01"), "br, gzip");
}

TEST(ContentCoding, WhatCannotBeReadIsSaidToBeSo) {
  const std::string body = "no gzip at all";
  arm::ResponseHead head;
  EXPECT_EQ(plain_content(head, body, 4)->text(), body) << "plain bodies are bounded by whoever received them";
  head.fields.set("Content-Encoding", " Identity ");
  EXPECT_EQ(plain_content(head, body, 100)->text(), body);
  head.fields.set("Content-Encoding", "x-gzip");
  EXPECT_FALSE(plain_content(head, body, 100));
  EXPECT_EQ(plain_content(head, "", 100)->text(), "") << "an answer to HEAD";
  head.fields.set("Content-Encoding", "br");
  const auto unknown = plain_content(head, body, 100);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().context.find("br"), std::string::npos);
  EXPECT_EQ(keep_body(head, body), nullptr);
}

}  // namespace
}  // namespace armgate::world
