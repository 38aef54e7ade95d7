// The library itself, once. Every start parses the manifests of all plugins, so it is compiled for
// speed also where its users are compiled for size.
#define TOML_IMPLEMENTATION
#include "core/toml.hpp"
