// What mode observe promises: everything goes to ARM at once and as it came, and comes back as ARM gave it.
#include <algorithm>

#include "tests/support/checkers/checkers.h"

namespace armgate::world {

void Checkers::check_untouched(const Record& record, const arm::Request& request) {
  const arm::RequestHead& came = record.as_served->head;
  const arm::RequestHead& goes = request.head;
  const bool same_fields = std::equal(came.fields.begin(), came.fields.end(), goes.fields.begin(), goes.fields.end(),
                                      [](const auto& a, const auto& b) { return a.name == b.name && a.value == b.value; });
  const bool same_line = came.method_token == goes.method_token && came.target == goes.target && came.host == goes.host;
  if (!same_fields || !same_line || record.as_served->body != request.body) {
    violated("P7", record.what + " was altered on its way to ARM");
  }
  if (record.sends == 0 && clock_.now() != record.served) violated("P7", record.what + " waited although nobody was to wait");
}

// armgate itself speaks only if ARM could not be reached or did not answer.
void Checkers::check_own_answer(const Record& record, const SimLink& link) {
  const auto& answer = link.answer();
  if (answer.body.find(R"("code":"ArmgateUpstream)") != std::string::npos) return;
  if (is_armgates(answer)) violated("P7", record.what + " was answered by armgate");
  const bool marked = std::any_of(answer.head.fields.begin(), answer.head.fields.end(), is_armgate_field);
  if (marked) violated("P7", "the answer to " + record.what + " was marked");
}

}  // namespace armgate::world
