use super::log::Log;
use std::collections::HashMap;

pub trait Saver: Flush {
    fn save(&self, item: i32);
    fn twice(&self) {
        self.save(1);
        self.flush();
    }
}

pub trait Flush {
    fn flush(&self);
}

pub struct Item;

impl Item {
    pub fn touch(&self) -> Self {
        check(1);
        Self::make()
    }
    fn make() -> Item {
        Item
    }
}

pub struct Disk {
    pub items: Vec<Item>,
    pub log: Log,
    map: HashMap<String, Box<Item>>,
}

impl Disk {
    pub fn new() -> Self {
        Disk { items: vec![], log: Log, map: HashMap::new() }
    }
}

impl Flush for Disk {
    fn flush(&self) {
        self.log.line();
        self.map.get("x").unwrap().touch();
    }
}

impl Saver for Disk {
    fn save(&self, item: i32) {
        self.flush();
        self.twice();
        Disk::new().flush();
    }
}

pub fn open(name: &str) -> Option<Disk> {
    Some(Disk::new())
}

fn check(n: i32) -> i32 {
    if n > 0 { check(n - 1) } else { 0 }
}

pub mod inner {
    pub fn deep() {
        super::check(2);
    }
    pub struct Deep { pub n: i32 }
    impl Deep {
        pub fn go(&self) {
            deep();
        }
    }
}
