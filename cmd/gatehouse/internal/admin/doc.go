// Package admin is the commands that show and change what gatehouse keeps in its database (sessions, turns, approvals, dead letters,
// the queue), and those that need no database: config, manifest, join-check and mutation-check. Commands that read fail with
// not_found where there is no database, and create none.
//
// Everything printed is cleaned of characters that a terminal might obey. Secrets are masked everywhere but in sessions export.
package admin
