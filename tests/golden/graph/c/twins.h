#ifndef TWINS_H
#define TWINS_H

#define LOG(level, ...) do { \
        if (level) log_line("log_text(1)", __VA_ARGS__); \
    } while (0)
#define io_shut io_close
#define LIMIT 3

struct settle { int by; };
void log_line(const char *text, ...);

#endif
