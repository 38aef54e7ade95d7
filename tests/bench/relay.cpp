// The limit of a gateway: HTTP on one side, one stdio server on the other, and bytes passed between
// them unread. It knows whose an answer is by the order of the requests, which the benchmark's server
// keeps, and of a request only whether it has an id.
//   patchbay-bench-relay SERVER
#include "http_loop.hpp"
#include "measure.hpp"

#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace {

class Relay final : public bench::HttpLoop {
public:
    explicit Relay(const std::string& server) : server_({server}) { watch(server_.out()); }

private:
    void on_request(int client, const bench::HttpFrame& request) override {
        line_.assign(request.body);
        server_.write(line_ += '\n');
        if (request.body.find("\"id\":") == request.body.npos)
            return answer(client, "202 Accepted", "", {});
        waiting_.push_back(client);
    }

    void on_readable(int) override {
        do {
            answer(waiting_.front(), "200 OK", "Content-Type: application/json\r\n",
                   {server_.read_line()});
            waiting_.pop_front();
        } while (server_.has_line());
    }

    bench::Child server_;
    std::deque<int> waiting_;  // clients, in the order of what they asked
    std::string line_;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: patchbay-bench-relay SERVER\n", stderr);
        return 64;
    }
    std::make_unique<Relay>(argv[1])->run();
}
