#include <stdio.h>
#include "stock.h"

#define SLOTS_MAX 16
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* One shelf. */
struct shelf {
    int id;
    char name[32];
};

typedef struct {
    int x;
} point_t;

enum state { OPEN, CLOSED };

typedef int (*visit_fn)(struct shelf *shelf);

static const char *names[] = {"a", "b"};

int stock_count(const struct shelf *shelf);

/* Finds a shelf by its number. */
struct shelf *stock_find(struct shelf *shelves, int count, int id)
{
    for (int i = 0; i < count; i++) {
        if (shelves[i].id == id)
            return &shelves[i];
    }
    return NULL;
}
