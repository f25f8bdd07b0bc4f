use std::process;

macro_rules! cfg_disk {
    ($($item:item)*) => { $($item)* };
}

cfg_disk! {
    use crate::store::Disk;

    /// Only there with the feature.
    pub struct Gate { disk: Disk }

    impl Gate {
        pub fn shut(&self) {
            self.disk.flush();
            process::abort();
            std::process::abort();
            pick! {
                this.is => not_code,
            }
        }
    }
}

pub struct Job;

impl Job {
    pub fn abort(&self) {}

    pub fn pass(&self, gate: Gate) {
        gate.shut();
        self.abort();
    }
}

// The same method's name on a generic type, whose parameter says nothing.
pub struct Holder<T> { inner: T }

impl<T> Holder<T> {
    pub fn shut(&self) {
        self.inner.vanish();
        Self::shut(self);
    }
}
