// One value of a configuration file with the place it was written at: what all three readers yield.
// Later steps never see TOML, YAML or JSON, only this tree.
//
// Threads: [value].
#pragma once

#include <boost/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace patchbay::config {

struct Mark {
    unsigned line = 0;    // from 1; 0: unknown
    unsigned column = 0;  // from 1; 0: unknown
};

struct Member;

struct Node {
    enum class Kind { Null, Flag, Integer, Real, Text, List, Map };

    Kind kind = Kind::Null;
    Mark mark;
    bool flag = false;
    std::int64_t integer = 0;
    double real = 0;
    std::string text;
    std::vector<Node> items;      // of a List
    std::vector<Member> members;  // of a Map, in the order of the file, keys unique

    bool is(Kind wanted) const { return kind == wanted; }
    // The member of that name; null when there is none or this is no map.
    const Node* find(std::string_view key) const;
    Node* find(std::string_view key);

    static Node of_text(std::string text, Mark mark);
    static Node of_flag(bool flag, Mark mark);
    static Node of_map(Mark mark);
    static Node of_list(Mark mark);
};

struct Member {
    std::string key;
    Mark mark;  // of the key
    Node value;
};

const char* name_of(Node::Kind kind);  // for messages: "text", "a table", "true or false", ...

boost::json::value to_json(const Node& node);
boost::json::object to_object(const Node& map);  // `map` must be a Map

}  // namespace patchbay::config
