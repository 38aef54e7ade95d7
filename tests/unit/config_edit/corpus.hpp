// Files as people and programs write them, for the properties that every edit has.
#pragma once

#include "config/reader.hpp"

#include <string_view>

namespace patchbay::config::edit {

struct Sample {
    Format format;
    std::string_view text;
};

inline constexpr Sample kSamples[] = {
    {Format::Json, "{}"},
    {Format::Json, "{}\n"},
    {Format::Json, "{\n}\n"},
    {Format::Json, "{ }"},
    {Format::Json, "{ /* empty */ }\n"},
    {Format::Json, "{\n  // empty\n}\n"},
    {Format::Json, R"({"mcpServers":{"a":{"command":"x","args":["-y","b"]}},"n":1})"},
    {Format::Json, R"({"mcpServers": {"a": {"command": "x"}}, "list": [{"k": 1}, {}]})"},
    {Format::Json,
     "{\n  \"mcpServers\": {\n    \"files\": {\n      \"command\": \"npx\",\n      "
     "\"args\": [\"-y\", \"server\"],\n      \"env\": {\"A\": \"1\", \"B\": \"}\"}\n    }\n  "
     "}\n}\n"},
    {Format::Json, "\xef\xbb\xbf{\r\n\t\"a\": {\r\n\t\t\"b\": \"c\"\r\n\t},\r\n\t\"d\": []\r\n}"},
    {Format::Json,
     "// Settings\n{\n    // The look\n    \"theme\": \"One Dark\", // dark\n    /* many\n       "
     "lines */\n  "
     "  \"context_servers\": {\n        \"git\": { \"command\": \"uvx\", /* in */ \"args\": [] }, "
     "// "
     "git\n        // \"off\": {},\n    },\n    \"languages\": { \"C++\": { \"tab_size\": 4 }, "
     "},\n}\n// "
     "end"},
    {Format::Json, "{\"a\": 1,\n\"b\": {\"c\": 2},\n\n\n\"d\": {\n}}\n"},
    {Format::Json,
     "{\n  \"a\" : 1 ,\n  \"b\" : { \"x\" : null } ,\n  \"c\" : \"\\u00e9\\n\\\"\"\n}"},
    {Format::Json,
     "{\n  \"one\": {\n    \"two\": {\n      \"three\": {\n        \"four\": {}\n      }\n    "
     "}\n  },\n  \"x\": true}"},
    {Format::Json,
     "{\n\t\"servers\": {},\n\t\"inputs\": [\n\t\t{\n\t\t\t\"id\": \"key\"\n\t\t}\n\t]\n}\n"},

    {Format::Toml, ""},
    {Format::Toml, "# nothing but a remark"},
    {Format::Toml, "model = \"o3\"\napproval_policy = 'never' # fine\n"},
    {Format::Toml, "a = 1"},
    {Format::Toml,
     "model = \"o3\"\n\n[mcp_servers.files]\ncommand = \"npx\"\nargs = [\n  \"-y\", # yes\n  "
     "\"server\",\n"
     "]\n\n[mcp_servers.files.env]\nTOKEN = \"a#b\"\n\n[tui]\n# none\n\n[profiles.fast]\nmodel = "
     "\"mini\"\n"},
    {Format::Toml,
     "[mcp_servers]\nfiles.command = \"npx\"\nfiles.args = []\nother = { command = \"x\" }\n"},
    {Format::Toml, "mcp_servers = { files = { command = \"npx\", args = [\"{\"] } }\nx.y.z = 1\n"},
    {Format::Toml, "[a]\r\nb = 1\r\n\r\n[a.\"c d\"]\r\ne = '''\r\n[f]\r\n'''\r\n"},
    {Format::Toml,
     "\xef\xbb\xbf[[list]]\nx = 1\n[list.sub]\ny = 2\n[[list]]\nx = 3\n\n[after]\nk = "
     "1979-05-27T07:32:00Z\n"},
    {Format::Toml,
     "text = \"\"\"\nmany \\\n  lines \"\" # not a remark\n\"\"\"\nempty = {}\n[t]\n"},
    {Format::Toml,
     "[x.y.z]\nw = 1.5\n\n[x]\nv = [[1, 2], [\"a\"]]\n[q]   # last\n\tr = true\n\ts = 0x1F"},

    {Format::Yaml, ""},
    {Format::Yaml, "# nothing but a remark\n"},
    {Format::Yaml, "---\n"},
    {Format::Yaml, "a: 1\n"},
    {Format::Yaml, "a: 1"},
    {Format::Yaml, "{}\n"},
    {Format::Yaml, "{a: 1, b: {c: [1, 2]}, 'd': \"}\"}\n"},
    {Format::Yaml,
     "# goose\nGOOSE_MODE: \"smart_approve\"\nextensions:\n  developer:\n    bundled: true\n    "
     "enabled: "
     "true\n    type: builtin\n  # the memory\n  memory:\n    timeout: 300 # seconds\n    args: "
     "[\"-y\", "
     "x]\n\nslash_commands:\n  - command: \"run\"\n    path: /x\n  - command: b\n\n# end\n"},
    {Format::Yaml, "extensions:\nother: ~\nthird: {}\n"},
    {Format::Yaml, "a:\r\n    b:\r\n        c: text\r\n    d: 'it''s'\r\ne: 5\r\n"},
    {Format::Yaml,
     "\xef\xbb\xbf---\nkey: &k\n  x: 1\n  y: {}\nplain: more text here # remark\n...\n"},
    {Format::Yaml,
     "text: |\n  # no remark\n  line\n\n  more\nfold: >-\n  a\n  b\nm:\n  n: |+\n    x\n\n\n"},
    {Format::Yaml,
     "\"quoted key\": {\n  a: 1, # one\n  b: {c: d},\n}\nlist:\n- 1\n- x: 2\n  y: 3\nz:\n "
     "deep:\n  er: 1\n"},
};

}  // namespace patchbay::config::edit
