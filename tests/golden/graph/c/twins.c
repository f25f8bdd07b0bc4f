#include "twins.h"

#ifdef FAST
static int spin(int n) { return n; }
#else
static int spin(int n) { return n + 1; }
#endif

#define AGAIN(x) spin(x)

void log_line(const char *text, ...) {}
void io_close(int handle) {}

int settle(int by) {
    return spin(by);
}

int start(void) {
    LOG(1, "begin");
    io_shut(io_open("x"));
    return AGAIN(2);
}
