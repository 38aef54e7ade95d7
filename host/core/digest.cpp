#include "core/digest.hpp"
