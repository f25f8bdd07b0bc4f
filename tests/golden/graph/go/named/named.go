package named

import "example.com/shop/store"

type Ink struct{}
type Hue struct{}

func (i *Ink) Say() {}
func (h *Hue) Say() {}

type Pen interface{ Say() }

// Box has fields with the names of types, of a package and of another type.
type Box struct {
	Ink   *Ink
	spare *Ink
	Pen   Pen
	Hue   Ink
	tone  Hue
	store *store.Log
	other store.Log
}

func (b *Box) Own()     { b.Ink.Say() }
func (b *Box) Sibling() { b.spare.Say() }
func (b *Box) Through() { b.Pen.Say() }
func (b *Box) Wrong()   { b.Hue.Say() }
func (b *Box) Right()   { b.tone.Say() }
func (b *Box) Package() { b.store.Line("x"); b.other.Line("y") }

func Given(Ink Ink) { Ink.Say() }

func Bound[Hue Pen](one Hue) { one.Say() }
