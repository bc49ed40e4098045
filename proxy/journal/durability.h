// durability.h – what a record in the journal outlives.
#pragma once

namespace armgate::journal {

// Process: armgate's end, however sudden. Power: that of the machine too, at the price of waiting for the disk once for each
// group of records.
enum class Durability { Process, Power };

}  // namespace armgate::journal
