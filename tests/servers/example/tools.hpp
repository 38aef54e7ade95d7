// The tools of this server: their definitions as JSON text, and what they do.
//
// Threads: one. Errors: wrong arguments are tool errors (isError); an unknown tool is -32602.
#pragma once

#include "example/session.hpp"

#include <string>
#include <unordered_map>
#include <vector>

namespace example {

struct Call {
    Session& session;
    const Request& request;
    std::string_view tool;
    const boost::json::object& arguments;
    Ticket ticket() const { return {request.id, request.era}; }
};

struct Tool {
    std::string name;
    std::string definition;  // one JSON object
    void (*run)(const Call& call);
};

class ToolShelf {
public:
    explicit ToolShelf(int generated);
    const std::vector<Tool>& all() const { return tools_; }
    const Tool* find(std::string_view name) const;
    void add(Tool tool);

private:
    std::vector<Tool> tools_;
    std::unordered_map<std::string, std::size_t> index_;
};

// {"type":"text","text":...} as the only content.
std::string text_content(std::string_view text);
void answer_text(const Call& call, std::string_view text);
void answer_failure(const Call& call, std::string_view text);  // isError

// tools_asking.cpp: those that need the client
void run_ask(const Call& call);
void run_sample(const Call& call);
void run_roots(const Call& call);
// tools_process.cpp: those that look at this process
void run_env(const Call& call);
void run_pid(const Call& call);

// Answers tools/list and tools/call.
void list_tools(Session& session, const Request& request);
void call_tool(Session& session, const Request& request);

}  // namespace example
