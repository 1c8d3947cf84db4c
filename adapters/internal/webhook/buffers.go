package webhook

import "sync"

// buffers are the buffers of one size. Each holds one body at a time.
type buffers struct {
	slots chan struct{}
	idle  sync.Pool // of *[]byte
}

// newBuffers makes n buffers; a buffer gets its memory when it is first used.
func newBuffers(n, size int) *buffers {
	return &buffers{slots: make(chan struct{}, n), idle: sync.Pool{New: func() any {
		b := make([]byte, size)
		return &b
	}}}
}

// take returns a buffer; ok is false if all are in use.
func (b *buffers) take() (buffer *[]byte, ok bool) {
	select {
	case b.slots <- struct{}{}:
		return b.idle.Get().(*[]byte), true
	default:
		return nil, false
	}
}

// put takes a buffer back.
func (b *buffers) put(buffer *[]byte) {
	b.idle.Put(buffer)
	<-b.slots
}
