package dispatch

import (
	"time"

	"gatehouse/core"
)

var _ core.Deltas = (*turn)(nil)

// Step tells of a tool that the turn begins to use.
func (t *turn) Step(tool string) {
	t.live.Step(tool, t.Now())
	t.steps.begin(tool)
	t.running.news.nudge()
}

// Waits tells that the turn waits for a model. A short wait is not worth a post.
func (t *turn) Waits(until time.Time) {
	t.live.Waits(until)
	if until.Sub(t.Now()) < shortWait {
		return
	}
	t.steps.wait(until)
	t.running.news.nudge()
}

// Writes shows that an answer begins.
func (t *turn) Writes() { t.live.Writes() }

// Piece shows a piece of an answer.
func (t *turn) Piece(text string) { t.live.Piece(text) }

// Said shows a whole answer.
func (t *turn) Said(text string) { t.live.Said(text) }

// Watched reports whether anybody looks.
func (t *turn) Watched() bool { return t.live.Watched() }
