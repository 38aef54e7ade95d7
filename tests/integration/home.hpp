// A person's home with a folder to work in: temporary, gone with the object. Runs the built
// patchbay there, with nothing of the environment of whoever runs the tests.
//
// Threads: one. Errors: what cannot be made is reported by gtest.
#pragma once

#include "support/run_program.hpp"
#include "support/scratch_folder.hpp"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace patchbay::test {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

using Words = std::vector<std::string>;

class Home {
public:
    Home();

    const std::filesystem::path& root() const { return root_; }
    std::filesystem::path work() const { return root_ / "work"; }  // where patchbay is run
    std::filesystem::path user_config() const { return root_ / "config/patchbay"; }
    std::filesystem::path user_plugins() const { return root_ / "data/patchbay/plugins"; }
    std::string write(const std::filesystem::path& relative_to_work, std::string_view text);

    // Adds a server and writes the user's mcp.json anew.
    void add(const std::string& id, boost::json::object server);
    // The example server over stdio, or over tcp on a port of its own choice.
    void add_example(const std::string& id, const Words& flags = {}, boost::json::object more = {});
    // The example server with a copy of all that it was sent in the file that is returned.
    std::string add_recorded(const std::string& id, const Words& flags = {},
                             boost::json::object more = {});
    // A server that will not go and answers nothing; the file that is returned says when it is set
    // up.
    std::string add_hostile(const std::string& id, const Words& modes);

    Command patchbay(Words arguments, std::string input = {}) const;
    Outcome run(Words arguments, std::string input = {}) const {
        return test::run(patchbay(std::move(arguments), std::move(input)));
    }

    std::map<std::string, std::string> environment;
    // A program that starts after this shows what it holds: a sanitizer keeps little of what it
    // freed.
    void measure_memory();

private:
    const ScratchFolder scratch_;
    const std::filesystem::path root_ = scratch_.path();
    boost::json::object servers_;
};

std::string built(const std::string& path);  // in the build folder
std::string example_server();
std::string read_file(const std::filesystem::path& file);
// False when `text` is not in the file at the deadline.
bool wait_for_file(const std::filesystem::path& file, std::string_view text);

// The answers and events of a batch.
struct Lines {
    explicit Lines(std::string_view out);
    const boost::json::object& answer(
        const boost::json::value& id) const;                  // empty object and a failure: none
    std::string kind(const boost::json::value& id) const;     // of the error; "" when ok
    std::string message(const boost::json::value& id) const;  // of the error
    std::string text(const boost::json::value& id) const;     // of the first content
    std::size_t place(const boost::json::value& id) const;    // among all lines
    std::vector<boost::json::object> events(std::string_view event,
                                            std::string_view method = {}) const;
    std::vector<boost::json::object> all;
};

// A server on a port that it chose itself; ends with the object.
class TcpServer {
public:
    TcpServer(const Home& home, const Words& flags);
    int port() const { return port_; }

private:
    Program program_;
    int port_ = 0;
};

}  // namespace patchbay::test
