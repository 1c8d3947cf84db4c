// Package audit is the audit log as data: its entries, the keys that sign them (Keys), the check of a log (Check), and
// what it must say of the approvals and intents in the database (Records). It reads and writes nothing; the store does.
//
// Each entry has a MAC over itself and the MAC before it, and the head of the log has one over the last entry. So who
// can write the database, but has no key, can't change, insert, move, remove or cut entries without being noticed. An
// entry of an approval holds digests of the call, its terms, its record or its result, so that these can't be changed
// either. A digest is in the log as a MAC, which tells nothing of a content that was erased.
package audit
