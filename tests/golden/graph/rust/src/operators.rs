// Operators of a known type; numbers and vectors have their own.
use std::ops::{Add, AddAssign, Index};

pub struct Meter {
    size: i32,
}

pub struct Gram;

impl Add for Meter {
    type Output = Meter;
    fn add(self, other: Meter) -> Meter {
        other
    }
}

impl AddAssign for Meter {
    fn add_assign(&mut self, _other: Meter) {}
}

impl Index<usize> for Meter {
    type Output = i32;
    fn index(&self, _at: usize) -> &i32 {
        &self.size
    }
}

impl PartialEq for Gram {
    fn eq(&self, _other: &Gram) -> bool {
        true
    }
}

fn measure(mut meter: Meter, other: Meter, number: usize, meters: Vec<Meter>) {
    let _ = meter[number] + number as i32;
    let _ = meters[number];
    meter += other;
    let _ = number == number;
}

fn weigh(meter: Meter, other: Meter, gram: &Gram) {
    let _ = meter + other;
    let _ = gram == gram;
}
