/* A peer for transports: knows lines, not MCP.  line_peer [--tcp PORT] MODE [ARGUMENT]
 *
 *   echo            every line back
 *   silent          reads, never answers, leaves at the end of its input
 *   deaf            never reads; leaves only when it is made to
 *   late FIFO       reads nothing before somebody opens the FIFO for writing, then echo
 *   count N         N messages {"n":0}.., then echo
 *   odd             lines that are no messages among some that are, then echo
 *   cut             half a message, then it leaves
 *   flood BYTES     so many bytes without a newline, then echo
 *   exit CODE       a line on stderr, then it leaves
 *   signal NUMBER   kills itself
 *   stdout          closes its output, and stays
 *   stdin           closes its input, says so, and stays
 *   noise           a line of 20000 bytes and a short one on stderr, then echo
 *   self            environment, open descriptors, session, parent and working directory as JSON */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void put(const char *data, size_t size) {
    while (size > 0) {
        const ssize_t put_now = write(1, data, size);
        if (put_now < 0 && errno == EINTR) continue;
        if (put_now < 0) exit(0); /* nobody listens any more */
        data += put_now;
        size -= (size_t)put_now;
    }
}

static void say(const char *text) { put(text, strlen(text)); }

static void read_all(int echo) {
    static char data[1 << 20];
    ssize_t got;
    while ((got = read(0, data, sizeof data)) > 0 || (got < 0 && errno == EINTR)) {
        if (echo && got > 0) put(data, (size_t)got);
    }
}

static void count(long most) {
    char line[64];
    for (long i = 0; i < most; ++i) put(line, (size_t)snprintf(line, sizeof line, "{\"n\":%ld}\n", i));
}

static void flood(long bytes) {
    static char data[1 << 16];
    memset(data, 'a', sizeof data);
    data[0] = '{';
    for (; bytes > 0; bytes -= (long)sizeof data) put(data, sizeof data);
}

static void say_odd_lines(void) {
    say("Server starting...\n\n   \r\n{\"n\":0}\r\n  {\"n\":1}  \n[{\"n\":2}]\n\"text\"\n\xff\xfe binary \x01\n{\"n\":3}\n");
}

static void say_self(void) {
    printf("{\"env\":[");
    for (char **entry = environ; *entry; ++entry) printf("%s\"%s\"", entry == environ ? "" : ",", *entry);
    printf("],\"fds\":[");
    DIR *fds = opendir("/proc/self/fd");
    int first = 1;
    for (struct dirent *entry; fds && (entry = readdir(fds));) {
        const int fd = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || fd == dirfd(fds)) continue;
        printf("%s%d", first ? "" : ",", fd);
        first = 0;
    }
    if (fds) closedir(fds);
    char cwd[4096], exe[4096];
    const ssize_t size = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[size > 0 ? size : 0] = 0;
    printf("],\"session\":%s,\"parent\":%d,\"cwd\":\"%s\",\"exe\":\"%s\"}\n",
           getsid(0) == getpid() ? "true" : "false", (int)getppid(), getcwd(cwd, sizeof cwd) ? cwd : "", exe);
    fflush(stdout);
}

static void stay(void) {
    for (;;) pause();
}

static void serve_on(int port) {
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons((unsigned short)port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 1) != 0) {
        perror("line_peer: listen");
        exit(9);
    }
    puts("listening");
    fflush(stdout);
    const int peer = accept(listener, NULL, NULL);
    if (peer < 0) exit(9);
    close(listener);
    dup2(peer, 0);
    dup2(peer, 1);
    close(peer);
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    if (argc > 2 && strcmp(argv[1], "--tcp") == 0) {
        serve_on(atoi(argv[2]));
        argv += 2;
        argc -= 2;
    }
    const char *const mode = argc > 1 ? argv[1] : "echo";
    const long number = argc > 2 ? atol(argv[2]) : 0;
    if (strcmp(mode, "deaf") == 0) stay();
    if (strcmp(mode, "late") == 0 && open(argv[2], O_RDONLY | O_CLOEXEC) < 0) return 9;
    if (strcmp(mode, "silent") == 0) return read_all(0), 0;
    if (strcmp(mode, "cut") == 0) return say("{\"n\":0}\n{\"n\":"), 0;
    if (strcmp(mode, "exit") == 0) return fputs("out of cheese\n", stderr), (int)number;
    if (strcmp(mode, "signal") == 0) raise((int)number);
    if (strcmp(mode, "stdout") == 0) {
        shutdown(1, SHUT_WR);
        close(1);
        stay();
    }
    if (strcmp(mode, "stdin") == 0) {
        shutdown(0, SHUT_RD);
        close(0);
        say("{\"closed\":true}\n");
        stay();
    }
    if (strcmp(mode, "count") == 0) count(number);
    if (strcmp(mode, "odd") == 0) say_odd_lines();
    if (strcmp(mode, "flood") == 0) flood(number);
    if (strcmp(mode, "self") == 0) say_self();
    if (strcmp(mode, "noise") == 0) fprintf(stderr, "%020000d\nshort\r\n", 0);
    read_all(1);
    return 0;
}
