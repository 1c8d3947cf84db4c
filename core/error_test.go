package core_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"gatehouse/core"
)

func TestCategoryIsTheOutermostThatIsNoCarrier(t *testing.T) {
	upstream := core.Errorf(core.ProviderRateLimit, "slow down")
	upstream.RetryAfter = 7 * time.Second
	carrier := core.Wrap(core.NodeException, fmt.Errorf("in the model: %w", upstream), "node failed")
	for name, c := range map[string]struct {
		err     error
		want    core.Category
		message string
	}{
		"nil":                     {nil, "", ""},
		"plain":                   {errors.New("boom"), core.Internal, ""},
		"a carrier of a category": {carrier, core.ProviderRateLimit, "slow down"},
		"a carrier in a carrier":  {core.Wrap(core.EdgeException, carrier, ""), core.ProviderRateLimit, "slow down"},
		"a carrier of a plain error": {
			core.Wrap(core.NodeException, errors.New("boom"), "node failed"), core.NodeException, "node failed",
		},
		"joined": {errors.Join(errors.New("x"), upstream), core.ProviderRateLimit, "slow down"},
		"wrapped by another": {
			core.Wrap(core.SessionSaveFailed, upstream, "not saved"), core.SessionSaveFailed, "not saved",
		},
	} {
		if got := core.CategoryOf(c.err); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := core.MessageOf(c.err); got != c.message {
			t.Errorf("%s: says %q, want %q", name, got, c.message)
		}
	}
	if got := core.RetryAfterOf(carrier); got != 7*time.Second {
		t.Errorf("RetryAfterOf: %v", got)
	}
}

func TestBuckets(t *testing.T) {
	for category, want := range map[core.Category]core.Bucket{
		core.SessionLoadFailed:           core.SessionTerminating,
		core.SessionSaveFailed:           core.SessionTerminating,
		core.MigrationChainAmbiguous:     core.SessionTerminating,
		core.SuspensionPersistenceFailed: core.SessionTerminating,
		core.HarnessSessionUnresolved:    core.SessionTerminating,
		core.ProviderUnavailable:         core.RetryableTransient,
		core.ProviderTimeout:             core.RetryableTransient,
		core.ProviderRateLimited:         core.RetryableTransient,
		core.HarnessSubscriptionFailed:   core.RetryableTransient,
		core.NodeException:               core.RetryableTransient,
		core.Internal:                    core.RetryableTransient,
		core.ProviderInvalidRequest:      core.UserCorrectable,
		core.ProviderInvalidResponse:     core.UserCorrectable,
		core.ChatMessageShapeInvalid:     core.UserCorrectable,
		core.ProviderAuthentication:      core.UserCorrectable,
		core.SuspensionPayloadInvalid:    core.UserCorrectable,
		core.PromptStoreUnavailable:      core.RetryableTransient,
		core.PromptNotFound:              core.UserCorrectable,
		core.PromptRenderError:           core.UserCorrectable,
		"never heard of":                 core.RetryableTransient,
	} {
		if got := core.BucketOf(category); got != want {
			t.Errorf("%s: %s, want %s", category, got, want)
		}
	}
}
