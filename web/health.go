package web

import (
	"context"
	"fmt"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"leaderboard/store"
)

// health tells whoever starts and stops servers how this one is.
type health struct {
	ping, subscribed func(context.Context) error
	queue            func(context.Context) (store.JobCounts, error) // nil: there is none
}

// live answers as long as the process does.
func (health) live(c *fiber.Ctx) error { return c.JSON(fiber.Map{"status": "alive"}) }

// ready answers 200 when the server can do its work: Redis answers, and changes of boards are heard of.
func (h health) ready(c *fiber.Ctx) error {
	const patience = time.Second
	ctx, cancel := context.WithTimeout(c.UserContext(), patience)
	defer cancel()
	if err := h.ping(ctx); err != nil {
		return fmt.Errorf("web: ready: %w: Redis: %w", store.ErrUnavailable, err)
	}
	if err := h.subscribed(ctx); err != nil {
		return fmt.Errorf("web: ready: %w: the subscription of boards: %w", store.ErrUnavailable, err)
	}
	state := fiber.Map{"status": "ready"}
	if warning := h.warning(ctx); warning != "" {
		state["warning"] = warning
	}
	return c.JSON(state)
}

// warning says what is wrong with the job queue. A server that can be reached does its work all the same: to take it out
// would leave even less.
func (h health) warning(ctx context.Context) string {
	if h.queue == nil {
		return ""
	}
	counts, err := h.queue(ctx)
	if err != nil {
		return "the queue cannot be looked at"
	}
	return counts.Warning()
}

func showMetrics(registry *prometheus.Registry) fiber.Handler {
	return adaptor.HTTPHandler(promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}))
}
