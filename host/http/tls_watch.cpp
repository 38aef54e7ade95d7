#include "http/tls_watch.hpp"

#include "core/log.hpp"

#include <sys/stat.h>
#include <utility>

namespace patchbay::http {

namespace {

// Another one whenever a file may say something else; links are followed, as renewing programs have
// them lead to another file.
std::string edition_of(const TlsFiles& files) {
    std::string edition;
    for (const auto& path : {files.certificate, files.key}) {
        struct stat info {};
        if (::stat(path.c_str(), &info) != 0) info = {};
        for (const auto part :
             {static_cast<long long>(info.st_dev), static_cast<long long>(info.st_ino),
              static_cast<long long>(info.st_size), static_cast<long long>(info.st_mtim.tv_sec),
              static_cast<long long>(info.st_mtim.tv_nsec),
              static_cast<long long>(info.st_ctim.tv_sec),
              static_cast<long long>(info.st_ctim.tv_nsec)})
            edition += std::to_string(part) + ":";
    }
    return edition;
}

void warn_of_date(const TlsIdentity& identity, const std::string& path) {
    if (identity.out_of_date())
        core::log::warn("the certificate \"" + path +
                        "\" does not count at this time: it has "
                        "expired, or is not valid yet; clients will refuse it");
}

}  // namespace

TlsWatch::TlsWatch(core::Loop& loop, TlsFiles files)
    : files_(std::move(files)), next_(loop), worker_(loop, 1) {}

Result<std::unique_ptr<TlsWatch>> TlsWatch::open(core::Loop& loop, TlsFiles files) {
    std::unique_ptr<TlsWatch> made(new TlsWatch(loop, std::move(files)));
    auto found = look(made->files_, {});
    if (!*found.identity) return found.identity->error();
    made->edition_ = std::move(found.edition);
    made->identity_ = std::move(**found.identity);
    warn_of_date(*made->identity_, made->files_.certificate);
    made->look_later();
    return made;
}

// Before the files are read: what changes meanwhile is seen the next time.
TlsWatch::Found TlsWatch::look(const TlsFiles& files, const std::string& known) {
    Found found{edition_of(files), {}};
    if (found.edition != known) found.identity = TlsIdentity::open(files);
    return found;
}

void TlsWatch::look_later() {
    next_.start(kLook, [this] {
        worker_.run([files = files_, known = edition_](
                        const std::stop_token&) -> Result<Found> { return look(files, known); },
                    lifetime_.guard([this](Result<Found> found) {
                        look_later();
                        if (!found || !found->identity) return;
                        edition_ = std::move(found->edition);
                        if (!*found->identity)
                            return core::log::warn("TLS goes on as it was: " +
                                                   found->identity->error().message);
                        identity_ = std::move(**found->identity);
                        core::log::info("TLS: the certificate \"" + files_.certificate +
                                        "\" was read anew");
                        warn_of_date(*identity_, files_.certificate);
                    }));
    });
}

}  // namespace patchbay::http
