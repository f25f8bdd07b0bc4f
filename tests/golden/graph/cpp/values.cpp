// A macro's value is that of the call which is its whole text, or which it assigns.
namespace bench {
class Bench {
 public:
  Bench* threads(int t) { return this; }
  Bench* ranges(int n) { return this; }
  void stop() {}
};
class Other {
 public:
  Bench* threads(int t) { return nullptr; }
  void stop() {}
};
Bench* enlist(int x) { return nullptr; }
int weigh(int x) { return x; }
}  // namespace bench
#define ENLIST(n) \
  static ::bench::Bench* name_##n = (::bench::enlist( \
      ::bench::weigh(n)))
#define ENLISTED(n) (bench::enlist(n))
#define SUMMED(n) bench::enlist(n) + bench::weigh(n)
#define EITHER(n) if (n) bench::enlist(n)

ENLIST(3)->threads(1)->ranges(2);
void enlisted() { ENLISTED(2)->threads(1); }

// traps
void unvalued() {
  SUMMED(1)->threads(2);
  EITHER(1)->stop();
  NOWHERE(1)->threads(3);
}
