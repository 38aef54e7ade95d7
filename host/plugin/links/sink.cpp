// What plugins call: each event of a channel becomes one of its link. [any]
#include "core/limits.hpp"
#include "core/secrets.hpp"
#include "core/text.hpp"
#include "plugin/links/channel_link.hpp"
#include "plugin/links/open_channel.hpp"

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

void sink_opened(patchbay_link* link) noexcept {
    heard(link, [&] { return link->events().push({EventKind::Opened}); });
}

patchbay_status sink_message(patchbay_link* link, std::uint64_t exchange,
                             const patchbay_buf* body) noexcept {
    return heard(link, [&] {
        if (!body || (!body->data && body->size))
            return link->queue_fault("message without a body");
        LinkEvent event{EventKind::Message, exchange};
        event.body = body->release ? core::Buffer(reinterpret_cast<const char*>(body->data),
                                                  body->size, body->release, body->owner)
                                   : copy_of(*body);
        return link->events().push(std::move(event));
    });
}

void sink_done(patchbay_link* link, std::uint64_t exchange, patchbay_status status,
               const patchbay_problem* problem) noexcept {
    heard(link, [&] {
        if (too_small(problem)) return link->queue_fault("done with a problem of an unknown size");
        LinkEvent event{EventKind::Done, exchange};
        if (status != PATCHBAY_OK) event.detail = detail_of(status, problem);
        return link->events().push(std::move(event));
    });
}

void sink_writable(patchbay_link* link) noexcept {
    heard(link, [&] { return link->events().push({EventKind::Writable}); });
}

void sink_challenge(patchbay_link* link, const patchbay_problem* problem) noexcept {
    heard(link, [&] {
        if (!problem || too_small(problem)) return link->queue_fault("challenge without a problem");
        LinkEvent event{EventKind::Challenge};
        const bool session = problem->error.code == PATCHBAY_E_SESSION;
        event.detail = detail_of(session ? PATCHBAY_E_SESSION : PATCHBAY_E_AUTH, problem);
        return link->events().push(std::move(event));
    });
}

void sink_closed(patchbay_link* link, const patchbay_problem* problem) noexcept {
    heard(link, [&] {
        if (too_small(problem))
            return link->queue_fault("closed with a problem of an unknown size");
        LinkEvent event{EventKind::Closed};
        if (problem)
            event.detail =
                detail_of(problem->error.code ? problem->error.code : PATCHBAY_E_IO, problem);
        return link->events().push(std::move(event));
    });
}

void sink_output(patchbay_link* link, std::uint32_t stream, patchbay_str line) noexcept {
    heard(link, [&] {
        LinkEvent event{EventKind::Output};
        event.detail = std::make_unique<EventDetail>();
        event.detail->stream = stream;
        event.detail->text = core::clipped(view(line), core::kMostStderrLineBytes);
        return link->events().push(std::move(event));
    });
}

void sink_fact(patchbay_link* link, patchbay_str name, patchbay_str value) noexcept {
    heard(link, [&] {
        LinkEvent event{EventKind::Fact};
        event.detail = std::make_unique<EventDetail>();
        event.detail->name = core::printable(view(name), 64);
        event.detail->text = core::printable(view(value), kFactBytes);
        return link->events().push(std::move(event));
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
