#include "protocol/schema.hpp"

#include "protocol/schema_node.hpp"

namespace patchbay::protocol {

bool Schema::knows_dialect(const boost::json::value& schema) {
    return schema::knows_dialect(schema);
}

Result<Schema> Schema::compile(const boost::json::value& schema, std::size_t most_subschemas) {
    auto form = schema::compile(schema, most_subschemas);
    if (!form) return form.error();
    return Schema(std::move(*form));
}

std::vector<SchemaError> Schema::validate(const boost::json::value& instance) const {
    if (auto errors = judge(instance, kSteps)) return std::move(*errors);
    return {{"", "cannot be checked: the schema asks for too many steps or goes too deep"}};
}

std::optional<std::vector<SchemaError>> Schema::judge(const boost::json::value& instance,
                                                      std::size_t most_steps) const {
    return schema::validate(*form_, instance, most_steps);
}

std::size_t Schema::subschemas() const {
    return form_->nodes.size();
}

const std::vector<std::string>& Schema::notes() const {
    return form_->notes;
}

}  // namespace patchbay::protocol
