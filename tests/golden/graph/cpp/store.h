#pragma once
#include <vector>
#include <memory>

namespace shop {

class Base {
public:
    virtual void save(int item) = 0;
    void flush() { save(0); }
};

struct Item {
    void touch() const;
    Item* next;
};

class Disk : public Base {
public:
    Disk(Item* first) : first_(first) {}
    void save(int item) override;
    static Disk make();
    Item& first() { return *first_; }

private:
    Item* first_;
    std::vector<Item> items_;
    std::unique_ptr<Item> owned_;
};

template <typename T> T twice(T value) { return value; }

}  // namespace shop
