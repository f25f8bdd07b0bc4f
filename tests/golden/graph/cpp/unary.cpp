// Unary operators and conversions of the project's types; numbers and pointers have others.
#include <string>
#include <vector>

namespace coins {

class Coin {
 public:
  Coin operator-() const { return turned(); }
  Coin operator-(const Coin& other) const { return other; }
  bool operator!() const { return empty(); }
  Coin& operator++() { return *this; }
  Coin operator++(int) { return *this; }
  Coin operator*() const { return *this; }
  explicit operator bool() const { return !empty(); }
  operator const char *() const;
  operator std::string() const { return text(); }

 private:
  Coin turned() const { return *this; }
  bool empty() const { return true; }
  std::string text() const { return ""; }
};

Coin::operator const char*() const { return find(); }
Coin operator~(const Coin& one) { return one; }
Coin operator~(int one);

struct Ring {
  operator bool() const;
  Coin coin;
  Coin* held;
  bool filled() const { return coin && held; }
};

Ring::operator bool() const { return coin.empty(); }

const char* find() { return ""; }
void turn(Coin coin) { -coin; }
void take(Coin coin) { coin - coin; }
void next(Coin coin) { ++coin; }
void later(Coin& coin) { coin++; }
void read(const Coin& coin) { *coin; }
void flip(Coin coin) { ~coin; }
void lacks(Coin coin) { !coin; }
void lacks_ring(Ring ring) { !ring; }
void test(Coin coin) {
  if (coin) {
  }
}
void wait(Ring ring) {
  while (ring.coin) {
  }
}
int choose(Ring& ring) { return ring ? 1 : 2; }
bool either(Ring ring, bool other) { return other || ring; }

// traps
int numbers(int one, bool flag, double* other) {
  if (one && flag) {
  }
  return -one + ++one + *other + !flag + ~one + one--;
}
bool pointers(Coin* coin, Ring* ring) {
  ++coin;
  coin++;
  if (coin && ring) {
  }
  return !ring || !coin->next;
}
void others(std::vector<Coin> coins, std::string text) {
  auto at = coins.begin();
  ++at;
  *at;
  if (at) {
  }
  !text;
}
void minus(Ring ring) { -ring; }
}  // namespace coins
