use crate::store::Flush;

pub struct Log;

impl Log {
    pub fn line(&self) {}
}

impl Flush for Log {
    fn flush(&self) {
        self.line();
    }
}
