// From JSON to nodes: every keyword is checked for its shape once, here, so that validation meets
// no surprises. Two passes: walk the document and note its ids, anchors and references; then lead
// each reference to its node.
#include "core/json.hpp"
#include "core/text.hpp"
#include "protocol/schema_node.hpp"

#include <algorithm>

namespace patchbay::protocol::schema {
namespace json = boost::json;

namespace {

// Two JSON levels make one schema level, so this is more than a message's depth limit lets through.
constexpr int kCompileDepth = 128;

enum class Dialect { Draft7, Draft2020 };

class Compiler {
public:
    Compiler(Form& form, Dialect dialect, std::size_t most_nodes)
        : form_(form), dialect_(dialect), most_nodes_(most_nodes) {}

    Result<void> compile() {
        auto& resource = form_.resources.emplace_back();
        resource.value = &form_.document;
        by_uri_.emplace("", &resource);
        form_.root = visit(form_.document, resource, "#", 0);
        resource.root = form_.root;
        // A reference may lead to a place that no keyword leads to: that is compiled then, and may
        // bring references of its own.
        for (std::size_t i = 0; i < references_.size() && !trouble_; ++i) follow(references_[i]);
        if (trouble_) return *trouble_;
        return {};
    }

private:
    struct Reference {
        Node* from;
        std::string text, place;
        bool dynamic;
    };

    void fail(const std::string& place, const std::string& what,
              ErrorCode code = ErrorCode::Invalid) {
        if (trouble_) return;
        trouble_ = Error{code, "at " + core::printable(place, 200) + ": " + what};
    }

    const Node* visit(const json::value& value, Resource& outer, const std::string& place,
                      int depth) {
        auto& node = form_.nodes.emplace_back();
        node.resource = &outer;
        nodes_.emplace(&value, &node);
        if (trouble_) return &node;
        if (depth > kCompileDepth || form_.nodes.size() > most_nodes_) {
            fail(place, "the schema is too deep or too large", ErrorCode::Limit);
        } else if (value.is_bool()) {
            node.always = value.get_bool();
        } else if (const auto* keywords = value.if_object()) {
            keywords_of(node, value, *keywords, outer, place, depth + 1);
        } else {
            fail(place, "a schema is an object or a boolean, not " + words_for(types_of(value)));
        }
        return &node;
    }

    // Reads the keywords of one subschema, by the helpers below. `at` is the place of the one read.
    struct Reader {
        Compiler& compiler;
        const json::object& keywords;
        Resource& resource;
        const std::string& place;
        int depth;

        std::string at(std::string_view key) const { return place + core::pointer_token(key); }
        const json::value* find(std::string_view key) const {
            return keywords.if_contains(json::string_view(key.data(), key.size()));
        }
        void wrong(std::string_view key, const char* expected) const {
            compiler.fail(at(key), "expected " + std::string(expected) + ", got " +
                                       words_for(types_of(*find(key))));
        }
        const json::string* string(std::string_view key) const {
            const auto* found = find(key);
            if (found && !found->is_string()) wrong(key, "a string");
            return found ? found->if_string() : nullptr;
        }
        const json::value* number(std::string_view key) const {
            const auto* found = find(key);
            if (!found || found->is_number()) return found;
            wrong(key, "a number");
            return nullptr;
        }
        const json::object* object(std::string_view key) const {
            const auto* found = find(key);
            if (found && !found->is_object()) wrong(key, "an object");
            return found ? found->if_object() : nullptr;
        }
        bool flag(std::string_view key) const {
            const auto* found = find(key);
            if (found && !found->is_bool()) wrong(key, "a boolean");
            return found && found->is_bool() && found->get_bool();
        }
        Count count(std::string_view least, std::string_view most) const {
            Count bounds;
            if (find(least)) bounds.least = size(least);
            if (find(most)) bounds.most = size(most);
            return bounds;
        }
        std::size_t size(std::string_view key) const {
            const auto& value = *find(key);
            const bool whole = (types_of(value) & kInteger) && value.to_number<double>() >= 0;
            if (!whole) wrong(key, "a whole number from 0 up");
            constexpr double kLarge = 1e15;
            return whole ? static_cast<std::size_t>(std::min(kLarge, value.to_number<double>()))
                         : 0;
        }
        const Node* schema(std::string_view key) const {
            const auto* found = find(key);
            return found ? compiler.visit(*found, resource, at(key), depth) : nullptr;
        }
        std::vector<const Node*> schemas(std::string_view key) const {
            std::vector<const Node*> nodes;
            const auto* found = find(key);
            if (!found) return nodes;
            const auto* list = found->if_array();
            if (!list) wrong(key, "an array of schemas");
            for (std::size_t i = 0; list && i < list->size(); ++i) {
                const auto below = at(key) + "/" + std::to_string(i);
                nodes.push_back(compiler.visit((*list)[i], resource, below, depth));
            }
            return nodes;
        }
        std::map<std::string_view, const Node*> named(std::string_view key) const {
            std::map<std::string_view, const Node*> nodes;
            const auto* found = object(key);
            if (!found) return nodes;
            for (const auto& each : *found) {
                const auto name = view_of(each.key());
                const auto below = at(key) + core::pointer_token(name);
                nodes.emplace(name, compiler.visit(each.value(), resource, below, depth));
            }
            return nodes;
        }
        std::vector<std::string_view> strings(const json::value& value,
                                              std::string_view key) const {
            std::vector<std::string_view> names;
            const auto* list = value.if_array();
            const bool good = list && std::all_of(list->begin(), list->end(), [](const auto& each) {
                                  return each.is_string();
                              });
            if (!good) {
                compiler.fail(at(key), "expected an array of strings");
                return names;
            }
            for (const auto& each : *list) names.push_back(view_of(each.get_string()));
            return names;
        }
    };

