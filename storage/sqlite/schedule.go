package sqlite

import (
	"context"
	"time"

	"gatehouse/core"
)

// AddTask stores a task unless its key is known.
func (s *Store) AddTask(ctx context.Context, task core.Task, wait time.Duration) error {
	return s.write(ctx, func(t *tx) error {
		task.Due = t.now.Add(wait)
		return t.addTask(task)
	})
}

func (t *tx) addTask(task core.Task) error {
	_, err := t.exec(`insert into tasks (key, kind, subject, due) values (?, ?, ?, ?) on conflict do nothing`, task.Key, task.Kind, task.Subject, ns(task.Due))
	return err
}

// ClaimTasks gives what is due, the earliest first; each comes back after the lease unless it is ended.
func (s *Store) ClaimTasks(ctx context.Context, n int, lease time.Duration) ([]core.Task, error) {
	if n <= 0 {
		return nil, nil
	}
	var tasks []core.Task
	due := func(t *tx) (err error) {
		read := func(scan func(...any) error) (x core.Task, err error) {
			return x, scan(&x.Key, &x.Kind, &x.Subject, stamp{&x.Due})
		}
		tasks, err = list(t, read, `select key, kind, subject, due from tasks where due <= ? order by due limit ?`, ns(t.now), n)
		return err
	}
	if err := s.read(ctx, due); err != nil || len(tasks) == 0 {
		return nil, err
	}
	err := s.write(ctx, func(t *tx) error {
		if err := due(t); err != nil {
			return err
		}
		for _, task := range tasks {
			if _, err := t.exec(`update tasks set due = ? where key = ?`, ns(t.now.Add(lease)), task.Key); err != nil {
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
		_, err := t.exec(`update tasks set due = ? where key = ?`, ns(t.now.Add(wait)), key)
		return err
	})
}

func (t *tx) endTask(key string) error {
	_, err := t.exec(`delete from tasks where key = ?`, key)
	return err
}
