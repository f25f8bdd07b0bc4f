package results

import "io"

type Store struct{}

func (s *Store) Keep() {}

type Row struct{}

func (r *Row) Keep() {}

type Saver interface {
	io.Closer
	Saved(name string) (n int, err error)
}

type Disk struct{}

func (d *Disk) Saved(label string) (int, error) { return 0, nil }

type Tape struct{}

func (t *Tape) Saved(label string) int { return 0 }

func open(name string) (store *Store, err error) { return nil, nil }

func both() (*Row, *Store, error) { return nil, nil, nil }

func one() (row *Row) { return nil }

func run(value any, table map[string]*Row) {
	store, err := open("x")
	store.Keep()
	err.Keep()
	row, second, _ := both()
	row.Keep()
	second.Keep()
	one().Keep()
	left, right := one(), &Store{}
	left.Keep()
	right.Keep()
	cast, ok := value.(*Store)
	cast.Keep()
	ok.Keep()
	var third, fourth = one(), ok
	third.Keep()
	fourth.Keep()
}

func held() {
	keep := one().Keep
	keep()
	(*Store).Keep(nil)
}

func wide(one Saver) {
	var other Saver
	other = &Disk{}
	other.Saved("x")
	one.Saved("y")
}
