// The compiled form of a schema: one Node for every subschema, references already followed. Private
// to the schema_*.cpp files.
//
// Owns:    Form owns the nodes, and the JSON text that their views and pointers borrow.
// Threads: [value], immutable once compiled.
#pragma once

#include "core/result.hpp"
#include "protocol/schema.hpp"

#include <boost/json.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace patchbay::protocol::schema {

// What "type" may name; a set of them is a mask.
enum Type : unsigned {
    kNull = 1,
    kBoolean = 2,
    kInteger = 4,
    kNumber = 8,
    kString = 16,
    kArray = 32,
    kObject = 64,
};
unsigned types_of(const boost::json::value& value);  // 1 and 1.0 are kInteger | kNumber
std::string words_for(unsigned types);               // "string or null"

// A regular expression, run by RE2: its time is linear in the text. The door to RE2.
class Pattern {
public:
    // `most_memory`: bytes, as it stands and as it runs.
    Pattern(std::string_view ecma, std::int64_t most_memory);
    Pattern(std::string_view ecma, std::string trouble);  // it is not run
    ~Pattern();
    Pattern(const Pattern&) = delete;
    Pattern& operator=(const Pattern&) = delete;

    bool matches(std::string_view text) const;  // anywhere in it; true when it is not known
    const std::string& text() const { return text_; }
    const std::string& trouble() const { return trouble_; }  // empty: RE2 knows it

private:
    struct Program;
    std::string text_, trouble_;
    std::unique_ptr<const Program> program_;
};

struct Count {
    std::size_t least = 0;
    std::size_t most = std::numeric_limits<std::size_t>::max();
};

struct Node;

// A schema document, or a part of one that an `$id` makes a document of its own.
struct Resource {
    std::string uri;  // absolute, or relative to nothing; no fragment
    const boost::json::value* value = nullptr;
    const Node* root = nullptr;
    std::map<std::string, const Node*, std::less<>> dynamic_anchors;  // "" is $recursiveAnchor
};

// null, 0 and empty mean: the keyword is absent.
struct Node {
    const Resource* resource = nullptr;
    std::optional<bool> always;  // a boolean schema

    unsigned types = 0;
    const boost::json::value* constant = nullptr;
    const boost::json::array* choices = nullptr;
    const boost::json::value* minimum = nullptr;
    const boost::json::value* maximum = nullptr;
    const boost::json::value* exclusive_minimum = nullptr;
    const boost::json::value* exclusive_maximum = nullptr;
    const boost::json::value* multiple_of = nullptr;
    Count length, size, contained, properties_count;
    const Pattern* pattern = nullptr;

    const Node* reference = nullptr;
    const Node* dynamic_reference = nullptr;    // where it points when no outer scope overrides it
    std::optional<std::string> dynamic_anchor;  // the name that outer scopes may override
    std::vector<const Node*> all, any, one;
    const Node* negated = nullptr;
    const Node* condition = nullptr;
    const Node* consequence = nullptr;
    const Node* alternative = nullptr;

    std::vector<const Node*> prefix;
    const Node* items = nullptr;
    const Node* contains = nullptr;
    const Node* unevaluated_items = nullptr;
    bool unique = false;

    std::map<std::string_view, const Node*> properties;
    std::vector<std::pair<const Pattern*, const Node*>> pattern_properties;
    const Node* additional = nullptr;
    const Node* names = nullptr;
    const Node* unevaluated_properties = nullptr;
    std::vector<std::string_view> required;
    std::map<std::string_view, std::vector<std::string_view>> dependent_required;
    std::map<std::string_view, const Node*> dependent_schemas;
};

struct Form {
    boost::json::value document;
    std::deque<Node> nodes;  // stable addresses
    std::deque<Resource> resources;
    std::map<std::string, std::unique_ptr<const Pattern>, std::less<>> patterns;
    std::vector<std::string> notes;
    const Node* root = nullptr;
};

bool knows_dialect(const boost::json::value& document);
Result<std::shared_ptr<const Form>> compile(const boost::json::value& document,
                                            std::size_t most_nodes);
// None: it takes more steps, or goes too deep.
std::optional<std::vector<SchemaError>> validate(const Form& form,
                                                 const boost::json::value& instance,
                                                 std::size_t most_steps);

// RFC 3986 section 5.2, strict; enough of it for `$id` and `$ref`.
std::string resolve_uri(std::string_view base, std::string_view reference);
std::string percent_decoded(std::string_view text);

inline std::string_view view_of(const boost::json::string& text) {
    return {text.data(), text.size()};
}
inline std::string_view view_of(boost::json::string_view text) {
    return {text.data(), text.size()};
}

}  // namespace patchbay::protocol::schema
