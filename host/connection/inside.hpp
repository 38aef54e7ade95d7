// What the objects inside of one connection know of each other. Borrowed, all of it: they are members of
// the same Connection.
//
// Threads: [value].
#pragma once

#include "connection/course.hpp"
#include "connection/dialogue.hpp"
#include "connection/transport_choice.hpp"

namespace patchbay::connection {

struct Inside {
    const registry::ServerSpec& spec;
    const protocol::Era era;  // that is preferred
    const ServerName& name;
    Course& course;
    TransportChoice& choice;
    Dialogue& dialogue;
    Loss& loss;
};

}  // namespace patchbay::connection
