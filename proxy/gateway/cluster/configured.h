// configured.h – what a replica tells the others of its configuration: what should be the same at all of them.
//
// Threads   any; no state.
#pragma once

#include <string>

namespace armgate {

struct Config;

// The fingerprint of the authority's root; empty: it cannot be read.
std::string root_of(const Config& config);

// For cluster::EngineOptions: the options on which promises rest, and the rules, the clients' entries and that root as hashes.
// What a machine has of its own (listeners, files, limits) is not in it. Nothing in it is secret.
std::string configured_text(const Config& config, const std::string& root);

}  // namespace armgate
