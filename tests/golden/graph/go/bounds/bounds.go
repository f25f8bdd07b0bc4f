package bounds

type Gate interface{ Pass(n int) }
type Lamp interface{ Pass(s string) }

type Holder[Inner Gate] struct{ inner Inner }

func (h *Holder[Inner]) Through() { h.inner.Pass(1) }

func Light[T Lamp](one T) { one.Pass("x") }
