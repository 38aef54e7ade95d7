// Printing: tables, JSON, foreign text that must not move the cursor, files for binary content.
//
// Threads: the calling one.
#pragma once

#include "core/result.hpp"
#include "core/time_source.hpp"

#include <boost/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace patchbay::app {

bool stdout_is_terminal();
bool stderr_is_terminal();
bool somebody_is_there();  // who can be asked, and answer

void say(std::string_view line);  // one line to stderr, made printable, secrets masked
// The same with its secrets: the address that a person signs in at holds one.
void say_whole(std::string_view line);
void print_line(std::string_view line);  // one line to stdout, as it is

// Stdout for who has other things to do while nobody reads it, past what is buffered. A pipe or a
// terminal is opened anew for that: its flags may be shared with other programs.
class ReadyStdout {
public:
    ReadyStdout();
    ~ReadyStdout();
    ReadyStdout(const ReadyStdout&) = delete;

    int fd() const { return own_ < 0 ? 1 : own_; }  // worth another write() when it is writable
    // Takes off the front of `text` what can be written now. False: that failed, now or before.
    bool write(std::string_view& text) const;

private:
    int own_ = -1;
    bool socket_ = false;
};

// JSON to stdout: on a terminal with escapes for what would move it or not be seen there.
void print_json(std::string_view json);
void print_foreign_json(std::string_view json);  // as a server wrote it, on one line
// The errno of the first write to stdout that failed; 0: all of it arrived so far.
int stdout_error();
// Foreign text to stdout: made printable on a terminal, untouched into a pipe; its last line ends
// with one newline, whether the text has it or not.
void print_foreign(std::string_view text);
// An error object as a server answered it, secrets masked: `{"kind":"server",...,"rpc":{...}}`.
std::string rpc_error_json(std::string_view raw_error);
// The same: `{"error":{"kind":"server",...,"rpc":{...}}}` to stdout when `json`, in words to stderr always.
// `server`: who answered, where the words do not follow its name.
void print_rpc_error(std::string_view raw_error, bool json, const std::string& server = {});

// A line on stderr that replaces itself; only on a terminal, gone with the object.
class ProgressLine {
public:
    ProgressLine() = default;
    ProgressLine(const ProgressLine&) = delete;
    ~ProgressLine() { clear(); }
    void show(const std::string& text);
    void clear();  // before anything else is printed

private:
    bool shown_ = false;
};

// 2026-11-25 18:10 UTC; "-": of a year that no calendar writes, as a record that was edited may say.
std::string date_text(core::Calendar::time_point time);

struct Cell {
    std::string text;
    const char* colour = "";  // "green", "yellow", "red", "gray", ""
};
enum class Look { Plain, Terminal, Colours };
// Columns two spaces apart. For a terminal the text is made printable first.
std::string table_text(const std::vector<std::vector<Cell>>& rows, Look look);
// To stdout. Colours on a terminal without NO_COLOR.
void print_table(const std::vector<std::vector<Cell>>& rows);

// Saves to a fresh file `<stem>-N.<extension of mime_type>` in `directory`; returns its path.
Result<std::string> save_new_file(const std::string& directory, const std::string& stem,
                                  std::string_view mime_type, std::string_view bytes);

struct Printed {
    bool text = false;    // some of it was text
    bool failed = false;  // something could not be saved; why was said
};
// The content blocks of a tool result or a prompt message: text printed, binary saved and named.
Printed print_content(const boost::json::value& content, const std::string& output_directory);

}  // namespace patchbay::app
