// A bounded validator for JSON Schema 2020-12, the dialect MCP defaults to, and draft-07, which
// many servers still send. No reference leaves the document; no schema can make it run for ever.
//
// Keywords: all of both drafts, with $dynamicRef and the unevaluated* pair; `format` and `content*`
// are annotations, as the specification has it. A pattern that RE2 does not know (look-around, back
// references) is not checked, and named in notes().
//
// Owns:    a copy of the schema. Threads: [value]; validate() is const and may run on any thread.
// Errors:  compile() fails on what is no schema, an unknown dialect, or a $ref that is not here.
// Limits:  kSubschemas and kPatterns of a schema, of further patterns none is checked and notes() says so; kSteps and
//          kEvaluationDepth for one validation, then the answer is an error; kErrors told.
// Source:  https://json-schema.org/draft/2020-12, MCP 2026-07-28 basic "JSON Schema Usage".
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace patchbay::protocol {

namespace schema {
struct Form;  // the compiled form, schema_node.hpp
}

struct SchemaError {
    std::string pointer;  // RFC 6901, of the instance; empty: the whole
    std::string message;  // "expected integer, got string"
};

class Schema {
public:
    static constexpr int kEvaluationDepth =
        256;  // subschemas within subschemas, references included
    static constexpr std::size_t kSteps = 500'000;
    static constexpr std::size_t kErrors = 20;
    static constexpr std::size_t kSubschemas = 20'000;
    static constexpr std::size_t kPatterns = 500;  // that differ

    // In another dialect it may mean something to others.
    static bool knows_dialect(const boost::json::value& schema);
    static Result<Schema> compile(const boost::json::value& schema,
                                  std::size_t most_subschemas = kSubschemas);

    // Empty: valid.
    std::vector<SchemaError> validate(const boost::json::value& instance) const;
    // The same within fewer steps; none: it would take more of them, or go too deep.
    std::optional<std::vector<SchemaError>> judge(const boost::json::value& instance,
                                                  std::size_t most_steps) const;
    const std::vector<std::string>& notes() const;
    std::size_t subschemas() const;

private:
    explicit Schema(std::shared_ptr<const schema::Form> form) : form_(std::move(form)) {}
    std::shared_ptr<const schema::Form> form_;
};

}  // namespace patchbay::protocol
