#include "store.h"

namespace shop {

static int check(int n) { return n > 0 ? check(n - 1) : 0; }

void Item::touch() const {}

void Disk::save(int item) {
    first_->touch();
    first_->next->touch();
    this->flush();
    check(1);
    for (auto& one : items_) one.touch();
    owned_->touch();
    Base::flush();
    twice<int>(1);
}

Disk Disk::make() {
    Item item;
    return Disk(&item);
}

}  // namespace shop
