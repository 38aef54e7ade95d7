// An HTTP server that answers a POST with its own body: at once ("kind":"json"), as an event stream
// ("stream"), a little later in pieces ("late"), or not at all ("never"); "hangup": at once, and
// the connection ends without a word. A POST of "initialize" begins a session; the first GET gets a
// stream of one event that ends, the next 429, and all others 404. A GET of /sse gets the stream of
// the older transport, whose messages go to /mcp; whatever goes to /to/WHERE is redirected to
// WHERE with 307, to /ever/WHERE with 308. As a proxy it makes no tunnels.
//
// Threads: those of ScriptedHttp.
#pragma once

#include "support/scripted_http.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace patchbay::test {

class HttpEcho : public ScriptedHttp {
public:
    HttpEcho() : HttpEcho(std::make_shared<Counts>()) {}

    int waiting() const { return counts_->waiting; }  // for an answer that never comes
    int gets() const { return counts_->gets; }
    // Of every request so far: its first line and headers.
    std::vector<std::string> heads() const {
        std::vector<std::string> all;
        for (auto& request : requests()) all.push_back(request.head);
        return all;
    }

private:
    struct Counts {
        std::atomic<int> waiting{0}, gets{0};
    };

    explicit HttpEcho(const std::shared_ptr<Counts>& counts)
        : ScriptedHttp([counts](const Request& request) { return answer(*counts, request); }),
          counts_(counts) {}

    static Answer answer(Counts& counts, const Request& request) {
        const auto line = request.head.substr(0, request.head.find('\r'));
        if (request.is("CONNECT")) return {empty("502 No Tunnel"), Answer::Then::Close};
        if (request.is("DELETE")) return {empty("200 OK")};
        for (const auto& [path, status] :
             {std::pair<std::string, const char*>(" /to/", "307 Elsewhere"),
              {" /ever/", "308 For ever"}}) {
            const auto at = line.find(path);
            if (at == line.npos) continue;
            const auto from = at + path.size();
            return {empty(status,
                          "Location: " + line.substr(from, line.find(' ', from) - from) + "\r\n")};
        }
        return request.is("GET") ? answer_get(counts, request) : answer_post(counts, request.body);
    }

    static Answer answer_get(Counts& counts, const Request& request) {
        if (request.is("GET /sse")) return {events("event: endpoint\ndata: /mcp\n\n")};
        const int before = counts.gets++;
        if (before == 0) return {stream("retry: 1\ndata: {\"hello\":1}\n\n")};
        return {empty(before == 1 ? "429 Later" : "404 Not Found")};
    }

    static Answer answer_post(Counts& counts, const std::string& body) {
        const auto says = [&](const char* word) { return body.find(word) != body.npos; };
        if (says("\"never\"")) return ++counts.waiting, Answer();
        if (says("\"stream\"")) return {stream("data: " + body + "\n\n")};
        const auto whole = json(body, says("\"initialize\"") ? "Mcp-Session-Id: one\r\n" : "");
        const auto middle = whole.size() / 2;
        if (says("\"late\""))
            return {{},
                    Answer::Then::Keep,
                    {"", "", "", "", whole.substr(0, middle), "", whole.substr(middle)}};
        return {whole, says("\"hangup\"") ? Answer::Then::Close : Answer::Then::Keep};
    }

    const std::shared_ptr<Counts> counts_;
};

}  // namespace patchbay::test
