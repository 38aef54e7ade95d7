// A key and a certificate of its own for it, in PEM files that come whole.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <sys/stat.h>

namespace patchbay::test {

// All of it or the file that was there before.
inline void write_whole_file(const std::string& path, mode_t mode,
                             const std::function<void(FILE*)>& write) {
    const std::string draft = path + ".new";
    auto* const file = std::fopen(draft.c_str(), "w");
    if (!file || ::fchmod(::fileno(file), mode) != 0) std::abort();
    write(file);
    if (std::fclose(file) != 0 || std::rename(draft.c_str(), path.c_str()) != 0) std::abort();
}

class KeyPair {
public:
    // For 127.0.0.1, from two hours ago on.
    explicit KeyPair(const char* name, long lives_s = 3'600)
        : key_(EVP_EC_gen("P-256"), EVP_PKEY_free), certificate_(X509_new(), X509_free) {
        auto* const it = certificate_.get();
        X509_set_version(it, X509_VERSION_3);
        ASN1_INTEGER_set(X509_get_serialNumber(it), 1);
        X509_gmtime_adj(X509_getm_notBefore(it), -7'200);
        X509_gmtime_adj(X509_getm_notAfter(it), lives_s);
        X509_set_pubkey(it, key_.get());
        X509_NAME_add_entry_by_txt(X509_get_subject_name(it), "CN", MBSTRING_ASC,
                                   reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
        X509_set_issuer_name(it, X509_get_subject_name(it));
        add(NID_basic_constraints, "critical,CA:TRUE");
        add(NID_subject_alt_name, "IP:127.0.0.1");
        X509_sign(it, key_.get(), EVP_sha256());
    }

    EVP_PKEY* key() const { return key_.get(); }
    void write_certificate(const std::string& path) const {
        write_whole_file(path, 0644, [&](FILE* file) { PEM_write_X509(file, certificate_.get()); });
    }
    void write_key(const std::string& path, mode_t mode = 0600) const {
        write_whole_file(path, mode, [&](FILE* file) {
            PEM_write_PrivateKey(file, key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
        });
    }

private:
    void add(int kind, const char* text) {
        auto* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, text);
        X509_add_ext(certificate_.get(), extension, -1);
        X509_EXTENSION_free(extension);
    }
    const std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> key_;
    const std::unique_ptr<X509, void (*)(X509*)> certificate_;
};

}  // namespace patchbay::test
