#include "store.h"

static int helper(void) { return 1; }

int main(void) {
    struct ops ops = {0};
    node_t *n = make(1);
    helper();
    ops.go(1);
    int (*total2)(node_t *) = total;
    total2(n);
    return total(n);
}
