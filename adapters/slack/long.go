package slack

import (
	"sync"

	"gatehouse/core"
)

// maxLong is how many long posts are kept drawn: as many as are sent at a time.
const maxLong = 16

// long keeps long posts drawn while their parts go out one after the other.
type long struct {
	mu   sync.Mutex
	kept []longPost
}

type longPost struct {
	key, text string
	late      bool
	parts     []drawn
}

// parts gives a post as it was drawn for an earlier part, or draws it.
func (l *long) parts(d core.Delivery, draw func() ([]drawn, error)) ([]drawn, error) {
	l.mu.Lock()
	for i, p := range l.kept {
		if p.key != d.Key || p.text != d.Text || p.late != d.Late {
			continue
		}
		if d.Part+1 >= len(p.parts) { // the last one
			l.kept = append(l.kept[:i:i], l.kept[i+1:]...)
		}
		l.mu.Unlock()
		return p.parts, nil
	}
	l.mu.Unlock()
	parts, err := draw()
	if err != nil || d.Part+1 >= len(parts) {
		return parts, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) == maxLong {
		l.kept = l.kept[1:]
	}
	l.kept = append(l.kept, longPost{d.Key, d.Text, d.Late, parts})
	return parts, nil
}
