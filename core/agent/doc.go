// Package agent holds the graphs that gatehouse ships. All keep nothing in their session but messages (a test says so); what a
// paused turn holds lives in its paused record alone.
//
// The loop: a Model answers, its tool calls run one at a time, and the model is asked again, until it answers without a call.
//
//	model ──(no calls)──▶ END
//	  │ calls             ▲
//	  ▼                   │ none left: back to model
//	tools ─(read-only, refused by policy, unknown)─▶ a result row, next call
//	  │ mutating
//	  ├─ ask ──▶ ask (says what waits) ──▶ gate (suspends) ──▶ act
//	  └─ allow ──────────────────────────▶ gate (suspends) ──▶ act ──▶ a result row, next call
//
// The pending message and the pause are two nodes, as harness-chat §8.1 has it. act is the first node after a resume: it hands
// the call to the one executor, and saves the session explicitly with its row, so that no later failure can unsay what was done.
// A crash before that save runs act again, and the executor gives the stored result.
//
// The demo is a Model that needs no vendor: it reads commands such as "calc 2+3*4" and calls tools for them, as a model would.
package agent
