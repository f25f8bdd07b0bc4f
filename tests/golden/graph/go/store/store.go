package store

import "fmt"

// Saver is implemented without saying so.
type Saver interface {
	Save(item Item, count int) error
	Flusher
}

type Flusher interface{ Flush() }

type Item struct{ Name string }

func (i *Item) Touch() {}

type base struct{ log *Log }

func (b *base) Flush() { b.log.Line("x") }

// Disk has Flush from base.
type Disk[T any] struct {
	base
	items []*Item
	byKey map[string]*Item
}

func New() *Disk[int] { return &Disk[int]{} }

func (d *Disk[T]) Save(item Item, count int) error {
	d.Flush()
	for _, one := range d.items {
		one.Touch()
	}
	d.byKey["a"].Touch()
	item.Touch()
	fmt.Println(item)
	return d.retry(func() error { return check(count) })
}

func (d *Disk[T]) retry(work func() error) error { return work() }
