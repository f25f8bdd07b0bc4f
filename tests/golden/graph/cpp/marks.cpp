#include "marks.h"

namespace marks {

SHOP_API Shelf find(int number) { return Shelf::open(); }

bool use(void* any) {
    Shelf one = find(1);
    one.full();
    pick()->down();
    one.next()->next();
    dynamic_cast<Deep*>(&one)->down();
    auto held = std::make_unique<Deep>();
    held->down();
    auto raw = static_cast<Shelf*>(any);
    return raw->full();
}

}  // namespace marks
