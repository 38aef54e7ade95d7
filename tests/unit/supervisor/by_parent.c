/* The same on a kernel that does not tell the children of a process. */
#include <unistd.h>

static int refused(const char* path, int mode) {
    (void)path;
    (void)mode;
    return -1;
}

#define access refused
#define signal_descendants signal_descendants_by_parent
#define end_descendants end_descendants_by_parent
#define reaped_all reaped_all_by_parent
#define await_child await_child_by_parent
#define find_descendants find_descendants_by_parent
#define descendant descendant_by_parent
#define text_of_file text_of_file_by_parent
#define now_ms now_ms_by_parent
#include "supervisor/process_tree.c"
