#include "hostile/peer.hpp"

#include <cerrno>
#include <memory>
#include <sys/socket.h>
#include <unistd.h>

namespace patchbay::hostile {

namespace {

std::optional<Phase> phase_of(const std::string& method) {
    if (method == "initialize" || method == "server/discover") return Phase::Begin;
    if (method == "tools/list") return Phase::List;
    if (method == "tools/call") return Phase::Call;
    return std::nullopt;
}

std::string good_result(const std::string& method, Era era) {
    const std::string complete = "{\"resultType\":\"complete\",";
    if (method == "initialize")
        return R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}},)"
               R"("serverInfo":{"name":"hostile","version":"1"}})";
    if (method == "server/discover")
        return complete +
               R"("ttlMs":60000,"cacheScope":"private","supportedVersions":["2026-07-28"],)"
               R"("capabilities":{"tools":{"listChanged":true}},)"
               R"("_meta":{"io.modelcontextprotocol/serverInfo":{"name":"hostile","version":"1"}}})";
    if (method == "tools/list")
        return complete +
               R"("ttlMs":60000,"cacheScope":"private","tools":[{"name":"do","inputSchema":{"type":"object"}}]})";
    if (method == "tools/call") return complete + R"("content":[{"type":"text","text":"done"}]})";
    return era == Era::Modern ? complete + "\"a\":0}" : "{}";
}

}  // namespace

Asked Session::asked(const std::string& method, const std::string& id) {
    return {method,
            id,
            cell.phase,
            cell.era,
            cell.transport,
            cell.row->name,
            origin,
            accept,
            good_result(method, cell.era),
            ++misbehaved_};
}

Steps Session::answer(const std::string& method, const std::string& id) {
    ++visits;
    if (method == "tools/call") {
        ++calls;
        on_call();
    }
    const bool of_the_other_era =
        method == (cell.era == Era::Legacy ? "server/discover" : "initialize");
    const auto phase = phase_of(method);
    const bool good = !phase || !misbehaves_in(*phase);
    if (!good && !(of_the_other_era && cell.era == Era::Legacy))
        return cell.row->act(asked(method, id));
    Asked only;
    only.id = id;
    only.good_result = good_result(method, cell.era);
    const auto text = of_the_other_era
                          ? only.error("{\"code\":-32601,\"message\":\"Method not found\"}")
                          : only.good();
    return {{Step::Kind::Message, text, {}, 0}};
}

Steps Session::unasked(Phase phase, Times times) {
    if (!misbehaves_in(phase) || idle_done) return {};
    idle_done = phase == Phase::Idle && times == Times::Once;
    auto nobodys = asked(phase == Phase::Idle ? "tools/call" : "", "1");
    nobodys.good_result = good_result("tools/call", cell.era);
    return cell.row->act(nobodys);
}

Peer::Peer(int from, int to, std::unique_ptr<Framing> framing, Find find)
    : in(from), out(to), framing_(std::move(framing)), find_(std::move(find)) {
    framing_->opened(*this);
}

Peer::~Peer() {
    if (session && session->stream == this) session->stream = nullptr;
}

void Peer::readable() {
    char bytes[65'536];
    const auto got = ::read(in, bytes, sizeof bytes);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (got <= 0) {
        over_ = true;
        return;
    }
    received_.append(bytes, static_cast<std::size_t>(got));
    if (closing_ || muted_)
        received_.clear();  // whatever it is: no answer
    else
        framing_->received(*this, received_);
}

bool Peer::fill() {
    sending_.clear();
    sent_ = 0;
    while (!output_.empty() && sending_.size() < kFill) {
        auto& first = output_.front();
        if (first.act) {
            if (!sending_.empty()) break;
            const auto act = std::move(first.act);
            output_.pop_front();
            act();
            continue;
        }
        if (!first.next) {
            sending_ += first.bytes;
            output_.pop_front();
            continue;
        }
        const auto more = first.next();
        if (more.empty())
            output_.pop_front();
        else
            sending_ += more;
    }
    return !sending_.empty();
}

void Peer::writable() {
    // A few turns only: the other cells want theirs.
    for (int round = 0; round < 4; ++round) {
        if (sent_ == sending_.size() && !fill()) break;
        const auto put = ::write(out, sending_.data() + sent_, sending_.size() - sent_);
        if (put < 0 && (errno == EAGAIN || errno == EINTR)) break;
        if (put <= 0) {
            over_ = true;
            return;
        }
        sent_ += static_cast<std::size_t>(put);
    }
    if (closing_ && !wants_to_write()) over_ = true;
}

void Peer::write(std::string bytes) {
    if (!muted_ && !closing_ && !bytes.empty()) output_.push_back({std::move(bytes), {}});
}

void Peer::flood(std::function<std::string()> next) {
    if (!muted_ && !closing_) output_.push_back({{}, std::move(next)});
}

void Peer::close() {
    closing_ = true;
    if (!wants_to_write()) over_ = true;
}

void Peer::then(std::function<void()> act) {
    output_.push_back({{}, {}, std::move(act)});
}

void Peer::shut(int how) {
    // Of a pipe there are two ends to close, and of a socket one end to shut: a reset one as well,
    // whose number would be closed a second time when it is another's.
    if (in == out)
        ::shutdown(in, how);
    else
        ::close(how == SHUT_RD ? in : out);
    (how == SHUT_RD ? shut_ : muted_) = true;
}

void Peer::reset() {
    const linger at_once{1, 0};
    ::setsockopt(out, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    over_ = true;
}

void Peer::perform(const Steps& steps) {
    for (const auto& step : steps) {
        switch (step.kind) {
            case Step::Kind::Message:
                write(framing_->frame(step.text));
                break;
            case Step::Kind::Half:
                write(framing_->half(step.text));
                mute();
                break;
            case Step::Kind::Endless:
                write(framing_->endless(step.text));
                flood([framing = framing_.get()] { return framing->piece(); });
                mute();
                break;
            case Step::Kind::Flood:
            case Step::Kind::RawFlood:
                flood([framing = framing_.get(), each = step.each, count = step.count,
                       bare = step.kind == Step::Kind::RawFlood,
                       i = std::size_t{0}]() mutable -> std::string {
                    if (i == count) return {};
                    const auto text = each(i++);
                    return bare ? text : framing->frame(text);
                });
                break;
            case Step::Kind::Raw:
                write(step.text);
                break;
            case Step::Kind::Act:
                then([this, act = step.act] { act(*this); });
                break;
            case Step::Kind::Deaf:
                session->deaf = true;
                break;
            case Step::Kind::Close:
                close();
                break;
        }
    }
}

}  // namespace patchbay::hostile