    void keywords_of(Node& node, const json::value& value, const json::object& keywords,
                     Resource& outer, const std::string& place, int depth) {
        // Draft-07: beside a $ref nothing else counts. Definitions are still places to refer to.
        if (dialect_ == Dialect::Draft7 && keywords.contains("$ref")) {
            const Reader reader{*this, keywords, outer, place, depth};
            reader.named("definitions");
            refer(node, reader, "$ref", false);
            return;
        }
        Resource& resource = identify(node, value, keywords, outer, place);
        node.resource = &resource;
        const Reader reader{*this, keywords, resource, place, depth};
        anchors(node, reader);
        refer(node, reader, "$ref", false);
        refer(node, reader, "$dynamicRef", true);
        refer(node, reader, "$recursiveRef", true);
        reader.named("$defs");
        reader.named("definitions");
        assertions(node, reader);
        applicators(node, reader);
        arrays(node, reader);
        objects(node, reader);
    }

    // The resource that a subschema belongs to: its own when it has an $id.
    Resource& identify(Node& node, const json::value& value, const json::object& keywords,
                       Resource& outer, const std::string& place) {
        const auto* id = Reader{*this, keywords, outer, place, 0}.string("$id");
        if (!id) return outer;
        const std::string absolute = resolve_uri(outer.uri, view_of(*id));
        const auto hash = absolute.find('#');
        const std::string uri = absolute.substr(0, hash);
        if (hash != absolute.npos && hash + 1 < absolute.size()) {  // draft-07's way to say $anchor
            anchors_.emplace(outer.uri + absolute.substr(hash), &node);
            if (view_of(*id).front() == '#') return outer;
        }
        Resource* resource = &outer;
        if (&value != outer.value) resource = &form_.resources.emplace_back();
        resource->uri = uri;
        resource->value = &value;
        resource->root = &node;
        by_uri_.emplace(uri, resource);
        return *resource;
    }

    void anchors(Node& node, const Reader& reader) {
        Resource& resource = reader.resource;
        if (const auto* name = reader.string("$anchor")) {
            anchors_.emplace(resource.uri + "#" + std::string(view_of(*name)), &node);
        }
        if (const auto* name = reader.string("$dynamicAnchor")) {
            node.dynamic_anchor = std::string(view_of(*name));
            anchors_.emplace(resource.uri + "#" + *node.dynamic_anchor, &node);
            resource.dynamic_anchors.emplace(*node.dynamic_anchor, &node);
        }
        if (reader.flag("$recursiveAnchor")) {
            node.dynamic_anchor = "";
            resource.dynamic_anchors.emplace("", &node);
        }
    }

    void refer(Node& node, const Reader& reader, std::string_view key, bool dynamic) {
        const auto* text = reader.string(key);
        if (text)
            references_.push_back({&node, std::string(view_of(*text)), reader.at(key), dynamic});
    }

    void assertions(Node& node, const Reader& reader) {
        if (const auto* type = reader.find("type")) {
            std::vector<std::string_view> names;
            if (type->is_string()) {
                names.push_back(view_of(type->get_string()));
            } else {
                names = reader.strings(*type, "type");
            }
            for (const auto name : names) node.types |= type_named(name, reader);
        }
        node.constant = reader.find("const");
        if (const auto* choices = reader.find("enum")) {
            node.choices = choices->if_array();
            if (!node.choices) reader.wrong("enum", "an array");
        }
        node.minimum = reader.number("minimum");
        node.maximum = reader.number("maximum");
        node.exclusive_minimum = reader.number("exclusiveMinimum");
        node.exclusive_maximum = reader.number("exclusiveMaximum");
        node.multiple_of = reader.number("multipleOf");
        if (node.multiple_of && node.multiple_of->to_number<double>() <= 0) {
            fail(reader.at("multipleOf"), "expected a number above 0");
        }
        node.length = reader.count("minLength", "maxLength");
        if (const auto* pattern = reader.string("pattern"))
            node.pattern = this->pattern(view_of(*pattern));
    }

