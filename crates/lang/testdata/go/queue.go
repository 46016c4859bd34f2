// Package queue keeps items in order.
package queue

import (
	"errors"
	"sync"
)

// ErrFull says that there is no room.
var ErrFull = errors.New("full")

const Limit = 64

const (
	// Low goes last.
	Low = iota
	High
)

// Queue holds items.
type Queue[T any] struct {
	mu    sync.Mutex
	items []T
}

type (
	// Store keeps what it is given.
	Store interface {
		// Put keeps one item.
		Put(item int) error
		Close()
	}
	Name string
)

type Alias = Name

// New makes a queue.
func New[T any]() *Queue[T] {
	return &Queue[T]{}
}

// Push adds an item.
//
// It may be called from several goroutines.
func (q *Queue[T]) Push(item T) error {
	var local = 1
	run := func() int { return local }
	run()
	return nil
}

func (n Name) String() string { return string(n) }
