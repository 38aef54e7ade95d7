// Owns a precompiled header (PatchbayBuild.cmake, PatchbayTest.cmake); the program is never run.
int main() {
    return 0;
}
