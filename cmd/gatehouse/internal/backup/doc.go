// Package backup has the commands that copy a database and put copies back, and what a process that serves a copy does
// first.
//
//	gatehouse backup FILE        a marked copy of the database, while others write
//	gatehouse restore FILE       a database of a copy, in an empty place
//	gatehouse restore --mark     marks a database that was put back in another way
//	gatehouse migrate --back     the snapshot from before the last migration, in the database's place
//
// A database that was put back does not know what was decided, run and sent since its copy was made. Its mark says so,
// and Settle has the store end all of that before anything is served; see sqlstore's Settle.
package backup
