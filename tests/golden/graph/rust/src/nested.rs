use std::sync::Arc;

pub struct Gear;
pub struct Lid(Gear);

pub trait Turn {
    fn turn(&self);
    fn spin(&self) {
        self.turn()
    }
}

impl Gear {
    pub fn mesh(&self) {}
    pub fn capacity(&self) -> usize {
        1
    }
}

macro_rules! wind {
    ($x:expr) => {
        $x
    };
}

pub struct Case<T> {
    held: T,
}

impl<T: Turn> Case<T> {
    fn open(&self) {
        self.held.turn();
        wind!(1);
    }
}

impl Turn for [u8] {
    fn turn(&self) {
        self.spin()
    }
}

impl Lid {
    fn lift(&self) {
        self.0.mesh();
    }
}

fn oil() {}

fn wind() {}

fn outside(gear: Gear, held: Vec<u8>) {
    gear.mesh();
    held.iter().rev().capacity();
    oil();
    wind();
    let (oil, rest) = oil();
}

mod tests {
    use super::Gear;
    use super::Lid;

    fn oil() {}

    fn run() {
        oil();
        let lid = Arc::new(Lid(Gear));
        lid.lift();
        Gear.mesh();
        super::oil();
    }
}
