// conditions in the middle of something, what analysis is told behind a name, tests by macros, a class with its
// outer one's name, other names of types, name spaces from inside out
#include "store.h"

namespace deep {
namespace low {
int count(int n) { return n; }
class Lock {
 public:
  void hold() {}
};
}  // namespace low

class Case {
 public:
  explicit Case(int most)
      :
#if defined(DEBUG)
        most_(most),
#endif
        left_(most) {
  }

  Case(int most, int more)
#if defined(DEBUG)
      : most_(more), left_(most)
#else
      : left_(most)
#endif
  {
    shut();
  }

  void shut() { lock_.hold(); }

 private:
  low::Lock lock_ DEEP_GUARDED_BY(this);
  int left_;
  class Part;
};

class Case::Part {
 public:
  void spin() LOCKS_EXCLUDED(lock) { part(); }
  void part() {}
};

static void handle(int number
#if !defined(DEEP_WINDOWS)
                   ,
                   Case* held
#endif
) {
  Case::Part part;
  part.spin();
}

void handle_all() { handle(1, nullptr); }

using Box = Case;
typedef Case Chest;

class CaseTest {
 public:
  void fill() {}
  Box box_;
};

TEST_F(CaseTest, Shuts) {
  fill();
  box_.shut();
  low::count(1);
}

void run(Chest* chest) {
  chest->shut();
  std::move(*chest).shut();
  Case::Part part;
  part.spin();
}
}  // namespace deep

namespace rows {
deep::Case make();

template <typename T>
class Shelf {
 public:
  class Iterator {
   public:
    explicit Iterator(Shelf* list) {}
    void next() {}
  };
  void push() {}
};

class Table {
 public:
  explicit Table(deep::Case first) {}
  void fold() { lists_[1].push(); }

 private:
  Shelf<int> lists_[4];
};

void read(Shelf<int>* list) {
  Table table(make());
  table.fold();
  Shelf<int>::Iterator at(list);
  at.next();
}
}  // namespace rows

namespace inside {
inline namespace v1 {
struct Grain {
  void mill() {}
};
int grind(Grain grain) { return 1; }
#ifdef __GNUC__
__attribute__((noreturn))
#endif
static void
stop_all() {
  Grain grain;
  grain.mill();
}
}  // namespace v1
void work(Grain grain) {
  grind(grain);
  stop_all();
}
}  // namespace inside
void work_outside(inside::Grain grain) { inside::grind(grain); }
