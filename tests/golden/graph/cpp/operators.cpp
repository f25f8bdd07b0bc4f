// Operators of the project's types; numbers, pointers, texts and containers have others.
#include <memory>
#include <ostream>
#include <string>
#include <vector>

struct Meter {
  int size;
  Meter operator+(const Meter& other) const;
  Meter operator-() const { return *this; }
  bool operator==(const Meter& other) const { return true; }
  bool operator!=(const Meter& other) const { return !(*this == other); }
  Meter& operator+=(const Meter& other) { return *this; }
  Meter& operator[](int at) { return *this; }
  int operator()(int times) const { return times; }
  void ends();
};

Meter Meter::operator+(const Meter& other) const { return other; }
Meter operator*(const Meter& one, int times) { return one; }
Meter operator*(int times, const Meter& one) { return one; }
std::ostream& operator<<(std::ostream& out, const Meter& one) { return out; }

namespace weights {
struct Gram {};
bool operator<(const Gram& one, const Gram& other) { return true; }
std::ostream& operator<<(std::ostream& out, const Gram& one) { return out; }
}  // namespace weights

struct Held {
  Meter plain;
  Meter* pointed;
  Meter many[3];
  std::unique_ptr<Meter> owned;
  std::vector<Meter> all;
  bool same(const Meter& other) const { return plain == other; }
  bool point(Meter* other) const { return pointed == other || pointed != nullptr; }
  bool own(const Held& other) const { return owned == other.owned || all == other.all; }
  Meter at(int i) { return many[i]; }
};

void add(Meter one, const Meter& other) { Meter sum = one + other; }
void add_to(Meter& one, const Meter& other) { one += other; }
void scale(Meter one, int times) { Meter more = one * times; }
void scale_left(Meter one, int times) { Meter more = times * one; }
void read(Meter one) { one[1]; }
void call(Meter one) { one(2); }
bool less(weights::Gram one, weights::Gram other) { return one < other; }
void print(std::ostream& out, Meter one, weights::Gram gram) { out << "meter " << one << gram; }
bool held(Held& held, Held* other) { return held.plain != other->plain; }

// traps
int numbers(int one, int other) { return one + other * one == other; }
bool pointers(Meter* one, Meter* other) { return one == other || one[0].size == other->size; }
bool local(Meter one) {
  Meter* pointer = &one;
  auto deduced = &one;
  Meter array[2];
  return pointer != deduced && array[1].size == pointer[0].size;
}
void texts(std::string text, Meter one) { text + "x"; text += "y"; text == "z"; }
void elements(std::vector<Meter>& meters, std::vector<Meter*> others) { meters[0]; meters == meters; meters += others; }
void field(Held held, const Held& other) { held.pointed == other.pointed; held.many[1]; held.owned != other.owned; }
void shift(int one, int by) { one << by; }
