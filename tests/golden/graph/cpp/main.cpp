#include "store.h"

using shop::Disk;

int check(int n) { return n; }

int main() {
    Disk disk(nullptr);
    disk.save(1);
    auto other = Disk::make();
    other.first().touch();
    auto* third = new shop::Disk(nullptr);
    third->flush();
    shop::twice(2);
    shop::Base* base = third;
    base->save(3);
    check(4);
    auto save = [](int n) { return n; };
    save(5);
}
