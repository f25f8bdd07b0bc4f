#include <vector>

namespace shop {

/// How many wait at most.
constexpr int kQueueMax = 8;

enum class Priority { Low, High };

// A queue of jobs.
template <typename T>
class Queue {
 public:
  explicit Queue(int size) : size_(size) {}
  void push(const T& value);
  bool empty() const { return items_.empty(); }

 private:
  int size_;
  std::vector<T> items_;
};

struct Job {
  int id = 0;
};

using Jobs = std::vector<Job>;

template <typename T>
void Queue<T>::push(const T& value) {
  items_.push_back(value);
}

int Scheduler::run(Jobs jobs) {
  return static_cast<int>(jobs.size());
}

}  // namespace shop
