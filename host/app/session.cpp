#include "app/session.hpp"

#include "app/ask_terminal.hpp"
#include "app/followed_clients.hpp"
#include "app/output.hpp"
#include "app/own_host.hpp"
#include "app/terminal_person.hpp"
#include "config/parsed_texts.hpp"
#include "core/log.hpp"
#include "core/text.hpp"
#include "gateway/approvals.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace patchbay::app {

namespace {

constexpr std::chrono::seconds kCloseLimit{5};
constexpr std::chrono::milliseconds kHurriedGrace{300};

}  // namespace

config::Environment environment_of(const GlobalOptions& global) {
    static const FollowedClients clients;  // a table without state
    auto environment = config::Environment::of_this_process();
    environment.config_files = global.config_files;
    environment.sets = global.sets;
    environment.log_level = global.log_level;
    environment.client_files = &clients;
    environment.parsed = global.parsed;
    environment.servers_of = config::scope_named(global.servers_of);
    return environment;
}

GlobalOptions parsing_once(GlobalOptions global) {
    global.parsed = std::make_shared<config::ParsedTexts>();
    return global;
}

HostOptions host_options(const GlobalOptions& global) {
    HostOptions options;
    options.environment = environment_of(global);
    options.plugin_directories = global.plugin_directories;
    options.state_directory = default_state_directory(options.environment);
    options.long_lived = false;
    options.quiet = global.quiet && global.log_level.empty();
    return options;
}

// What led to it was a diagnostic too, so that one is not told twice.
int report_stop(const config::Config& config, const GlobalOptions& global) {
    for (const auto& diagnostic : config.diagnostics) {
        const bool error = diagnostic.severity == config::Severity::Error;
        const auto text = config::to_string(diagnostic);
        if ((error || !global.quiet) && text != "error: " + config.stop) say(text);
    }
    report({ErrorCode::Invalid, config.stop}, global);
    return kConfigError;
}

auth::Person::Presence whoever_is_there() {
    return TerminalAsker::has_terminal() ? auth::Person::Presence::AskFirst
                                         : auth::Person::Presence::Nobody;
}

std::unique_ptr<Session> Session::open(const GlobalOptions& global, Life life,
                                       auth::Person::Presence presence,
                                       HostOptions::Observe observe) {
    std::unique_ptr<Session> session(new Session(
        global, life, presence, std::move(observe),
        std::make_shared<TerminalAsker>(presence == auth::Person::Presence::NoBrowser)));
    const auto& config = session->host().config();
    if (!config.stop.empty() && (life != Life::Offline || !config.deny_all)) {
        report_stop(config, global);
        return {};
    }
    session->start();
    return session;
}

Session::Session(const GlobalOptions& global, Life life, auth::Person::Presence presence,
                 HostOptions::Observe observe, std::shared_ptr<TerminalAsker> asker)
    : global_(global),
      life_(life),
      watchdog_(config::PluginSettings().hang_limit),
      approvals_(asker) {
    auto options = host_options(global);
    options.long_lived = life == Life::Long || life == Life::Shared;
    options.more_callers = life == Life::Shared;
    options.keep_events = options.turned_by_commands = life == Life::Shared;
    options.observe = std::move(observe);
    options.person = std::make_shared<TerminalPerson>(asker, presence);
    const auto ask = [asker](const std::string& server, const boost::json::object& params,
                             std::function<void(std::optional<boost::json::object>)> answer) {
        const auto id = asker->ask(server, params, std::move(answer));
        return connection::Question(asker.get(), [asker, id](void*) { asker->withdraw(id); });
    };
    host_ = std::make_unique<Host>(std::move(options));
    using Kind = core::Principal::Kind;
    caller_ = std::make_unique<LocalCaller>(
        host_->callers(),
        core::Principal{
            life == Life::Long ? Kind::Batch : Kind::Person, {}, {}, core::Trust::Approves},
        // Who sits at the terminal of a host that others use was asked nothing.
        connection::Responder(host_->config().client,
                              life == Life::Shared ? connection::AskPerson() : ask));
    // Of a host that others use whoever has asked is asked.
    if (life != Life::Shared)
        caller_->set_approver(
            [this](const auto& wanted, auto decide) { return approve(wanted, std::move(decide)); });
    asker->use(host_->loop());
    troubles_.emplace(servers(), global.quiet);
    ask_own();
}

Approving Session::approving() const {
    return {global_.yes, TerminalAsker::has_terminal()};
}

