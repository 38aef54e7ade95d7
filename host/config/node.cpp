#include "config/node.hpp"

namespace patchbay::config {

const Node* Node::find(std::string_view key) const {
    for (const auto& member : members) {
        if (member.key == key) return &member.value;
    }
    return nullptr;
}

Node* Node::find(std::string_view key) {
    return const_cast<Node*>(static_cast<const Node*>(this)->find(key));
}

Node Node::of_text(std::string text, Mark mark) {
    Node node;
    node.kind = Kind::Text;
    node.mark = mark;
    node.text = std::move(text);
    return node;
}

Node Node::of_flag(bool flag, Mark mark) {
    Node node;
    node.kind = Kind::Flag;
    node.mark = mark;
    node.flag = flag;
    return node;
}

Node Node::of_map(Mark mark) {
    Node node;
    node.kind = Kind::Map;
    node.mark = mark;
    return node;
}

Node Node::of_list(Mark mark) {
    Node node;
    node.kind = Kind::List;
    node.mark = mark;
    return node;
}

const char* name_of(Node::Kind kind) {
    switch (kind) {
        case Node::Kind::Null:
            return "no value (null)";
        case Node::Kind::Flag:
            return "true or false";
        case Node::Kind::Integer:
            return "a whole number";
        case Node::Kind::Real:
            return "a fraction";
        case Node::Kind::Text:
            return "text";
        case Node::Kind::List:
            return "a list";
        case Node::Kind::Map:
            return "a table";
    }
    return "?";
}

boost::json::value to_json(const Node& node) {
    switch (node.kind) {
        case Node::Kind::Null:
            return nullptr;
        case Node::Kind::Flag:
            return node.flag;
        case Node::Kind::Integer:
            return node.integer;
        case Node::Kind::Real:
            return node.real;
        case Node::Kind::Text:
            return boost::json::value(node.text);
        case Node::Kind::List: {
            boost::json::array list;
            list.reserve(node.items.size());
            for (const auto& item : node.items) list.push_back(to_json(item));
            return list;
        }
        case Node::Kind::Map:
            return to_object(node);
    }
    return nullptr;
}

boost::json::object to_object(const Node& map) {
    boost::json::object object;
    object.reserve(map.members.size());
    for (const auto& member : map.members) object[member.key] = to_json(member.value);
    return object;
}

}  // namespace patchbay::config
