package check

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// form is what one kustomization makes.
type form struct {
	deployment *apps.Deployment
	service    *core.Service
	settings   *core.ConfigMap
	network    *networking.NetworkPolicy
	claim      *core.PersistentVolumeClaim
	disruption *policy.PodDisruptionBudget
}

// build runs kustomize, and reads each object strictly: an unknown field is a fault.
func build(t *testing.T, folder string) form {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		t.Fatal(err)
	}
	var f form
	for _, r := range made.Resources() {
		text, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		var into any
		switch kind := r.GetApiVersion() + " " + r.GetKind(); kind {
		case "apps/v1 Deployment":
			f.deployment = &apps.Deployment{}
			into = f.deployment
		case "v1 Service":
			f.service = &core.Service{}
			into = f.service
		case "v1 ConfigMap":
			f.settings = &core.ConfigMap{}
			into = f.settings
		case "v1 PersistentVolumeClaim":
			f.claim = &core.PersistentVolumeClaim{}
			into = f.claim
		case "networking.k8s.io/v1 NetworkPolicy":
			f.network = &networking.NetworkPolicy{}
			into = f.network
		case "policy/v1 PodDisruptionBudget":
			f.disruption = &policy.PodDisruptionBudget{}
			into = f.disruption
		default:
			t.Fatalf("%s is not expected", kind)
		}
		if err := yaml.UnmarshalStrict(text, into); err != nil {
			t.Errorf("%s: %v\n%s", r.GetKind(), err, text)
		}
	}
	if f.deployment == nil || f.service == nil || f.settings == nil || f.network == nil {
		t.Fatal("an object is missing")
	}
	return f
}

// container checks what both forms have in common, and returns the container.
func (f form) container(t *testing.T) core.Container {
	t.Helper()
	pod := f.deployment.Spec.Template
	for what, selector := range map[string]map[string]string{
		"the deployment": f.deployment.Spec.Selector.MatchLabels, "the service": f.service.Spec.Selector,
		"the network policy": f.network.Spec.PodSelector.MatchLabels,
	} {
		if len(selector) == 0 || !maps.Equal(selector, pod.Labels) {
			t.Errorf("%s selects %v, the pods are %v", what, selector, pod.Labels)
		}
	}
	if len(pod.Spec.Containers) != 1 {
		t.Fatalf("there are %d containers", len(pod.Spec.Containers))
	}
	c := pod.Spec.Containers[0]
	port := c.Ports[0].Name
	reached := f.network.Spec.Ingress[0].Ports[0].Port
	if f.service.Spec.Ports[0].TargetPort != intstr.FromString(port) || *reached != intstr.FromString(port) {
		t.Errorf("the port %s is not the one of the service and of the network policy", port)
	}
	for _, probe := range []*core.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe.HTTPGet.Path != "/healthz" || probe.HTTPGet.Port != intstr.FromString(port) {
			t.Errorf("a probe asks %v", probe.HTTPGet)
		}
	}
	if wait := c.Lifecycle.PreStop.Sleep.Seconds; *pod.Spec.TerminationGracePeriodSeconds < 30+wait {
		t.Errorf("a pod that waits %d s before it is stopped has %d s", wait, *pod.Spec.TerminationGracePeriodSeconds)
	}
	user, own := pod.Spec.SecurityContext, c.SecurityContext
	if *user.RunAsUser != 65532 || !*user.RunAsNonRoot || !*own.ReadOnlyRootFilesystem ||
		*own.AllowPrivilegeEscalation || !slices.Contains(own.Capabilities.Drop, "ALL") {
		t.Errorf("the pod may do too much: %+v %+v", user, own)
	}
	if from := c.EnvFrom[0].ConfigMapRef.Name; from != f.settings.Name {
		t.Errorf("the settings are those of %s, not of %s", from, f.settings.Name)
	}
	f.secrets(t, c)
	return c
}

// secrets fails unless each setting that names a file of the Secret names one that is mounted.
func (f form) secrets(t *testing.T, c core.Container) {
	t.Helper()
	mounts, volumes := map[string]string{}, map[string]core.VolumeSource{}
	for _, m := range c.VolumeMounts {
		mounts[m.MountPath] = m.Name
	}
	for _, v := range f.deployment.Spec.Template.Spec.Volumes {
		volumes[v.Name] = v.VolumeSource
	}
	for key, value := range f.settings.Data {
		if strings.HasSuffix(key, "_FILE") && volumes[mounts[path.Dir(value)]].Secret == nil {
			t.Errorf("%s is %s, where no secret is mounted", key, value)
		}
	}
}

// TestReplicas: replicas on Postgres write no file at all, and share nothing but the database.
func TestReplicas(t *testing.T) {
	f := build(t, "../kubernetes")
	f.container(t)
	if *f.deployment.Spec.Replicas < 2 || f.claim != nil {
		t.Errorf("%d replicas, a volume: %t", *f.deployment.Spec.Replicas, f.claim != nil)
	}
	for _, v := range f.deployment.Spec.Template.Spec.Volumes {
		if v.Secret == nil {
			t.Errorf("%s is a volume and no secret", v.Name)
		}
	}
	if f.settings.Data["GATEHOUSE_DATABASE_URL_FILE"] == "" || f.settings.Data["GATEHOUSE_DATABASE_URL"] != "" {
		t.Errorf("the database is not told by a file alone: %v", f.settings.Data)
	}
	selected := f.disruption.Spec.Selector.MatchLabels
	if !maps.Equal(selected, f.deployment.Spec.Template.Labels) {
		t.Errorf("the disruption budget is for %v", selected)
	}
}

// TestOneProcess: with SQLite there is one process at a time, with its file on a volume.
func TestOneProcess(t *testing.T) {
	f := build(t, "../kubernetes/sqlite")
	c := f.container(t)
	s := f.deployment.Spec
	if *s.Replicas != 1 || s.Strategy.Type != apps.RecreateDeploymentStrategyType || s.Strategy.RollingUpdate != nil {
		t.Errorf("%d replicas, replaced by %+v", *s.Replicas, s.Strategy)
	}
	at := "/" + strings.Split(strings.TrimPrefix(f.settings.Data["GATEHOUSE_DATABASE_URL"], "sqlite:/"), "/")[0]
	kept := slices.ContainsFunc(s.Template.Spec.Volumes, func(v core.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == f.claim.Name &&
			slices.ContainsFunc(c.VolumeMounts, func(m core.VolumeMount) bool {
				return m.Name == v.Name && m.MountPath == at
			})
	})
	if !kept {
		t.Errorf("%s is not on the volume", at)
	}
}
