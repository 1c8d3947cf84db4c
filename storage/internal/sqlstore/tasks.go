package sqlstore

import (
	"context"
	"time"

	"gatehouse/core"
)

// AddTask stores a task that is due after wait. A task whose key is known is left as it is, but it is due no later than
// that.
func (s *Store) AddTask(ctx context.Context, task core.Task, wait time.Duration) error {
	return s.write(ctx, func(t *Tx) error {
		if err := t.readClock(); err != nil {
			return err
		}
		task.Due = t.Now.Add(wait)
		return t.addTask(task)
	})
}

func (t *Tx) addTask(task core.Task) error {
	_, err := t.Exec(`insert into tasks (key, kind, subject, due) values ($1, $2, $3, $4) on conflict (key) do update
		set due = excluded.due where tasks.due > excluded.due`, task.Key, task.Kind, task.Subject, task.Due)
	return err
}

// ClaimTasks claims up to n due tasks, the earliest first. A task is returned again after that time unless it is ended.
func (s *Store) ClaimTasks(ctx context.Context, n int, after time.Duration) ([]core.Task, error) {
	if n <= 0 {
		return nil, nil
	}
	readTask := func(scan func(...any) error) (x core.Task, err error) {
		return x, scan(&x.Key, &x.Kind, &x.Subject, timestamp{&x.Due})
	}
	// Looking first costs no commit, and usually nothing is due.
	due, err := read(ctx, s, func(t *Tx) (bool, error) {
		var first time.Time
		found, err := t.Row([]any{timestamp{&first}, Clock{t}}, `select due, `+t.sql.Clock+` from tasks where due > 0
			order by due limit 1`)
		return found && !first.After(t.Now), err
	})
	if err != nil || !due {
		return nil, err
	}
	return write(ctx, s, func(t *Tx) ([]core.Task, error) {
		if err := t.readClock(); err != nil {
			return nil, err
		}
		tasks, err := List(t, readTask, `select key, kind, subject, due from tasks where due <= $1 order by due
			limit $2`+t.sql.skipLocked("tasks"), t.Now, n)
		if err != nil {
			return nil, err
		}
		for _, task := range tasks {
			if _, err := t.Exec(`update tasks set due = $1 where key = $2`, t.Now.Add(after), task.Key); err != nil {
				return nil, err
			}
		}
		return tasks, nil
	})
}

// EndTask removes a task, or delays it if wait is positive. Ending a missing task succeeds.
func (s *Store) EndTask(ctx context.Context, key string, wait time.Duration) error {
	return s.write(ctx, func(t *Tx) error {
		if wait <= 0 {
			return t.endTask(key)
		}
		if err := t.readClock(); err != nil {
			return err
		}
		_, err := t.Exec(`update tasks set due = $1 where key = $2`, t.Now.Add(wait), key)
		return err
	})
}

func (t *Tx) endTask(key string) error {
	_, err := t.Exec(`delete from tasks where key = $1`, key)
	return err
}
