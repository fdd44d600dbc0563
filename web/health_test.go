package web

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"leaderboard/store"
)

func TestReadinessWarnsOfTheQueueAndStaysReady(t *testing.T) {
	t.Parallel()
	now := time.Now()
	fine := func(context.Context) error { return nil }
	for name, c := range map[string]struct {
		counts store.JobCounts
		err    error
		want   string
	}{
		"an idle queue":         {store.JobCounts{Now: now}, nil, `{"status":"ready"}`},
		"a head that waits":     {store.JobCounts{Now: now, OldestDue: now.Add(-2 * time.Minute)}, nil, "the head of the queue waits for more than a minute"},
		"a job that runs on":    {store.JobCounts{Now: now, RunningFor: 31 * time.Second}, nil, "a job runs for more than 30 seconds"},
		"a queue out of reach":  {store.JobCounts{}, errors.New("gone"), "the queue cannot be looked at"},
		"a head that has a due": {store.JobCounts{Now: now, OldestDue: now.Add(time.Hour), RunningFor: time.Second}, nil, `{"status":"ready"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := fiber.New()
			h := health{ping: fine, subscribed: fine, queue: func(context.Context) (store.JobCounts, error) { return c.counts, c.err }}
			app.Get("/readyz", h.ready)
			reply, err := app.Test(httptest.NewRequestWithContext(t.Context(), "GET", "/readyz", nil))
			if err != nil {
				t.Fatal(err)
			}
			defer reply.Body.Close()
			body, err := io.ReadAll(reply.Body)
			if err != nil || reply.StatusCode != 200 || !strings.Contains(string(body), c.want) {
				t.Errorf("got %d %s (%v), want 200 and %s", reply.StatusCode, body, err, c.want)
			}
		})
	}
}
