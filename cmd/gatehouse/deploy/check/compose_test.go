package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

// TestCompose reads compose.yaml by the schema of the Compose specification.
func TestCompose(t *testing.T) {
	o, err := cli.NewProjectOptions([]string{"../compose.yaml"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gateway, database := p.Services["gatehouse"], p.Services["postgres"]
	if !gateway.ReadOnly || gateway.User != "65532:65532" || !slices.Contains(gateway.CapDrop, "ALL") {
		t.Errorf("the container may do too much: %+v", gateway)
	}
	if gateway.HealthCheck == nil || database.HealthCheck == nil ||
		gateway.DependsOn["postgres"].Condition != "service_healthy" {
		t.Error("gatehouse does not wait until the database is healthy, or nobody looks")
	}
	for _, service := range p.Services {
		given := map[string]bool{}
		for _, s := range service.Secrets {
			given["/run/secrets/"+s.Source] = true
			if p.Secrets[s.Source].File == "" {
				t.Errorf("the secret %s is no file", s.Source)
			}
		}
		for key, value := range service.Environment {
			if strings.HasSuffix(key, "_FILE") && (value == nil || !given[*value]) {
				t.Errorf("%s of %s names no secret of it", key, service.Name)
			}
		}
	}
	for _, port := range gateway.Ports {
		if port.HostIP != "127.0.0.1" {
			t.Errorf("port %s is open to other machines", port.Published)
		}
	}
}
