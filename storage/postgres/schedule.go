package postgres

import (
	"context"
	"time"

	"gatehouse/core"
)

// AddTask stores a task unless its key is known.
func (s *Store) AddTask(ctx context.Context, task core.Task, wait time.Duration) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.clock(); err != nil {
			return err
		}
		task.Due = t.now.Add(wait)
		return t.addTask(task)
	})
}

func (t *tx) addTask(task core.Task) error {
	_, err := t.exec(`insert into tasks (key, kind, subject, due) values ($1, $2, $3, $4) on conflict (key) do nothing`, task.Key, task.Kind, task.Subject, task.Due)
	return err
}

// ClaimTasks gives what is due, the earliest first; each comes back after the lease unless it is ended.
func (s *Store) ClaimTasks(ctx context.Context, n int, lease time.Duration) ([]core.Task, error) {
	if n <= 0 {
		return nil, nil
	}
	const due = ` from tasks where due <= (select clock_timestamp()) `
	var worth bool
	err := s.read(ctx, func(t *tx) (err error) {
		worth, err = t.exists(`select 1` + due + `limit 1`)
		return err
	})
	if err != nil || !worth {
		return nil, err
	}
	read := func(scan func(...any) error) (x core.Task, err error) {
		return x, scan(&x.Key, &x.Kind, &x.Subject, stamp{&x.Due})
	}
	var tasks []core.Task
	err = s.write(ctx, func(t *tx) (err error) {
		if tasks, err = list(t, read, `select key, kind, subject, due`+due+`order by due limit $1 for update skip locked`, n); err != nil {
			return err
		}
		if err := t.clock(); err != nil {
			return err
		}
		for _, task := range tasks {
			if _, err := t.exec(`update tasks set due = $1 where key = $2`, t.now.Add(lease), task.Key); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tasks, nil
}

// EndTask removes a task, or puts it off. Ending what is gone succeeds.
func (s *Store) EndTask(ctx context.Context, key string, wait time.Duration) error {
	return s.write(ctx, func(t *tx) error {
		if wait <= 0 {
			return t.endTask(key)
		}
		if err := t.clock(); err != nil {
			return err
		}
		_, err := t.exec(`update tasks set due = $1 where key = $2`, t.now.Add(wait), key)
		return err
	})
}

func (t *tx) endTask(key string) error {
	_, err := t.exec(`delete from tasks where key = $1`, key)
	return err
}
