#include "trap.h"

typedef int (*turner)(int);

struct side { turner turn; struct side *next; };

static int turn(int n) { return n; }

#define TWICE(n) (odd(n) + odd(n))

int even(int n) { return n == 0 || odd(n - 1); }
int odd(int n) { return n != 0 && even(n - 1); }

int run(struct side *one, int (*odd_)(int)) {
    int even = 3;
    one->turn(even);
    one->next->turn(1);
    odd_(2);
    turn(TWICE(2));
    return odd(even);
}
