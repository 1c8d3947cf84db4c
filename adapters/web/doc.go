// Package web is gatehouse's pages: a chat, the approvals, and what admins may look at. They are drawn by the server;
// only the chat needs JavaScript.
//
// The chat (/) is an OpenHarness Shell. Its page has no data: the browser talks to the endpoint /v1/openharness and to
// its events, as any other Shell does. What was typed but not sent, and what was sent but not answered, is kept in the
// browser under the person's name and, of a message, its request_id, so that a reload or a lost answer neither loses a
// message nor sends it twice. The end of a login erases nothing of it; a log-out asks first. One tab at a time sends
// what was written in a session (assets/sender.js): each message once the one before is stored, which an answer says
// that waits for no turn. The events come over one connection for all tabs of a login (assets/hub.js), in a shared
// worker or in the tab that holds a lock.
//
// Decision, 2026-11: the events are read with fetch, not with an EventSource, which tells neither the status of a
// refusal nor that a proxy holds the stream back.
//
// Each page and each form says whom it was made for. Once another person is logged in in the browser, what they send is
// refused, and the page says who is logged in: go on as that person, or log in as the first one.
//
// The approvals (/approvals) are those that the reader may decide or asked for; an admin sees all. Whoever may not see
// one gets the same answer as for one that does not exist. A decision is a form. It is stored by the same method as a
// click on a card, which applies the approval's rule again; the page then redirects, and says what the stored state is.
// What is dangerous, or not shown as a whole, is approved on a page of its own, which asks for a tick. The form says
// how often the arguments had been changed on the page that it was on, so that nobody approves what they have not seen.
//
// The page is a list in groups, drawn anew by the server for each filter (filter.go, row.go). A script moves it with
// what the stream of events tells, shows the page of the selected approval beside it, and takes keys; it draws nothing
// of its own. Several that are ticked are decided by one form, each as if it had been alone (several.go).
//
// Arguments are changed in steps that need no script (change.go): a form with a field for each, the same form with what
// is wrong at each field, what changes, and only then the decision. Between the steps the form itself holds what was
// typed, so another's change loses nothing of it: it is refused, and compared with what there is then.
//
// A question has buttons, if a press of one of a few is the answer, or a form. The form's fields hold texts: of a
// choice, its place. A form that does not fit is shown again as it was filled in, with what is wrong at each field, and
// nothing is stored.
//
// The sessions and the queue are for admins, and have no texts of messages; to everybody else there is nothing at their
// addresses. Dead letters are tried again or discarded there by the methods of gatehouse deadletters.
//
// A proxy may have the pages under a path; see access.Site. Templates write addresses with at, scripts with at of
// assets/base.js.
//
// Who reads is found out by package access. Every page needs that but the login page and the assets, which are the same
// for everybody. Forms need a field that no other site can read. Pages allow a browser nothing but what comes from
// here: no inline scripts or styles, no frames, no other site's forms or images. They send Referrer-Policy:
// same-origin, since a browser that sends no referrer at all writes the origin of a form as null, and then it can't be
// told from another site's.
package web

import _ "embed" // the page

// Page is README.md, which gatehouse help prints.
//
//go:embed README.md
var Page string
