// tree_fwd.h – the names of json/tree.h, for headers.
#pragma once

#include <nlohmann/json_fwd.hpp>
