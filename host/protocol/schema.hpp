// A bounded validator for JSON Schema 2020-12, the dialect MCP defaults to, and draft-07, which many
// servers still send. No reference leaves the document; no schema can make it run for ever.
//
// Keywords: all assertions and applicators of both drafts but the unevaluated* pair and $dynamicRef
// to anything but the root's anchors; `format` and `content*` are annotations, as the specification
// has it. A pattern that RE2 does not know (look-around, back references) is not checked, and named
// in notes().
//
// Owns:    a copy of the schema. Threads: [value]; validate() is const and may run on any thread.
// Errors:  compile() fails on what is no schema, an unknown dialect, or a $ref that is not here.
// Limits:  kDepth, kSteps for one validation, kErrors reported.
// Source:  https://json-schema.org/draft/2020-12, MCP 2026-07-28 basic "JSON Schema Usage".
#pragma once

#include <boost/json.hpp>

#include <memory>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace patchbay::protocol {

struct SchemaError {
    std::string pointer;  // RFC 6901, of the instance; empty: the whole
    std::string message;  // "expected integer, got string"
};

class Schema {
public:
    static constexpr int kDepth = 64;
    static constexpr std::size_t kSteps = 200'000;
    static constexpr std::size_t kErrors = 20;

    static Result<Schema> compile(const boost::json::value& schema);

    // Empty: valid.
    std::vector<SchemaError> validate(const boost::json::value& instance) const;
    const std::vector<std::string>& notes() const;

    struct Impl;  // the compiled form

private:
    explicit Schema(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
    std::shared_ptr<const Impl> impl_;
};

}  // namespace patchbay::protocol
