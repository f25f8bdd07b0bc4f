#include <functional>
#include <memory>
#include <string>

namespace picks {

class Source {
 public:
  virtual void Read(int count) = 0;
};

class Sink {};

typedef std::shared_ptr<Source> SharedSource;

void Copy(Source* from, Sink* to) {}
void Copy(const char* from, size_t count, std::string* to) {}
void Copy(Source* from, Sink* to, int level) {}
void Show(const std::string& text) {}
void Show(double number) {}
void Show(bool is, int) {}
void Each(std::function<void(int)> what) {}
void Each(int (*what)(int), int count) {}
void Fill(int* to) {}
void Fill(std::string* to) {}

class Holder {
 public:
  void Run() { source_->Read(1); }
  SharedSource source_;
};

class MockSource : public Source {
 public:
  MOCK_METHOD(void, Read, (int), (override));
};

class SourceTest : public Test {
 protected:
  StrictMock<MockSource> source;
};

typedef SourceTest OtherTest;

TEST_F(OtherTest, Reads) {
  EXPECT_CALL(source, Read(1));
}

void Run(Source* source, Sink* sink, const std::string& text, const char* letters) {
  std::string made;
  int number = 1;
  Copy(source, sink);
  Copy(source, sink, 1);
  Copy(letters, 3, &made);
  Show("a");
  Show(text);
  Show(1.5);
  Show(true, 1);
  Each([](int one) {});
  Fill(&number);
  Fill(&made);
}

}  // namespace picks
