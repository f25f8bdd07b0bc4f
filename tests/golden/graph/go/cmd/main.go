package main

import (
	"fmt"

	st "example.com/shop/store"
)

func main() {
	d := st.New()
	d.Save(st.Item{}, 1)
	var s st.Saver = d
	s.Save(st.Item{}, 2)
	s.Flush()
	check := func() {}
	check()
	item, err := find()
	item.Touch()
	fmt.Println(err)
	if d := other(); d != nil {
		d.Line("y")
	}
	d.Flush()
}

func find() (*st.Item, error) { return nil, nil }

func other() *st.Log { return &st.Log{} }
