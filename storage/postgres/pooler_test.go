package postgres_test

import (
	neturl "net/url"
	"os"
	"testing"

	"gatehouse/storage/postgres"
	"gatehouse/storage/postgres/postgrestest"
	"gatehouse/storage/storagetest"
)

// pooled returns URLs through a pooler in transaction mode, where each transaction may run on another connection and
// there is no session state. GATEHOUSE_TEST_PGBOUNCER is its HOST:PORT; its server is that of the other tests.
func pooled(t *testing.T) func(url string) string {
	t.Helper()
	postgrestest.Need(t)
	pooler := os.Getenv("GATEHOUSE_TEST_PGBOUNCER")
	if pooler == "" {
		t.Skip("this test needs a pooler in transaction mode: run it with GATEHOUSE_TEST_PGBOUNCER=$(.ci/pgbouncer $$)")
	}
	return func(url string) string {
		u, err := neturl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		u.Host = pooler
		return u.String()
	}
}

func TestPooled_Contract(t *testing.T) {
	storagetest.Run(t, opener(pooled(t), postgres.Options{}))
}

// TestPooled_Races: more stores' connections than the pooler has, all busy.
func TestPooled_Races(t *testing.T) {
	through := pooled(t)
	t.Run("conversations", func(t *testing.T) { noConversationTwiceNoneForgotten(newReplicas(t, through)) })
	t.Run("decisions", func(t *testing.T) { theFirstDecisionStands(newReplicas(t, through)) })
	t.Run("posts", func(t *testing.T) { eachPostOnce(newReplicas(t, through)) })
}

// TestPooled_ManyOpenANewDatabaseAtOnce: the processes that wait do not take the connections that the migrating one
// needs.
func TestPooled_ManyOpenANewDatabaseAtOnce(t *testing.T) {
	manyOpen(t, pooled(t)(postgrestest.New(t)))
}
