package overloads;

class Literal {
    void take(String text) {}
    void take(byte[] bytes) {}

    void run() {
        take("x".getBytes());
    }
}
