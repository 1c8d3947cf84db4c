package postgres

import (
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"gatehouse/core"
)

// connections is how many a process opens at most, where the URL does not say (pool_max_conns).
const connections = 8

// configure reads the URL. What it says, a password among it, is in no error.
func configure(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, core.Errorf(core.Invalid, "The address of the database can't be read. It must be of the form postgres://USER:PASSWORD@HOST:5432/DATABASE; a character such as @ or / in the password is written as %%40 or %%2F.")
	}
	if !strings.Contains(url, "pool_max_conns") {
		config.MaxConns = connections
	}
	// One round trip a statement and nothing left behind on the connection; see the package comment.
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.ConnConfig.StatementCacheCapacity = 0
	config.ConnConfig.DescriptionCacheCapacity = 0
	if config.ConnConfig.RuntimeParams["application_name"] == "" {
		config.ConnConfig.RuntimeParams["application_name"] = "gatehouse"
	}
	return config, nil
}