    unsigned type_named(std::string_view name, const Reader& reader) {
        for (const auto type : {kNull, kBoolean, kInteger, kNumber, kString, kArray, kObject}) {
            if (name == words_for(type)) return type;
        }
        fail(reader.at("type"),
             "unknown type \"" + core::printable(name, 80) + "\"" +
                 core::did_you_mean(
                     name, {"null", "boolean", "integer", "number", "string", "array", "object"}));
        return 0;
    }

    void applicators(Node& node, const Reader& reader) {
        node.all = reader.schemas("allOf");
        node.any = reader.schemas("anyOf");
        node.one = reader.schemas("oneOf");
        node.negated = reader.schema("not");
        node.condition = reader.schema("if");
        node.consequence = reader.schema("then");
        node.alternative = reader.schema("else");
    }

    void arrays(Node& node, const Reader& reader) {
        const auto* items = reader.find("items");
        if (items && items->is_array()) {  // draft-07, and many a schema that calls itself newer
            node.prefix = reader.schemas("items");
            node.items = reader.schema("additionalItems");
        } else {
            node.prefix = reader.schemas("prefixItems");
            node.items = reader.schema("items");
        }
        node.contains = reader.schema("contains");
        node.contained = reader.count("minContains", "maxContains");
        if (!reader.find("minContains")) node.contained.least = 1;
        node.unevaluated_items = reader.schema("unevaluatedItems");
        node.size = reader.count("minItems", "maxItems");
        node.unique = reader.flag("uniqueItems");
    }

    void objects(Node& node, const Reader& reader) {
        node.properties = reader.named("properties");
        for (const auto& [text, schema] : reader.named("patternProperties")) {
            node.pattern_properties.emplace_back(pattern(text), schema);
        }
        node.additional = reader.schema("additionalProperties");
        node.names = reader.schema("propertyNames");
        node.unevaluated_properties = reader.schema("unevaluatedProperties");
        node.properties_count = reader.count("minProperties", "maxProperties");
        if (const auto* required = reader.find("required")) {
            node.required = reader.strings(*required, "required");
        }
        if (const auto* all = reader.object("dependentRequired")) {
            for (const auto& each : *all) {
                node.dependent_required.emplace(view_of(each.key()),
                                                reader.strings(each.value(), "dependentRequired"));
            }
        }
        node.dependent_schemas = reader.named("dependentSchemas");
        const auto* both = reader.object("dependencies");  // draft-07: either of the two
        if (!both) return;
        for (const auto& each : *both) {
            const auto name = view_of(each.key());
            if (each.value().is_array()) {
                node.dependent_required.emplace(name, reader.strings(each.value(), "dependencies"));
            } else {
                const auto place = reader.at("dependencies") + core::pointer_token(name);
                node.dependent_schemas.emplace(
                    name, visit(each.value(), reader.resource, place, reader.depth));
            }
        }
    }

    // A schema has a few that are large, or many small ones: 50 MB of all that it may have.
    std::int64_t memory_for_one() const {
        constexpr std::size_t kLarge = 16;
        return form_.patterns.size() < kLarge ? 1 << 20 : 64 << 10;
    }

    const Pattern* pattern(std::string_view text) {
        auto found = form_.patterns.find(text);
        if (found == form_.patterns.end()) {
            const bool too_many = form_.patterns.size() >= Schema::kPatterns;
            auto made =
                too_many
                    ? std::make_unique<const Pattern>(
                          text, "the schema has more than " + std::to_string(Schema::kPatterns))
                    : std::make_unique<const Pattern>(text, memory_for_one());
            // Of those that are too many the first says it for all.
            if (!made->trouble().empty() && form_.patterns.size() <= Schema::kPatterns) {
                form_.notes.push_back("pattern " + core::printable(text, 80) +
                                      " is not checked: " + core::printable(made->trouble(), 120));
            }
            found = form_.patterns.emplace(std::string(text), std::move(made)).first;
        }
        return found->second.get();
    }

