//! A ledger of payments.
use std::collections::HashMap;
use std::fmt;

/// The most entries.
pub const ENTRIES_MAX: usize = 10;
static NAME: &str = "ledger";

/// How a payment went.
#[derive(Debug, Clone)]
pub enum Outcome {
    Paid(u64),
    Refused { reason: String },
}

pub struct Ledger<T> {
    entries: HashMap<u64, T>,
}

/// Writes somewhere.
pub trait Sink {
    fn write(&mut self, text: &str) -> fmt::Result;
    fn flush(&mut self) {
        // nothing to do
    }
}

impl<T> Ledger<T> {
    /// An empty ledger.
    pub fn new() -> Self {
        Ledger { entries: HashMap::new() }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Paid(amount) => write!(f, "paid {}", amount),
            Outcome::Refused { reason } => write!(f, "refused: {}", reason),
        }
    }
}

macro_rules! entry {
    ($a:expr) => {
        Some($a)
    };
}

mod tests {
    #[test]
    fn it_counts() {
        assert_eq!(super::ENTRIES_MAX, 10);
    }
}