connection::Question Session::approve(connection::Approvable wanted,
                                      connection::Caller::Decide decide) {
    using connection::Approval;
    const auto [by_option, at_terminal] = approving();
    const bool beforehand = by_option && wanted.may_set(config::Level::AllowSession);
    if (beforehand || !at_terminal) {
        decide(beforehand ? Approval::Given : Approval::NobodyThere);
        return {};
    }
    // What asks once has no session.
    if (life_ == Life::OneShot) std::erase(wanted.levels, config::Level::AllowSession);
    return approvals_.ask(
        {gateway::approval_text(host_->config(), wanted), wanted.levels, wanted.key()},
        std::move(decide));
}

HostApprovals::Ask Session::approval_asker() {
    return [this](ApprovalQuestion question, connection::Caller::Decide decide) {
        return approvals_.ask(std::move(question), std::move(decide));
    };
}

void Session::ask_own() {
    asked_ = std::make_unique<OwnHost>(servers(), *caller_);
}

void Session::start() {
    watchdog_.set_limit(host_->config().plugins.hang_limit);
    if (auto watch = host_->loop().watch(watchdog_.fd(), core::Loop::kReadable,
                                         [this](unsigned) { on_signal(); })) {
        signal_watch_ = *watch;
    }
}

Session::~Session() {
    close();
    if (signal_watch_) host_->loop().unwatch(signal_watch_);
}

int Session::report(const Error& error) const {
    timed_out_ = timed_out_ || error.code == ErrorCode::Timeout;
    return app::report(error, global_);
}

// A server that did not answer in time, or that nobody waits for any longer, has nothing to finish:
// whoever waits for us does not wait for its whole grace. The others keep theirs. What was said
// leaves before.
void Session::close() {
    closing_ = true;
    static_cast<void>(stdout_error());
    const auto now = core::Clock::now(), deadline = now + kCloseLimit;
    watchdog_.set_due(timed_out_ ? now : deadline);
    using Hurried = plugin::Hurried;
    if (timed_out_ && !was_interrupted()) {
        // A transport asks its process to stop in a turn of its own.
        const auto asked = std::make_shared<bool>(false);
        host_->connections().close_late();
        host_->loop().defer([asked] { *asked = true; });
        host_->run_until([asked] { return *asked; }, deadline);
    }
    host_->plugins().hurry(was_interrupted() ? Hurried::All : Hurried::Leaving, kHurriedGrace);
    host_->close(deadline);
}

void Session::on_signal() {
    if (watchdog_.take_hangups() > 0 && hung_up_) hung_up_();
    for (auto signals = watchdog_.take(); signals > 0; --signals) {
        // Supervisors end their trees as soon as we are gone: leaving at once leaves nothing
        // behind.
        if (++interrupts_ > 1) std::quick_exit(life_ == Life::Shared ? kOk : kInterrupted);
        if (interrupted_)
            interrupted_();
        else
            host_->interrupt();
    }
}

int Session::code_of_end() const {
    return watchdog_.first_signal() == SIGTERM ? kOk : kInterrupted;
}

bool Session::wait(const std::function<bool()>& done, std::function<void()> interrupted) {
    interrupted_ = std::move(interrupted);
    watchdog_.set_due(due_);
    const bool reached = host_->run_until(done);
    // Not while something is printed: who reads it may take as long as they like.
    watchdog_.set_due(core::Clock::time_point::max());
    interrupted_ = {};
    if (!reached) close();  // what still runs ends now, while whoever waited for it is there
    return reached;
}

int Session::report_no_server(const std::string& server) const {
    // Whoever was asked has it not, and what was read here has.
    if (!server.empty() && servers().has(server))
        return report({ErrorCode::NotFound,
                       "server \"" + core::printable(server, 64) +
                           "\" is in the files, but the running host goes on with what it ran by "
                           "before them; `patchbay config apply` has it run by the files"});
    return report_missing(servers().no_such_server(server));
}

int Session::report_missing(const Error& error) const {
    const int code = report(error);
    return error.code == ErrorCode::Invalid ? int(kConfigError) : code;
}

int report(const Error& error, const GlobalOptions& global) {
    if (global.json) {
        boost::json::object told{
            {"error",
             {{"kind", name_of(error.code)}, {"message", core::log::masked(error.message)}}}};
        print_json(boost::json::serialize(told));
    }
    say("error: " + core::log::masked(error.message));
    return exit_code_of(error.code);
}

int code_of_file(const Error& error) {
    const auto& text = error.message;
    const auto end = text.find(':');
    const bool placed = text.starts_with('/') && end != std::string::npos &&
                        end + 1 < text.size() && text[end + 1] >= '0' && text[end + 1] <= '9';
    return error.code == ErrorCode::Invalid && placed ? int(kConfigError)
                                                      : int(exit_code_of(error.code));
}

int report_file(const Error& error, const GlobalOptions& global) {
    static_cast<void>(report(error, global));
    return code_of_file(error);
}

}  // namespace patchbay::app
