#include "config/dialects.hpp"
#include "core/text.hpp"

#include <algorithm>

namespace patchbay::config {

namespace {

const std::string* default_of(const Node& root, const std::string& id) {
    const auto* inputs = root.find("inputs");
    if (!inputs && root.find("mcp")) inputs = root.find("mcp")->find("inputs");
    if (!inputs) return nullptr;
    for (const auto& input : inputs->items) {
        const auto* name = input.find("id");
        const auto* value = input.find("default");
        if (name && name->text == id && value && value->is(Node::Kind::Text)) return &value->text;
    }
    return nullptr;
}

}  // namespace

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
    }
}

// As VS Code and Cursor write them.
void folders(ServerEntry& entry, const Source& source) {
    auto folder = source.file.substr(0, source.file.rfind('/'));
    for (const std::string_view own : {"/.vscode", "/.cursor"})
        if (folder.ends_with(own)) folder.resize(folder.size() - own.size());
    replace_all(folder, "${", "$${");
    change_texts(entry.body, [&](Node& node) {
        replace_all(node.text, "${workspaceFolder}", folder);
        replace_all(node.text, "${userHome}", "${HOME}");
    });
}

// ${workspaceFolder} is the folder above .vscode or of the file, ${userHome} is ${HOME}. A command
// is one of the editor, and no program to run. An
// input is a question to a person: its default is taken, and without one the server is refused.
void restate_vs_code(ServerEntry& entry, const Node& root, const Source& source) {
    folders(entry, source);
    change_texts(entry.body, [&](Node& node) {
        if (const auto at = node.text.find("${command:"); at != std::string::npos)
            return refuse(
                entry, RuleId::ForeignKey, node.mark,
                "\"" + core::printable(node.text.substr(at, node.text.find('}', at) + 1 - at), 80) +
                    "\" asks VS Code for a command of its own; write the value, "
                    "${VARIABLE} or ${file:PATH} instead");
        for (auto at = node.text.find("${input:"); at != std::string::npos;
             at = node.text.find("${input:", at)) {
            const auto end = std::min(node.text.find('}', at), node.text.size());
            const auto id = node.text.substr(at + 8, end - at - 8);
            const auto* fallback = default_of(root, id);
            if (!fallback) {
                return refuse(entry, RuleId::ForeignKey, node.mark,
                              "it asks a person for the input \"" + core::printable(id, 80) +
                                  "\"; give that input a default, or write ${VARIABLE} or "
                                  "${file:PATH} instead");
            }
            auto literal = *fallback;
            replace_all(literal, "${", "$${");
            node.text.replace(at, end + 1 - at, literal);
            at += literal.size();
        }
    });
}

}  // namespace patchbay::config
