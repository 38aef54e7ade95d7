#include "core/text.hpp"
