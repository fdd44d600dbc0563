package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fasthttp/websocket"
	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"leaderboard/handlers/api"
	"leaderboard/store"
	"leaderboard/store/redisstore"
	"leaderboard/store/storetest"
	"leaderboard/web"
	"leaderboard/web/live"
)

// process is what one server has inside, with a listener for the sockets.
type process struct {
	store store.Store
	tops  *live.Tops
	hub   *live.Hub
	api   *fiber.App
	addr  string
}

func start(t *testing.T, client redis.UniversalClient, prefix string, options live.Options) *process {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	var p process
	boards := redisstore.New(client, redisstore.Options{
		Prefix: prefix, Logger: log,
		Wrote: func(id store.BoardID, version, total int64) { p.tops.Wrote(id, version, total) },
	})
	changes := redisstore.NewChanges(client, redisstore.ChangesOptions{
		Prefix: prefix, Logger: log,
		OnChange: func(c redisstore.Change) { p.tops.Changed(live.Change(c)) },
		OnGap:    func() { p.tops.Gap() },
	})
	p.tops = live.NewTops(boards, changes, log)
	hub, err := live.NewHub(p.tops, boards, options)
	if err != nil {
		t.Fatal(err)
	}
	p.hub, p.store = hub, hub.Hearing(boards)
	p.api = web.New(web.Deps{
		Store: p.store, Tops: web.KeptTops(p.tops), Keys: web.NewFirstKey("key"), Log: log,
		Ping: boards.Ping, Subscribed: changes.Alive, Registry: prometheus.NewRegistry(),
	})

	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { changes.Run(ctx) })
	running.Go(func() { p.tops.Run(ctx) })

	sockets := fiber.New(fiber.Config{DisableStartupMessage: true, CaseSensitive: true})
	sockets.Get("/ws/boards/:board", hub.Handler(func(c *fiber.Ctx) netip.Addr {
		address, _ := netip.AddrFromSlice(c.Context().RemoteIP())
		return address
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.addr = listener.Addr().String()
	running.Go(func() { _ = sockets.Listener(listener) })
	t.Cleanup(func() {
		closing, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(sockets.ShutdownWithContext(closing), hub.Close(closing)); err != nil {
			t.Error(err)
		}
		stop()
		running.Wait()
	})
	return &p
}

// makeBoard makes a board where the last submission counts, so that players go up and down.
func (p *process) makeBoard(t *testing.T, id store.BoardID, liveTop int) {
	t.Helper()
	_, _, err := p.store.PutBoard(t.Context(), id, func(s *store.Settings) error {
		s.Policy, s.LiveTop, s.Decimals = store.Last, liveTop, 2
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (p *process) post(t *testing.T, id store.BoardID, player store.PlayerID, points int) {
	t.Helper()
	number, err := store.ParseDecimal("points", strconv.Itoa(points))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.store.Submit(t.Context(), id, store.Submission{Player: player, Points: number}); err != nil {
		t.Fatal(err)
	}
}

// top returns what the API says of the first places, asked of Redis.
func (p *process) top(t *testing.T, id store.BoardID, limit int) shown {
	t.Helper()
	request, err := http.NewRequest("GET", fmt.Sprintf("/api/v1/boards/%s/top?limit=%d", id, limit), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Cache-Control", "no-cache")
	response, err := p.api.Test(request, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("got %d %s (%v)", response.StatusCode, body, err)
	}
	var s shown
	if err := json.Unmarshal(body, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// shown is what somebody sees of a board, each entry as it came.
type shown struct {
	Board   string            `json:"board"`
	Season  int64             `json:"season"`
	Epoch   string            `json:"epoch"`
	Version int64             `json:"version"`
	Total   int64             `json:"total"`
	Entries []json.RawMessage `json:"entries"`
}

func (s shown) String() string {
	text, _ := json.Marshal(s)
	return string(text)
}

// spectator is a browser with a board open.
type spectator struct {
	process *process
	limit   int
	conn    *websocket.Conn

	mu     sync.Mutex
	shown  shown
	you    json.RawMessage
	gaps   int // deltas that did not fit
	resets int
	err    error
}

func (p *process) watch(t *testing.T, id store.BoardID, query string, limit int) *spectator {
	t.Helper()
	conn, _, err := websocket.DefaultDialer.Dial(fmt.Sprintf("ws://%s/ws/boards/%s?limit=%d%s", p.addr, id, limit, query), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := &spectator{process: p, limit: limit, conn: conn}
	var reading sync.WaitGroup
	reading.Go(s.read)
	t.Cleanup(func() { conn.Close(); reading.Wait() })
	return s
}

func (s *spectator) read() {
	for {
		_, text, err := s.conn.ReadMessage()
		if err == nil {
			err = s.apply(text)
		}
		if err != nil {
			s.mu.Lock()
			s.err = err
			s.mu.Unlock()
			return
		}
	}
}

// apply does with a frame what DESIGN.md says a client does.
func (s *spectator) apply(text []byte) error {
	var f struct {
		shown
		Type    string            `json:"type"`
		From    int64             `json:"from"`
		Changed []json.RawMessage `json:"changed"`
		Removed []string          `json:"removed"`
		Entry   json.RawMessage   `json:"entry"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch f.Type {
	case "snapshot":
		s.shown = f.shown
		s.resets++
	case "you":
		s.you = f.Entry
	case "delta":
		if f.From != s.shown.Version {
			s.gaps++
			return s.conn.WriteMessage(websocket.TextMessage, []byte(`{"type":"resync"}`))
		}
		out := map[string]bool{}
		for _, player := range f.Removed {
			out[player] = true
		}
		for _, entry := range f.Changed {
			out[playerOf(entry)] = true
		}
		rows := slices.DeleteFunc(s.shown.Entries, func(e json.RawMessage) bool { return out[playerOf(e)] })
		for _, entry := range f.Changed {
			rank := int(rankOf(entry))
			if rank < 1 || rank > len(rows)+1 {
				return fmt.Errorf("rank %d in a list of %d: %s", rank, len(rows), text)
			}
			rows = slices.Insert(rows, rank-1, entry)
		}
		for i := range rows { // counts anew
			if rank := rankOf(rows[i]); rank != int64(i+1) {
				old, fresh := fmt.Sprintf(`{"rank":%d,`, rank), fmt.Sprintf(`{"rank":%d,`, i+1)
				rows[i] = json.RawMessage(strings.Replace(string(rows[i]), old, fresh, 1))
			}
		}
		s.shown.Entries, s.shown.Version, s.shown.Total = rows, f.Version, f.Total
	}
	return nil
}

func playerOf(entry json.RawMessage) string {
	var e struct{ Player string }
	_ = json.Unmarshal(entry, &e)
	return e.Player
}

func rankOf(entry json.RawMessage) int64 {
	var e struct{ Rank int64 }
	_ = json.Unmarshal(entry, &e)
	return e.Rank
}

func (s *spectator) sees() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String(), s.err
}

// long is by how much long tests are longer than the short ones that everybody runs.
func long(t *testing.T) int {
	t.Helper()
	text := os.Getenv("LEADERBOARD_TEST_LONG")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("LEADERBOARD_TEST_LONG is %q, want a number", text)
	}
	return n
}

// times matches what agree leaves out: the time of a slot ahead of the clock is shown as now, whenever that was.
var times = regexp.MustCompile(`"achieved_at":"[^"]*"`)

// agree waits until all spectators see what the API says, and fails after the time.
func agree(t *testing.T, within time.Duration, id store.BoardID, spectators ...*spectator) {
	t.Helper()
	agreeBut(t, times, within, id, spectators...)
}

// agreeBut is agree but for what an expression matches.
func agreeBut(t *testing.T, but *regexp.Regexp, within time.Duration, id store.BoardID, spectators ...*spectator) {
	t.Helper()
	began := time.Now()
	tops := map[int]string{}
	for _, s := range spectators {
		if tops[s.limit] == "" {
			tops[s.limit] = but.ReplaceAllString(s.process.top(t, id, s.limit).String(), "")
		}
		for {
			got, err := s.sees()
			if err != nil {
				t.Fatal(err)
			}
			if got = but.ReplaceAllString(got, ""); got == tops[s.limit] {
				break
			}
			if time.Since(began) > within {
				t.Fatalf("after %v somebody sees\n%s\nthe board is\n%s", within, got, tops[s.limit])
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

func TestReadersSeeByteForByteWhatTheAPISays(t *testing.T) {
	t.Parallel()
	for name, client := range map[string]func(testing.TB) redis.UniversalClient{
		"Redis": storetest.Redis, "embedded": storetest.Embedded,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, client(t), storetest.Prefix(t), live.Options{})
			p.makeBoard(t, "demo", 20)
			all, few := p.watch(t, "demo", "", 20), p.watch(t, "demo", "", 3)
			agree(t, 5*time.Second, "demo", all, few)
			names := []store.Name{"", "plain", "玩家", "👨‍👩‍👧‍👦", "שלום עולם", `<img src=x onerror=alert(1)>`, `"quoted" \ back`, "M&M's", "\u2066a\u2069", "tab?"}
			for i, n := range names {
				points, err := store.ParseDecimal("points", fmt.Sprintf("%d.%d5", i*100-300, i))
				if err != nil {
					t.Fatal(err)
				}
				player, err := store.ParsePlayerID(fmt.Sprint("p:", n, i))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.store.Submit(t.Context(), "demo", store.Submission{Player: player, Points: points, Name: n}); err != nil {
					t.Fatal(err)
				}
				agreeBut(t, regexp.MustCompile(`^$`), 5*time.Second, "demo", all, few)
			}
			if all.resets != 1 || all.gaps != 0 {
				t.Errorf("%d snapshots and %d gaps, want one snapshot", all.resets, all.gaps)
			}
		})
	}
}

func TestEverythingThatMovesABoardReachesItsReaders(t *testing.T) {
	t.Parallel()
	p := start(t, storetest.Redis(t), storetest.Prefix(t), live.Options{})
	p.makeBoard(t, "demo", 5)
	for i := range 8 {
		p.post(t, "demo", store.PlayerID(fmt.Sprint("p", i)), 100-i)
	}
	s := p.watch(t, "demo", "&player=p6", 5)
	agree(t, 5*time.Second, "demo", s)
	ctx := t.Context()
	you := func(rank int64) {
		t.Helper()
		for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			s.mu.Lock()
			got := rankOf(s.you)
			s.mu.Unlock()
			if got == rank {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the player is told rank %d, want %d", got, rank)
			}
		}
	}
	you(7)
	for _, step := range []struct {
		name string
		do   func() error
		rank int64
	}{
		{"a ban", func() error { _, err := p.store.Ban(ctx, "demo", "p0", "cheats"); return err }, 6},
		{"an unban", func() error { _, err := p.store.Unban(ctx, "demo", "p0"); return err }, 7},
		{"a removal", func() error { return p.store.RemovePlayer(ctx, "demo", "p3") }, 6},
		{"an own score", func() error { p.post(t, "demo", "p6", 500); return nil }, 1},
		{"a lower score", func() error { p.post(t, "demo", "p6", 1); return nil }, 7},
		{"a season's end", func() error { _, _, err := p.store.CloseSeason(ctx, "demo", 1, "done"); return err }, 0},
		{"the first score of a season", func() error { p.post(t, "demo", "p6", 5); return nil }, 1},
		{"settings", func() error {
			_, _, err := p.store.PutBoard(ctx, "demo", func(s *store.Settings) error { s.LiveTop = 6; return nil })
			return err
		}, 1},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		agree(t, 5*time.Second, "demo", s)
		you(step.rank)
	}

	// A board made anew: its readers begin again with it, or are sent away when they were told of the end in between.
	if err := p.store.DeleteBoard(ctx, "demo"); err != nil {
		t.Fatal(err)
	}
	p.makeBoard(t, "demo", 5)
	p.post(t, "demo", "p6", 7)
	want := p.top(t, "demo", 5).Epoch
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		epoch, err := s.shown.Epoch, s.err
		s.mu.Unlock()
		if epoch == want || websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
			break
		}
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("somebody sees epoch %s and %v, want %s", epoch, err, want)
		}
	}
}

func TestTwoServersShowOneBoardWhileMessagesAreLost(t *testing.T) {
	t.Parallel()
	server := storetest.Server(t)
	proxy := newLossy(t, server.Addr())
	dial := func() redis.UniversalClient {
		client := redis.NewClient(&redis.Options{Addr: proxy.addr, MaxRetries: -1, ContextTimeoutEnabled: true})
		t.Cleanup(func() { client.Close() })
		return client
	}
	a, b := start(t, dial(), "lb", live.Options{}), start(t, dial(), "lb", live.Options{})
	a.makeBoard(t, "demo", 20)
	var spectators []*spectator
	for i := range min(5*long(t), 200) {
		for _, p := range []*process{a, b} {
			spectators = append(spectators, p.watch(t, "demo", "", []int{3, 10, 20}[i%3]))
		}
	}
	proxy.percent.Store(50)
	var posting sync.WaitGroup
	for _, p := range []*process{a, b} {
		for range 2 {
			posting.Go(func() {
				for range min(100*long(t), 5000) {
					p.post(t, "demo", store.PlayerID(fmt.Sprint("p", rand.IntN(60))), rand.IntN(1000))
					time.Sleep(time.Duration(rand.IntN(4)) * time.Millisecond)
				}
			})
		}
	}
	posting.Wait()
	agree(t, 5*time.Second, "demo", spectators...)

	proxy.percent.Store(100)
	for i := range 2 {
		a.post(t, "demo", "p0", 2000+i)
		agree(t, 5*time.Second, "demo", spectators...)
		b.post(t, "demo", "p1", 3000+i)
		agree(t, 5*time.Second, "demo", spectators...)
	}
	if proxy.dropped.Load() == 0 || proxy.passed.Load() == 0 {
		t.Errorf("%d messages were dropped and %d passed: this test tests nothing", proxy.dropped.Load(), proxy.passed.Load())
	}

	proxy.percent.Store(0)
	proxy.cut() // and the connections with it
	a.postAgain(t, "demo", "p2", 4000)
	agree(t, 5*time.Second, "demo", spectators...)
	for _, s := range spectators {
		if s.gaps > 0 {
			t.Errorf("a reader had %d gaps: on one connection deltas form an unbroken chain", s.gaps)
		}
	}
}

func TestAReaderWhoIsCutOffAgainAndAgainEndsOnTheRightBoard(t *testing.T) {
	t.Parallel()
	p := start(t, storetest.Redis(t), storetest.Prefix(t), live.Options{})
	p.makeBoard(t, "demo", 10)
	stop := make(chan struct{})
	var posting sync.WaitGroup
	posting.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				p.post(t, "demo", store.PlayerID(fmt.Sprint("p", rand.IntN(30))), rand.IntN(1000))
			}
		}
	})
	version := int64(0)
	for range 10 {
		conn, _, err := websocket.DefaultDialer.Dial("ws://"+p.addr+"/ws/boards/demo", nil)
		if err != nil {
			t.Fatal(err)
		}
		s := &spectator{process: p, conn: conn}
		for range 3 {
			_, text, err := conn.ReadMessage()
			if err != nil {
				t.Fatal(err)
			}
			if err := s.apply(text); err != nil {
				t.Fatal(err)
			}
		}
		conn.Close()
		if s.gaps > 0 || s.shown.Version < version {
			t.Errorf("%d gaps, and version %d behind %d", s.gaps, s.shown.Version, version)
		}
		version = s.shown.Version
	}
	close(stop)
	posting.Wait()
	agree(t, 5*time.Second, "demo", p.watch(t, "demo", "", 10))
}

// postAgain is post for a moment when the first try may meet a broken connection.
func (p *process) postAgain(t *testing.T, id store.BoardID, player store.PlayerID, points int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		_, err := p.store.Submit(t.Context(), id, store.Submission{Player: player, Points: store.Whole(int64(points))})
		if err == nil {
			return
		}
		if !errors.Is(err, store.ErrUnavailable) || time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

func TestReadersOutliveARestartOfRedis(t *testing.T) {
	t.Parallel()
	server := storetest.Server(t, "--appendonly", "yes", "--appendfsync", "always")
	p := start(t, server.Client(t), "lb", live.Options{})
	p.makeBoard(t, "demo", 20)
	p.post(t, "demo", "p0", 5)
	s := p.watch(t, "demo", "", 20)
	agree(t, 5*time.Second, "demo", s)
	server.Kill(t)
	if kept, err := p.tops.Read(t.Context(), "demo", true); err != nil {
		t.Errorf("the kept top is not served: %v", err)
	} else if _, stale := kept.Stale(); !stale {
		t.Error("a top without a store is not stale")
	}
	server.Restart(t)
	p.postAgain(t, "demo", "p1", 6)
	agree(t, 5*time.Second, "demo", s)
	if s.resets != 1 {
		t.Errorf("%d snapshots, want one: versions went on", s.resets)
	}
}

var _ api.Tops = web.KeptTops((*live.Tops)(nil))
