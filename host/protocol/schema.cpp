#include "protocol/schema.hpp"

#include "protocol/schema_node.hpp"

namespace patchbay::protocol {

Result<Schema> Schema::compile(const boost::json::value& schema) {
    auto form = schema::compile(schema);
    if (!form) return form.error();
    return Schema(std::move(*form));
}

std::vector<SchemaError> Schema::validate(const boost::json::value& instance) const {
    return schema::validate(*form_, instance);
}

const std::vector<std::string>& Schema::notes() const {
    return form_->notes;
}

}  // namespace patchbay::protocol
