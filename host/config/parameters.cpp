#include "config/parameters.hpp"

#include "core/text.hpp"

#include <functional>
#include <utility>

namespace patchbay::config {

namespace {

struct Reference {
    std::size_t begin, end;  // of all of it
    std::string name;
    std::optional<std::string> otherwise;
};

// The first at or behind `from`.
std::optional<Reference> reference_in(const std::string& text, std::size_t from) {
    const auto opening = "${" + std::string(kParameter);
    auto begin = text.find(opening, from);
    while (begin != text.npos && begin > 0 && text[begin - 1] == '$')
        begin = text.find(opening, begin + 1);
    if (begin == text.npos) return {};
    const auto end = text.find('}', begin);
    if (end == text.npos) return {};
    Reference found{
        begin, end + 1, text.substr(begin + opening.size(), end - begin - opening.size()), {}};
    if (const auto mark = found.name.find(":-"); mark != found.name.npos) {
        found.otherwise = found.name.substr(mark + 2);
        found.name.resize(mark);
    }
    return found;
}

std::string wrong_shape(const std::string& name, const Node& value) {
    return "${param:" + core::printable(name, 80) +
           "}: it stands within other text, and the value is " + name_of(value.kind);
}

std::optional<std::string> told(const Node& value) {
    switch (value.kind) {
        case Node::Kind::Text:
            return value.text;
        case Node::Kind::Integer:
            return std::to_string(value.integer);
        case Node::Kind::Flag:
            return value.flag ? "true" : "false";
        default:
            return {};
    }
}

class Filling {
public:
    Filling(const Parameters& given, std::size_t& left) : given_(given), left_(left) {}

    void fill(Node& node) {
        if (wrong) return;
        if (node.is(Node::Kind::Text)) fill_text(node);
        for (auto& member : node.members) fill(member.value);
        if (node.is(Node::Kind::List)) fill_list(node);
    }

    std::optional<Complaint> wrong;

private:
    void fill_list(Node& list) {
        std::vector<Node> items;
        for (auto& item : list.items) {
            const bool text = item.is(Node::Kind::Text);
            fill(item);
            if (text && item.is(Node::Kind::List))
                std::move(item.items.begin(), item.items.end(), std::back_inserter(items));
            else
                items.push_back(std::move(item));
        }
        list.items = std::move(items);
    }

    // Null: complained of.
    std::optional<Node> value_of(const Reference& reference, Mark mark) {
        if (const auto found = given_.find(reference.name); found != given_.end()) {
            const auto size = weight(found->second);
            if (size > left_) {
                wrong = Complaint{mark, "${param:" + core::printable(reference.name, 80) +
                                            "}: what parameters put into servers is more than the "
                                            "limit"};
                return {};
            }
            left_ -= size;
            auto value = found->second;
            value.mark = mark;
            return value;
        }
        if (reference.otherwise) return Node::of_text(*reference.otherwise, mark);
        wrong = Complaint{mark, "${param:" + core::printable(reference.name, 80) +
                                    "}: no parameter of that name is given"};
        return {};
    }

    void fill_text(Node& node) {
        const auto first = reference_in(node.text, 0);
        if (!first) return;
        if (first->begin == 0 && first->end == node.text.size()) {
            if (auto value = value_of(*first, node.mark)) node = std::move(*value);
            return;
        }
        std::string out;
        std::size_t at = 0;
        for (auto next = first; next; next = reference_in(node.text, at)) {
            const auto value = value_of(*next, node.mark);
            if (!value) return;
            const auto text = told(*value);
            if (!text) {
                wrong = Complaint{node.mark, wrong_shape(next->name, *value)};
                return;
            }
            out.append(node.text, at, next->begin - at) += *text;
            at = next->end;
        }
        node.text = out.append(node.text, at);
    }

    const Parameters& given_;
    std::size_t& left_;
};

}  // namespace

std::size_t weight(const Node& node) {
    auto sum = 1 + node.text.size();
    for (const auto& member : node.members) sum += member.key.size() + weight(member.value);
    for (const auto& item : node.items) sum += weight(item);
    return sum;
}

std::optional<Complaint> fill_in(Node& body, const Parameters& given, std::size_t& left) {
    Filling filling(given, left);
    filling.fill(body);
    return std::move(filling.wrong);
}

std::set<std::string> parameters_in(const Node& body) {
    std::set<std::string> names;
    const std::function<void(const Node&)> look = [&](const Node& node) {
        for (auto next = reference_in(node.text, 0); next;
             next = reference_in(node.text, next->end))
            names.insert(next->name);
        for (const auto& member : node.members) look(member.value);
        for (const auto& item : node.items) look(item);
    };
    look(body);
    return names;
}

}  // namespace patchbay::config
