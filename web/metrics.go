package web

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
)

// classes are the status classes by which requests are counted.
var classes = [...]string{"1xx", "2xx", "3xx", "4xx", "5xx"}

// series are the histograms of a route, one for each class of status. One begins with the first reply of its class: all
// of them from the start would fill /metrics with zeros.
type series struct {
	method, route string
	classes       [len(classes)]atomic.Value // of prometheus.Observer
}

// metrics counts requests and their time by route, never by what stands in an address: that would have no bound.
type metrics struct {
	seconds *prometheus.HistogramVec
	limited *prometheus.CounterVec
	routes  map[*fiber.Route]*series // complete before the first request
	other   *series                  // what no route answered
}

func newMetrics(registry prometheus.Registerer) *metrics {
	m := &metrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "leaderboard_http_request_seconds",
			Help:    "Time from a request's last byte to its reply, by route and class of status.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .5, 1, 5},
		}, []string{"method", "route", "status"}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "leaderboard_http_limited_total",
			Help: "Requests that were refused because a limit had no room.",
		}, []string{"policy"}),
		routes: make(map[*fiber.Route]*series),
		other:  &series{method: "other", route: "other"},
	}
	registry.MustRegister(m.seconds, m.limited)
	return m
}

// watch has the routes of an app counted that were not there before, which leaves out middleware.
func (m *metrics) watch(app *fiber.App, before [][]*fiber.Route) {
	for method, routes := range app.Stack() {
		for _, route := range routes {
			if !slices.Contains(before[method], route) {
				m.routes[route] = &series{method: route.Method, route: route.Path}
			}
		}
	}
}

func (m *metrics) observe(c *fiber.Ctx, took time.Duration) {
	s, ok := m.routes[c.Route()]
	if !ok {
		s = m.other
	}
	class := c.Response().StatusCode()/100 - 1
	if class < 0 || class >= len(classes) {
		return
	}
	observer, ok := s.classes[class].Load().(prometheus.Observer)
	if !ok { // two at once make the same one
		observer = m.seconds.WithLabelValues(s.method, s.route, classes[class])
		s.classes[class].Store(observer)
	}
	observer.Observe(took.Seconds())
}
