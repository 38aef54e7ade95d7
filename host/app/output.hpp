// Printing: tables, JSON, foreign text that must not move the cursor, files for binary content.
//
// Threads: the calling one.
#pragma once

#include "core/result.hpp"

#include <boost/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

bool stdout_is_terminal();
bool stderr_is_terminal();

void say(std::string_view line);         // one line to stderr
void print_line(std::string_view line);  // one line to stdout, as it is
// Foreign text to stdout: made printable on a terminal, untouched into a pipe; its last line ends
// with one newline, whether the text has it or not.
void print_foreign(std::string_view text);

// A line on stderr that replaces itself; only on a terminal, gone with the object.
class ProgressLine {
public:
    ProgressLine() = default;
    ProgressLine(const ProgressLine&) = delete;
    ~ProgressLine();
    void show(const std::string& text);

private:
    bool shown_ = false;
};

struct Cell {
    std::string text;
    const char* colour = "";  // "green", "yellow", "red", "gray", ""
};
// First row is the heading. Colours on a terminal without NO_COLOR.
void print_table(const std::vector<std::vector<Cell>>& rows);

// Base64 with padding; Invalid when it is none.
Result<std::string> base64_decoded(std::string_view text);
// Saves to a fresh file `<stem>-N.<extension of mime_type>` in `directory`; returns its path.
Result<std::string> save_new_file(const std::string& directory, const std::string& stem,
                                  std::string_view mime_type, std::string_view bytes);

// The content blocks of a tool result or a prompt message: text printed, binary saved and named.
void print_content(const boost::json::value& content, const std::string& output_directory);

}  // namespace patchbay::app
