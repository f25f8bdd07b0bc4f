package store

type Log struct{}

func (l *Log) Line(text string) { helper(text) }

// Wrong has Save with another signature.
type Wrong struct{}

func (w Wrong) Save(item Item) error { return nil }
func (w Wrong) Flush()               {}

func helper(text string) {}

func check(n int) error {
	if n > 0 {
		return check(n - 1)
	}
	return nil
}
