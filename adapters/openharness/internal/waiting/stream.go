package waiting

// Stream is one stream of a reader. One goroutine may use it.
type Stream struct {
	desk   *Desk
	reader *reader
	wake   chan struct{}
	news   News // that it was not told yet; guarded by the desk
	told   int  // how many it was told, plus one
}

// Wake gets a value when there may be news; it is never closed. Of no stream it is never ready.
func (s *Stream) Wake() <-chan struct{} {
	if s == nil {
		return nil
	}
	return s.wake
}

// Take returns the news since it was called last; ok is false if there are none, or no stream. The first ones are how
// many wait now.
func (s *Stream) Take() (news News, ok bool) {
	if s == nil {
		return News{}, false
	}
	s.desk.mu.Lock()
	defer s.desk.mu.Unlock()
	if s.reader.stale && s.told > 0 { // it is being counted
		return News{}, false
	}
	news, s.news = s.news, News{}
	news.Waiting = s.reader.waiting
	ok = s.told != news.Waiting+1 || news.Many || len(news.Changed) > 0
	s.told = news.Waiting + 1
	return news, ok
}

// Leave ends the stream. It may be called of no stream.
func (s *Stream) Leave() {
	if s == nil {
		return
	}
	s.desk.mu.Lock()
	defer s.desk.mu.Unlock()
	delete(s.reader.streams, s)
	if len(s.reader.streams) == 0 {
		delete(s.desk.readers, s.reader.who.ID)
	}
	if len(s.desk.readers) == 0 {
		s.desk.place = -1
	}
}

// note adds what has changed to what is to be told.
func (s *Stream) note(n News) {
	s.news.Changed = append(s.news.Changed, n.Changed...)
	s.news.Many = s.news.Many || n.Many
	if len(s.news.Changed) > maxChanged {
		s.news = News{Many: true}
	}
}

func (s *Stream) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default: // the last one was not noticed yet
	}
}
