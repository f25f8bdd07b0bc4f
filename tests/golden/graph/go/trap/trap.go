package trap

import (
	"example.com/shop/store"
	log "example.com/shop/trap/quiet"
)

type Left struct{ log store.Log }
type Right struct{ next *Left }

func (l Left) Turn() bool   { return even(1) }
func (r *Right) Turn() bool { r.next.Turn(); r.next.log.Line("x"); return true }

type Turner interface{ Turn() bool }

type Pair[A Turner, B any] struct {
	first A
	rest  []Right
}

func (p *Pair[A, B]) Turn() bool {
	for i := range p.rest {
		p.rest[i].Turn()
	}
	return p.first.Turn()
}

func even(n int) bool { return n == 0 || odd(n-1) }
func odd(n int) bool  { return n != 0 && even(n-1) }

func Run(store *Right) {
	store.Turn()
	log.Line("y")
	log := Left{}
	log.Turn()
	var t Turner = Map[Left](nil)
	t.Turn()
	switch v := t.(type) {
	case *Right:
		v.Turn()
	}
	f := even
	f(2)
}

func Map[T any](in []T) Left { return Left{} }
