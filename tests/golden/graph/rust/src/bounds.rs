pub trait Gate {
    fn pass(&self) -> bool;
    fn born() -> Self;
}

pub trait Lamp {
    fn pass(&self);
    fn glow(&self) -> bool;
}

pub struct Wrap<Inner: Gate> {
    inner: Inner,
    many: Vec<Inner>,
}

impl<Inner: Gate> Wrap<Inner> {
    pub fn through(&self, other: &Inner) -> bool {
        self.inner.pass() && other.pass() && self.many[0].pass()
    }
}

pub fn short<T: Gate>(one: &T) -> T {
    one.pass();
    T::born()
}

pub fn long<Light>(one: Light)
where
    Light: Send + Lamp,
{
    one.glow();
}

pub fn unnamed(one: impl Lamp, two: &dyn Gate, three: Box<dyn Lamp + Send>) {
    one.pass();
    two.pass();
    three.pass();
}

pub fn pass(n: i32) -> i32 {
    n
}

macro_rules! own {
    ($($one:tt)*) => { $($one)* };
}

#[cfg(all(unix, any(pass(1))))]
pub fn inside(one: &Wrap<Door>, n: i32) {
    println!("{} pass(9)", pass(n));
    assert_eq!(crate::bounds::pass(1), n, "{:?}", one.through(&n));
    let held = vec![Door::made(), own!(pass(2))];
    own! { short(n); one.inner.glow() }
}

#[cfg(unix)]
fn system() {}
#[cfg(windows)]
fn system() {}

pub fn start() {
    system();
}

pub struct Door;

impl Door {
    fn made() -> Door {
        Door
    }
}
