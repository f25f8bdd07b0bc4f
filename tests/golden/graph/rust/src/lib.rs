pub mod store;
pub mod bounds;
mod log;
mod gated;
mod operators;

pub use crate::store::Disk as Shop;
use store::{open, Saver, inner};

pub fn main(flag: bool) -> Option<Shop> {
    let mut disk = open("x")?;
    disk.save(1);
    let other: Shop = Shop::new();
    other.flush();
    inner::deep();
    inner::Deep { n: 1 }.go();
    let saver: &dyn Saver = &disk;
    saver.save(2);
    for item in &disk.items {
        item.touch();
    }
    disk.items[0].touch();
    let open = |n: i32| n;
    open(3);
    disk.log.line();
    Some(other)
}
