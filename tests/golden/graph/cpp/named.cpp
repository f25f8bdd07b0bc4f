namespace named {

struct Ink { void say(); };
struct Hue { void say(); };

struct Box {
    struct Ink *Ink;
    struct Ink *spare;
    struct Hue *tone;
    named::Hue Hue;

    void own() { this->Ink->say(); }
    void sibling() { spare->say(); }
    void right() { tone->say(); this->Hue.say(); }
};

}
