#pragma once
#include <memory>

#define SHOP_API __attribute__((visibility("default")))
#define SHOP_ALIGN(n) alignas(n)
#define SHOP_INLINE inline
#define SHOP_USED __attribute__((used))
#define SHOP_DEPRECATED(text) __attribute__((deprecated(text)))
#define SHOP_WARNINGS_OFF
#define SHOP_WARNINGS_ON

namespace marks {

SHOP_WARNINGS_OFF

class SHOP_API Shelf {
public:
    // the linker keeps it
    // in each build
    SHOP_USED
    Shelf(char* name, int room)
        : std::string(nullptr), room_(room), self_(this) {
        full();
    }
    Shelf() { room_ = 1; }
    bool full() const { return room_ == 0; }
    static Shelf open() { return Shelf(); }
    auto next() -> Shelf* { return this; }

private:
    int room_;
};

struct SHOP_API SHOP_ALIGN(8) Deep final : public Shelf {
    int down() { return full() ? 1 : 0; }
};

class SHOP_API SHOP_DEPRECATED(
    "use Deep (or Shelf)") Flat
    : public Shelf {
    int up() { return full() ? 1 : 0; }
};

SHOP_API Shelf find(int number);
SHOP_INLINE auto pick() -> Deep* { return nullptr; }

SHOP_WARNINGS_ON

}  // namespace marks
