// A server whose lists stand in files, which a test changes between one start and the next.
#pragma once

namespace patchbay::test {

// Of the legacy era. $1: a file that gets a line for each start. $2: its tools, an array; $2.prompts and $2.templates: whole
// answers; $2.says: its instructions. $3: what it declares.
inline constexpr const char* kListingServer = R"sh(#!/bin/sh
echo started >> "$1"
while read -r line; do
    id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
    case "$line" in
        *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":'"$3"',"serverInfo":{"name":"s","version":"1"},"instructions":"'"$(cat "$2.says" 2>/dev/null || echo Be kind.)"'"}';;
        *'"tools/list"'*) result="{\"tools\":$(cat "$2")}";;
        *'"prompts/list"'*) result="$(cat "$2.prompts")";;
        *'"prompts/get"'*) result='{"messages":[{"role":"user","content":{"type":"text","text":"got it"}}]}';;
        *'"resources/templates/list"'*) result="$(cat "$2.templates" 2>/dev/null || echo '{"resourceTemplates":[]}')";;
        *'"resources/list"'*) result='{"resources":[]}';;
        *'"resources/read"'*) result='{"contents":[{"uri":"f:///a","text":"read it"}]}';;
        *'"tools/call"'*) result='{"content":[{"type":"text","text":"done"}]}';;
        *) if [ -n "$id" ]; then echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"no\"}}"; fi; continue;;
    esac
    echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$result}"
done
)sh";

}  // namespace patchbay::test
