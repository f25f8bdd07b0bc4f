#define ITEMS_MAX 3
typedef struct node { struct node *next; int value; } node_t;
struct ops { int (*go)(int); };
node_t *make(int value);
int total(node_t *n);
