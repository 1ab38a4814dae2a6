#pragma once
#include "services/kit/base/version.hpp"  // one for every binary
