// entry_match.h – whether an answer shows a state that is known already.
//
// Threads   pure functions.
#pragma once

#include "arm/body/body_facts.h"
#include "proxy/policy/history.h"

namespace armgate::policy {

// Of nothing there are none.
bool same_bytes(const SharedBody& a, const SharedBody& b);

// Whether the entry is what an answer shows. Without a body that could tell, the ETag does.
bool is_shown_by(const Entry& entry, const StateShown& shown);

// Whether the entry is certainly something else than what an answer shows. Bodies at two api-versions do not tell.
bool is_other_than(const Entry& entry, const StateShown& shown);

// What the write before asked for, and the state it led to; null: not known. The difference shows which members the service
// decides itself.
struct WriteBefore {
  SharedBody asked{};
  SharedBody state{};
};

// Of the one before that write, up to it.
WriteBefore write_before(const History& history, const Entry& write, std::string_view api_version);

// Whether an answer shows all that a write asked for. Without ETags a value that is set again looks as it did the last time,
// and a write may have changed nothing. What it repeats of members that the service decides on it does not ask for.
bool is_what_was_asked_for(const Entry& write, const StateShown& shown, const arm::BodyFacts& facts,
                           const WriteBefore& before = {});

}  // namespace armgate::policy
