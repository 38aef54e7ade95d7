/* Both headers alone, as C and as C++, with every warning an error; and what can never change. */
#include <patchbay/plugin.h>
#include <patchbay/services.h>

#if defined(__cplusplus)
#define CHECK(what) static_assert(what, #what)
#else
#define CHECK(what) _Static_assert(what, #what)
#endif

#if UINTPTR_MAX == UINT64_MAX
CHECK(sizeof(patchbay_str) == 16);
CHECK(sizeof(patchbay_buf) == 40);
CHECK(sizeof(patchbay_kv) == 40);
#endif
CHECK(sizeof(patchbay_error) == 512);
CHECK(PATCHBAY_ABI_MAJOR == 0);

/* A plugin's view: the smallest thing that links as one. */
static const patchbay_plugin nothing = {sizeof(patchbay_plugin), PATCHBAY_ABI_MINOR, "test.nothing", "0",
                                        NULL, 0, NULL, 0, NULL, NULL};

patchbay_status patchbay_plugin_entry_0(const patchbay_host *host, const patchbay_plugin **out,
                                        patchbay_error *error) PATCHBAY_NX {
  (void)error;
  if (!PATCHBAY_HAS(patchbay_host, host, log)) return PATCHBAY_E_UNSUPPORTED;
  *out = &nothing;
  return PATCHBAY_OK;
}
