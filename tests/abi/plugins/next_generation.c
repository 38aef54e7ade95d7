/* A plugin of a generation that does not exist yet. */
__attribute__((visibility("default"))) int patchbay_plugin_entry_1(void);
int patchbay_plugin_entry_1(void) { return 0; }
