// Goal: who may change something at the admin listener: somebody on this machine, who says who it is. Method: a table of requests.
#include "proxy/observability/admin/admin_page.h"

#include <gtest/gtest.h>

#include "json/tree.h"

namespace armgate {
namespace {

TEST(AdminPage, AnOperatorIsOnThisMachineAndHasAName) {
  const struct {
    const char* host;
    const char* peer;
    const char* name;
    int status;  // 0: let in
  } rows[] = {
      {"127.0.0.1", "127.0.0.1", "nadja", 0},
      {"localhost", "::1", "nadja", 0},
      {"[::1]", "::ffff:127.0.0.1", "nadja-2.x", 0},
      {"127.0.0.1", "10.0.0.7", "nadja", 403},
      {"rebound.example", "127.0.0.1", "nadja", 403},
      {"127.0.0.1", "", "nadja", 403},
      {"127.0.0.1", "127.0.0.1", "", 400},
      {"127.0.0.1", "127.0.0.1", "na dja", 400},
      {"127.0.0.1", "127.0.0.1", "na\tdja\"", 400},
  };
  for (const auto& row : rows) {
    arm::RequestHead head;
    head.host = row.host;
    if (*row.name != '\0') head.fields.add("X-Armgate-Operator", row.name);
    const auto refused = refuse_as_operator(head, row.peer);
    EXPECT_EQ(refused ? refused->head.status : 0, row.status) << row.host << " " << row.peer << " " << row.name;
  }
}

TEST(AdminPage, NothingIsStoredOrTakenForAnotherKind) {
  const arm::Response answer = admin_json(200, "OK", {{"text", "a\xff"}});
  EXPECT_EQ(answer.head.fields.get("Content-Type"), "application/json");
  EXPECT_EQ(answer.head.fields.get("Cache-Control"), "no-store");
  EXPECT_EQ(answer.head.fields.get("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(nlohmann::json::parse(answer.body)["text"], "a\xEF\xBF\xBD") << "bytes that are no UTF-8 do no harm";
  EXPECT_EQ(admin_text(404, "Not Found", "none").body, "none\n");
}

}  // namespace
}  // namespace armgate
