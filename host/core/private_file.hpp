// Files that this user alone keeps: the state directory and what is in it. Whoever else could have
// put such a file there would say what was approved and who is signed in, so nothing of it is read.
//
// Threads: [any]; blocks for the disk.
// Errors:  Denied with the path, whose fault it is and what to run; nothing that is there is touched.
#pragma once

#include "core/descriptor.hpp"
#include "core/result.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace patchbay::core {

// What others may do with a file that is believed: look at it, or not even that.
enum class Others { MayRead, MayNothing };

// The directory, open. Judged: its owner and mode, whether it is reached by a link (which only
// those follow that others may read), and every directory above it by ownership.hpp: whoever may
// write one of those can put another in its place. -1: not there; with Make::Yes it is made, 0700.
enum class Make { No, Yes };
Result<Descriptor> open_private_directory(const std::string& path, Others others, Make make);

// The file `name` of an open directory whose path is `place`, to read. -1: not there. A link in its
// place, a pipe or a device is refused.
Result<Descriptor> open_private_file(const Descriptor& directory, const std::string& place,
                                     const std::string& name, Others others);

// What is left to read; Limit beyond `most` bytes. `path` is for the message.
Result<std::string> read_whole(const Descriptor& file, const std::string& path, std::size_t most);

// The text of the file `name` in the directory `path`, by the three above; nothing: it is not there.
Result<std::optional<std::string>> read_private(const std::string& path, const std::string& name,
                                                Others others, std::size_t most);

// The turn of those who write, taken with the file `name` and kept as long as what is returned.
// Timeout: another process has had it all through `wait`.
Result<Descriptor> take_turn(const Descriptor& directory, const std::string& place,
                             const std::string& name, std::chrono::milliseconds wait);

// "cannot WHAT PATH", and why: what errno says.
Error io_failure(const std::string& what, const std::string& path);

}  // namespace patchbay::core
