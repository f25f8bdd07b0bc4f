// Package store keeps carts.
package store

import (
	"context"
	"sync"
)

// MaxCarts is how many carts one store holds.
const MaxCarts = 1000

const (
	stateOpen = iota
	statePaid
)

var defaultStore = New()

// Cart is one customer's cart.
type Cart struct {
	ID    string
	Lines []Line
}

// Line is one article.
type Line struct{ Article string }

// Store finds carts.
type Store interface {
	// Find returns the cart or nil.
	Find(ctx context.Context, id string) (*Cart, error)
}

type ID = string

type memory[T any] struct {
	mu    sync.RWMutex
	carts map[string]*Cart
}

// New makes an empty store.
func New() *memory[int] {
	return &memory[int]{carts: map[string]*Cart{}}
}

// Find returns the cart or nil.
func (m *memory[T]) Find(ctx context.Context, id string) (*Cart, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	if cart, ok := m.carts[id]; ok {
		return cart, nil
	}
	return nil, nil
}
