#include "core/log.hpp"
