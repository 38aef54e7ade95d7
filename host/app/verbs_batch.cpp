#include "app/batch.hpp"
#include "app/batch_relay.hpp"
#include "app/look_for_host.hpp"
#include "app/output.hpp"
#include "app/server_wait.hpp"
#include "app/session.hpp"
#include "app/verb.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace patchbay::app {

namespace {

// Why no line will ever come from it, as an errno; 0: it may be read.
int unreadable(int input) {
    struct stat info {};
    if (::fstat(input, &info) != 0) return errno;
    if (S_ISDIR(info.st_mode)) return EISDIR;
    return (::fcntl(input, F_GETFL) & O_ACCMODE) == O_WRONLY ? EBADF : 0;
}

// What is installed beside the program: <prefix>/share/doc/patchbay/<name>.
std::string document(const std::string& name) {
    std::error_code failed;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
    const auto prefix = failed ? std::filesystem::path() : self.parent_path().parent_path();
    return (prefix / "share/doc/patchbay" / name).string();
}

int run_batch(Session& session, int input_fd) {
    LineInput input(session.host().loop(), input_fd);
    Batch batch({session.servers(),
                 session.caller(),
                 input,
                 {nullptr, LineOutput::Unread::Waits, session.signals()},
                 [] {},
                 nullptr,
                 nullptr,
                 [&](const std::string& server) {
                     using Servers = std::vector<std::string>;
                     session.host().recall_lists(server.empty() ? Servers() : Servers{server});
                 }});
    session.caller().set_notification_handler(
        [&](const std::string& server, const std::string& method, std::string_view params) {
            batch.notify(server, method, params);
        });
    batch.begin();
    // An answer that cannot be delivered is worth no further request.
    session.wait([&] { return batch.over(); },
                 [&] {
                     batch.interrupt("interrupted by the user");
                     session.host().interrupt();
                 });
    const bool interrupted = session.was_interrupted();
    if (!interrupted) tell_rules_without_tools(session);
    session.close();  // requests that are left end while we are here to be told
    if (interrupted) batch.fail_the_rest();
    session.caller().set_notification_handler({});
    batch.output().finish(kLastWords);
    if (interrupted) return kInterrupted;
    return batch.failed() ? kFailure : kOk;
}

// sign_in: a browser may be opened for a server that asks for it.
int batch_verb(const GlobalOptions& global, const std::string& file, bool sign_in) {
    const bool named = !file.empty() && file != "-";
    // Of a FIFO the open would wait for a writer, with nobody there to hear Ctrl-C.
    const int input =
        named ? ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK) : STDIN_FILENO;
    if (const int failed = input < 0 ? errno : unreadable(input); failed != 0)
        return report({ErrorCode::Invalid,
                       "cannot read " + (named ? file : "stdin") + ": " + std::strerror(failed)},
                      global);
    const auto opened =
        Session::open(global, Session::Life::Long,
                      sign_in ? auth::Person::Presence::Ready : auth::Person::Presence::Nobody);
    if (!opened) return kConfigError;
    auto& session = *opened;
    session.troubles().tell_all();
    // The browser of a running host opens for nobody.
    if (!sign_in)
        if (const auto line = look_for_host(session, Guest::Batch))
            return BatchRelay(session, input, *line).run();
    return run_batch(session, input);
}

}  // namespace

void add_batch_verb(CLI::App& app, Choice& choice) {
    struct Words {
        std::string file;
        bool sign_in = false, yes = false;
    };
    const auto words = std::make_shared<Words>();
    auto& batch = add_verb(
        app, "batch", "Many requests over one set of connections: JSON Lines in, JSON Lines out",
        "  echo '{\"id\":1,\"op\":\"tools/call\",\"name\":\"mcp__files__list_directory\","
        "\"arguments\":{\"path\":\".\"}}' | patchbay batch\nThe format is described in " +
            document("BATCH.md") + ".");
    batch.add_option("FILE", words->file, "Requests; default: stdin");
    batch.add_flag("--sign-in", words->sign_in, "Open the browser when a server asks to sign in");
    take_yes(batch, words->yes);
    choice.on(batch, [words](const auto& global) {
        return batch_verb(with_yes(global, words->yes), words->file, words->sign_in);
    });
}

}  // namespace patchbay::app
