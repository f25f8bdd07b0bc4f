#include "store.h"
#include <map>
#include <string>

namespace trap {



struct Left { bool turn() const; };
struct Right {
    bool turn() { return next->turn(); }
    bool turn(int times) { return turn() && turn(times - 1); }
    Left* next;
};

bool odd(int n);
bool even(int n) { return n == 0 || odd(n - 1); }
bool odd(int n) { return n != 0 && even(n - 1); }

bool Left::turn() const { return even(1); }

template <typename A, typename B = Right>
class Pair {
public:
    bool turn() { return rest.turn() && named["x"].turn(); }
    A first;
    B other;
    Right rest;
    std::map<std::string, Left> named;
};

bool operator==(const Left& a, const Left& b) { return even(2); }

int run(shop::Disk& shelf, Left& Right) {
    shelf.save(1);
    Right.turn();
    trap::Right right;
    right.turn(2);
    Pair<Left> pair;
    pair.turn();
    auto even = [](int n) { return n; };
    even(3);
    static_cast<Left*>(nullptr)->turn();
    return odd(1);
}

}  // namespace trap
