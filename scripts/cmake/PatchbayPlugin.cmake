# patchbay_add_plugin(): a shared library with one exported symbol, its manifest and checksum.