    // By value: following may add references.
    void follow(const Reference reference) {
        const Node* target = find(reference);
        if (!target) {
            fail(reference.place,
                 "\"" + core::printable(reference.text, 100) +
                     "\" does not point into this schema; references are never fetched",
                 ErrorCode::Unsupported);
        } else if (!reference.dynamic) {
            reference.from->reference = target;
        } else if (is_overridable(reference, *target)) {
            reference.from->dynamic_reference = target;
        } else if (reference.from->reference) {  // beside a $ref: both hold
            reference.from->all.push_back(target);
        } else {
            reference.from->reference = target;
        }
    }

    // A dynamic reference is one only when it was written as an anchor and leads to a dynamic one.
    static bool is_overridable(const Reference& reference, const Node& target) {
        if (!target.dynamic_anchor) return false;
        const auto hash = reference.text.find('#');
        return hash != reference.text.npos &&
               reference.text.substr(hash + 1) == *target.dynamic_anchor;
    }

    const Node* find(const Reference& reference) {
        const std::string absolute = resolve_uri(reference.from->resource->uri, reference.text);
        const auto hash = std::min(absolute.find('#'), absolute.size());
        const std::string uri = absolute.substr(0, hash);
        const std::string fragment =
            hash < absolute.size() ? percent_decoded(absolute.substr(hash + 1)) : "";
        const auto resource = by_uri_.find(uri);
        if (!fragment.empty() && fragment.front() != '/') {
            const auto anchor = anchors_.find(uri + "#" + fragment);
            return anchor == anchors_.end() ? nullptr : anchor->second;
        }
        if (resource == by_uri_.end()) return nullptr;
        if (fragment.empty()) return node_at(*resource->second->value, *resource->second, "#");
        return point(*resource->second, fragment);
    }

    const Node* point(Resource& resource, std::string_view pointer) {
        const json::value* value = resource.value;
        const std::string place = "#" + std::string(pointer);
        while (!pointer.empty()) {
            pointer.remove_prefix(1);
            const auto end = std::min(pointer.find('/'), pointer.size());
            const std::string token = core::key_of_pointer_token(pointer.substr(0, end));
            pointer.remove_prefix(end);
            if (const auto* object = value->if_object()) {
                value = object->if_contains(token);
            } else if (const auto* array = value->if_array()) {
                const bool index = !token.empty() && token.size() < 9 &&
                                   token.find_first_not_of("0123456789") == token.npos;
                value = index ? array->if_contains(std::stoul(token)) : nullptr;
            } else {
                value = nullptr;
            }
            if (!value) return nullptr;
        }
        return node_at(*value, resource, place);
    }

    const Node* node_at(const json::value& value, Resource& resource, const std::string& place) {
        const auto known = nodes_.find(&value);
        return known != nodes_.end() ? known->second : visit(value, resource, place, 0);
    }

    Form& form_;
    const Dialect dialect_;
    const std::size_t most_nodes_;
    std::optional<Error> trouble_;
    std::unordered_map<const json::value*, const Node*> nodes_;
    std::map<std::string, Resource*> by_uri_;
    std::map<std::string, const Node*> anchors_;  // "uri#name"
    std::vector<Reference> references_;
};

Result<Dialect> dialect_of(const json::value& document) {
    const auto* keywords = document.if_object();
    const auto* given = keywords ? keywords->if_contains("$schema") : nullptr;
    if (!given) return Dialect::Draft2020;
    if (!given->is_string()) return Error{ErrorCode::Invalid, "at #/$schema: expected a string"};
    std::string_view name = view_of(given->get_string());
    if (!name.empty() && name.back() == '#') name.remove_suffix(1);
    for (const char* scheme : {"https://json-schema.org/", "http://json-schema.org/"}) {
        if (name.rfind(scheme, 0) != 0) continue;
        const auto draft = name.substr(std::string_view(scheme).size());
        if (draft == "draft/2020-12/schema" || draft == "draft/2019-09/schema")
            return Dialect::Draft2020;
        if (draft == "draft-07/schema" || draft == "draft-06/schema") return Dialect::Draft7;
    }
    return Error{ErrorCode::Unsupported, "schema dialect " + core::printable(name, 100) +
                                             " is not supported; 2020-12 and draft-07 are"};
}

}  // namespace

bool knows_dialect(const json::value& document) {
    return dialect_of(document).has_value();
}

Result<std::shared_ptr<const Form>> compile(const json::value& document, std::size_t most_nodes) {
    const auto dialect = dialect_of(document);
    if (!dialect) return dialect.error();
    auto form = std::make_shared<Form>();
    form->document = document;
    if (const auto done = Compiler(*form, *dialect, most_nodes).compile(); !done)
        return done.error();
    return std::shared_ptr<const Form>(std::move(form));
}

}  // namespace patchbay::protocol::schema
