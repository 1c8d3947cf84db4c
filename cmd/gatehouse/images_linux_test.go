package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// images returns files that are images of a size; no two have the same bytes.
func images(n, size int) []slacktest.File {
	files := make([]slacktest.File, n)
	for i := range files {
		content := append([]byte("\x89PNG\x0d\x0a\x1a\x0a"), make([]byte, size-8)...)
		for at := 8; at+8 <= len(content); at += 4096 {
			copy(content[at:], fmt.Sprintf("%016x", rand.Uint64()))
		}
		files[i] = slacktest.File{Name: fmt.Sprintf("%d.png", i), Content: content}
	}
	return files
}

// TestManyImagesAtOnceFitIntoTheMemoryOfAContainer has eight people send eight images of 5 MB each, and eight of 1 MB
// each. All are answered, the process needs less than 512 MiB, and afterwards their conversations are as fast as
// before.
func TestManyImagesAtOnceFitIntoTheMemoryOfAContainer(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		p := newSlackProcessOn(t, e, "GATEHOUSE_AGENT=echo", "GATEHOUSE_RATE=0")
		p.released()
		var senders []*slacktest.Person
		for i := range 8 {
			senders = append(senders,
				p.slack.AddUser(slacktest.User{ID: fmt.Sprintf("U9SEND%d", i), Name: fmt.Sprintf("sender-%d", i)}))
		}
		p.open()
		say := func(text string) {
			for _, s := range senders {
				s.Says(text)
			}
		}
		answered := func(text string) (took time.Duration) {
			began := time.Now()
			for i := range senders {
				p.reads(p.slack.DMWith(fmt.Sprintf("U9SEND%d", i)), "", "echo: "+text)
			}
			return time.Since(began)
		}
		say("hello")
		before := answered("hello")
		for _, s := range senders {
			s.Says("large ones", slacktest.WithFiles(images(8, 5*mebibyte)...))
			s.Says("small ones", slacktest.WithFiles(images(8, mebibyte)...))
		}
		answered("large ones")
		answered("small ones")
		say("hello again")
		after := answered("hello again")
		if after > before+time.Second {
			t.Errorf("eight answers to hello took %s before the images, and %s afterwards", before, after)
		}
		_, highest := p.app.memory(t)
		t.Logf("the memory rose to %d MiB; eight answers to hello took %s before, %s afterwards", highest/mebibyte,
			before, after)
		if highest >= 512*mebibyte {
			t.Errorf("the memory rose to %d MiB", highest/mebibyte)
		}
		p.checkImages()
	})
}

// checkImages checks that each sender's history refers to one image of 5 MB and eight of 1 MB, which can be loaded, and
// names the others.
func (p *slackProcess) checkImages() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	sessions, err := p.store.ListSessions(ctx, core.SessionFilter{})
	noErr(p.t, err)
	if len(sessions) != 8 {
		p.t.Errorf("there are %d sessions", len(sessions))
	}
	for _, s := range sessions {
		rec, err := p.store.LoadSession(ctx, s.ID, core.Writer{})
		noErr(p.t, err)
		msgs, err := rec.Messages.From(ctx, 0)
		noErr(p.t, err)
		for _, m := range msgs {
			want := map[bool]int{
				strings.HasPrefix(m.Content.Own(), "large ones"): 1,
				strings.HasPrefix(m.Content.Own(), "small ones"): 8,
			}[true]
			if m.Role != core.User || want == 0 {
				continue
			}
			digests := m.StoredImages()
			if len(digests) != want {
				p.t.Errorf("%s: the message %q has %d images, want %d", s.ID, m.Content.Own(), len(digests), want)
			}
			if n := strings.Count(m.Content.Own(), "over the limit of 8 MB for the images of one message"); want == 1 &&
				n != 7 {
				p.t.Errorf("%s: %d images are named as left out: %q", s.ID, n, m.Content.Own())
			}
			for _, digest := range digests {
				if data, err := p.store.LoadBlob(ctx, digest); err != nil || core.Digest(data) != digest {
					p.t.Errorf("%s: the image %s: %d bytes (%v)", s.ID, digest, len(data), err)
				}
			}
		}
	}
}
