// What plugins call: each event of a channel becomes one of its link. [any]
#include "core/limits.hpp"
#include "core/secrets.hpp"
#include "core/text.hpp"
#include "plugin/link.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace patchbay::plugin {
namespace {

constexpr std::size_t kFactBytes = 1u << 10;

core::Buffer copy_of(const patchbay_buf& body) {
    auto* bytes = static_cast<char*>(std::malloc(body.size ? body.size : 1));
    if (!bytes) throw std::bad_alloc();
    std::memcpy(bytes, body.data, body.size);
    return {bytes, body.size, [](void* owner) { std::free(owner); }, bytes};
}

std::unique_ptr<EventDetail> detail_of(patchbay_status status, const patchbay_problem* problem) {
    auto detail = std::make_unique<EventDetail>();
    detail->problem = problem_of(status, problem);
    return detail;
}

bool too_small(const patchbay_problem* problem) {
    return problem && problem->struct_size < kProblemFloor;
}

// The body of a sink's function: what it throws loses the event, and with it the channel.
template <class Body>
patchbay_status heard(patchbay_link* link, Body&& body) noexcept {
    try {
        return body();
    } catch (...) {
        thrown_at_entry("an event");
        void_entry("an event", [&] { link->lose_event(); });
        return PATCHBAY_OK;
    }
}

void sink_opened(patchbay_link* link) noexcept {
    heard(link, [&]() -> patchbay_status {
        LinkEvent event{EventKind::Opened};
        link->push(event);
        return PATCHBAY_OK;
    });
}

patchbay_status sink_message(patchbay_link* link, std::uint64_t exchange,
                             const patchbay_buf* body) noexcept {
    return heard(link, [&]() -> patchbay_status {
        if (!body || (!body->data && body->size)) {
            link->queue_fault("message without a body");
            return PATCHBAY_OK;
        }
        LinkEvent event{EventKind::Message, PATCHBAY_OK, exchange, {}, nullptr};
        event.body = body->release ? core::Buffer(reinterpret_cast<const char*>(body->data),
                                                  body->size, body->release, body->owner)
                                   : copy_of(*body);
        return link->push(event);
    });
}

void sink_done(patchbay_link* link, std::uint64_t exchange, patchbay_status status,
               const patchbay_problem* problem) noexcept {
    heard(link, [&]() -> patchbay_status {
        if (too_small(problem)) {
            link->queue_fault("done with a problem of an unknown size");
            return PATCHBAY_OK;
        }
        LinkEvent event{EventKind::Done, status, exchange, {}, nullptr};
        if (status != PATCHBAY_OK) event.detail = detail_of(status, problem);
        link->push(event);
        return PATCHBAY_OK;
    });
}

void sink_writable(patchbay_link* link) noexcept {
    heard(link, [&]() -> patchbay_status {
        LinkEvent event{EventKind::Writable};
        link->push(event);
        return PATCHBAY_OK;
    });
}

void sink_challenge(patchbay_link* link, const patchbay_problem* problem) noexcept {
    heard(link, [&]() -> patchbay_status {
        if (!problem || too_small(problem)) {
            link->queue_fault("challenge without a problem");
            return PATCHBAY_OK;
        }
        LinkEvent event{EventKind::Challenge};
        const bool session = problem->error.code == PATCHBAY_E_SESSION;
        event.detail = detail_of(session ? PATCHBAY_E_SESSION : PATCHBAY_E_AUTH, problem);
        link->push(event);
        return PATCHBAY_OK;
    });
}

void sink_closed(patchbay_link* link, const patchbay_problem* problem) noexcept {
    heard(link, [&]() -> patchbay_status {
        if (too_small(problem)) {
            link->queue_fault("closed with a problem of an unknown size");
            return PATCHBAY_OK;
        }
        LinkEvent event{EventKind::Closed};
        if (problem)
            event.detail =
                detail_of(problem->error.code ? problem->error.code : PATCHBAY_E_IO, problem);
        link->push(event);
        return PATCHBAY_OK;
    });
}

void sink_output(patchbay_link* link, std::uint32_t stream, patchbay_str line) noexcept {
    heard(link, [&]() -> patchbay_status {
        LinkEvent event{EventKind::Output};
        event.detail = std::make_unique<EventDetail>();
        event.detail->stream = stream;
        event.detail->text = core::clipped(view(line), core::kMostStderrLineBytes);
        link->push(event);
        return PATCHBAY_OK;
    });
}

void sink_fact(patchbay_link* link, patchbay_str name, patchbay_str value) noexcept {
    heard(link, [&]() -> patchbay_status {
        LinkEvent event{EventKind::Fact};
        event.detail = std::make_unique<EventDetail>();
        event.detail->name = core::printable(view(name), 64);
        event.detail->text = core::printable(view(value), kFactBytes);
        link->push(event);
        return PATCHBAY_OK;
    });
}

constexpr patchbay_sink kSink = {
    sizeof(patchbay_sink), 0,           sink_opened, sink_message, sink_done, sink_writable,
    sink_challenge,        sink_closed, sink_output, sink_fact};

patchbay_status sign(const patchbay_host*, patchbay_link* link, patchbay_str method,
                     patchbay_str url, void* ctx, Signer::Header header) noexcept {
    if (!link || !header) return PATCHBAY_E_INVALID;
    if (!link->signer) return PATCHBAY_E_AUTH;
    return entry("sign", [&] { return link->signer->sign(view(method), view(url), ctx, header); });
}

constexpr patchbay_host_sign kSign = {sizeof(patchbay_host_sign), 0, sign};

}  // namespace

const patchbay_sink* sink_table() {
    return &kSink;
}

const patchbay_host_sign* sign_table() {
    return &kSign;
}

}  // namespace patchbay::plugin
