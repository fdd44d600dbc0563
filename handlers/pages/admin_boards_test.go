package pages_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"leaderboard/store"
)

func TestABoardIsMadeAfterALookAtItsResets(t *testing.T) {
	t.Parallel()
	d := newDesk(t).login()
	d.get("/admin").wants(t, 200).has(t, "No boards yet", `href="/admin/boards"`)
	d.get("/admin/boards").wants(t, 200).has(t, `name="id"`, `value="10000000"`, `action="/admin/boards"`)

	fields := []string{
		"id", "daily", "title", "Daily <b>", "order", "asc", "decimals", "3", "max_points", "9999", "schedule", "daily",
		"timezone", "Asia/Kolkata", "live_top", "20",
	}
	page := d.post("/admin/boards", append(fields, "step", "preview")...).wants(t, 200)
	page.has(t, "Daily &lt;b&gt;", "low points", "00:00", "Asia/Kolkata, ", "18:30 UTC", `name="timezone" value="Asia/Kolkata"`, `value="save"`)
	if got := strings.Count(page.body, "18:30 UTC"); got != 5 {
		t.Errorf("got %d resets, want 5", got)
	}
	if _, err := d.store.BoardState(t.Context(), "daily"); err == nil {
		t.Fatal("the board is made before it was asked for")
	}
	d.post("/admin/boards", append(fields, "step", "edit")...).wants(t, 200).has(t, `value="daily"`, `value="20"`, `<option value="asc" selected>`)

	d.follow(d.post("/admin/boards", append(fields, "step", "save")...)).wants(t, 200).has(t, `role="status"`, "The board daily is made", "Daily &lt;b&gt;")
	s := d.state("daily").Settings
	if s.Title != "Daily <b>" || s.Order != store.Asc || s.Decimals != 3 || s.MaxPoints != 9999 || s.Schedule != "daily" ||
		s.Timezone != "Asia/Kolkata" || s.LiveTop != 20 || s.KeepSeasons != 12 {
		t.Errorf("got %+v", s)
	}
	d.get("/admin/boards/daily").hasNot(t, `role="status"`) // said once
	acts := d.acts()
	if last := acts[len(acts)-1]; !strings.HasPrefix(last, "admin|board.put|daily||made: title Daily <b>, better is low points") {
		t.Errorf("the audit has %q", last)
	}
}

func TestABoardIsMadeByAPlainPostToo(t *testing.T) {
	t.Parallel()
	d := newDesk(t).login()
	d.follow(d.post("/admin/boards", "id", "plain")).wants(t, 200)
	if s := d.state("plain").Settings; s.Title != "plain" || s.Schedule != store.Manual {
		t.Errorf("got %+v", s)
	}
}

func TestWhatIsWrongWithABoardStandsAtItsField(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("taken", nil)
	d.login()
	for _, c := range []struct{ field, value, says string }{
		{"id", "Not An Id", "Must be 1 to 63 of a-z"},
		{"id", "../etc", "Must be 1 to 63 of a-z"},
		{"id", "taken", "Is that of another board"},
		{"title", strings.Repeat("x", 101), "Must be 1 to 100 characters"},
		{"title", "a\x00b", "Must be without control characters"},
		{"title", "\xff", "Must be UTF-8"},
		{"order", "sideways", "Must be desc or asc"},
		{"policy", "worst", "Must be best, last or sum"},
		{"decimals", "10", "Must be 0 to 9"},
		{"decimals", "1.5", "Must be a whole number"},
		{"decimals", "99999999999999999999", "Must be a whole number"},
		{"max_points", "0", "Must be 1 to 9007199254740991"},
		{"max_points", "9007199254740991", "Leaves no room for exact time"},
		{"max_step", "-1", "Must be more than 0"},
		{"max_step", "0x10", "Must be a number"},
		{"schedule", "sometimes", "Must be manual, daily, weekly, monthly, or five cron fields"},
		{"timezone", "Mars/Olympus", "Must be an IANA zone"},
		{"timezone", "../../etc/passwd", "Must be an IANA zone"},
		{"starts_at", "2999-01-01T00:00", "Must not be in the future"},
		{"starts_at", "yesterday", "Must be a date and a time in UTC"},
		{"season_days", "0", "Must be 1 to 36500"},
		{"live_top", "1001", "Must be 1 to 1000"},
		{"activity_cap", "-1", "Must be 0 to 1000"},
		{"keep_seasons", "1001", "Must be 0 to 1000"},
		{"rewards", "{}", "Must be a list of rewards in JSON"},
		{"rewards", `[{"id":"a","id":"b"}]`, "Must be a list of rewards in JSON"},
		{"rewards", `[{"id":"a","colour":"red"}]`, "Must be a list of rewards in JSON: see /0/colour"},
		{"rewards", `[{"id":"a","title":"A"}]`, "Must have exactly one of ranks, percent, points and reach_rank"},
		{"rewards", `[{"id":"a","title":"A","ranks":[2,1]}]`, "Must be two places from 1"},
		{"rewards", `[{"id":"a","title":"A","ranks":[1,1],"delay":"soon"}]`, "Must be a time span such as 90s or 24h"},
		{"rewards", `[{"id":"a","title":"A","points":"1e999"}]`, "Is out of range"},
		{"rewards", strings.Repeat("[", 5000), "Must be at most 32 levels deep"},
		{"webhook.url", "ftp://x", "Must be an absolute http or https address"},
		{"webhook.secret", "no address for it", "Goes only with an address"},
	} {
		fields := []string{c.field, c.value}
		if c.field != "id" {
			fields = append(fields, "id", "new")
		}
		for _, step := range []string{"preview", "save"} {
			r := d.post("/admin/boards", append(fields, "step", step)...).wants(t, 422)
			says := c.says
			if c.field == "rewards" && !strings.Contains(r.body, ">"+says) {
				says = strings.ToLower(says[:1]) + says[1:] // behind the name of the part that is wrong
			}
			r.has(t, `role="alert"`, says)
			if !strings.Contains(r.body, `id="wrong-`+c.field+`"`) || !strings.Contains(r.body, `aria-invalid="true"`) {
				t.Errorf("%s=%.30q: nothing stands at the field: %s", c.field, c.value, words(r.body))
			}
		}
		if _, err := d.store.BoardState(t.Context(), "new"); err == nil {
			t.Fatalf("%s=%q: a board was made", c.field, c.value)
		}
	}
	for _, act := range d.acts() {
		if strings.Contains(act, "board.put") {
			t.Errorf("the audit has %q", act)
		}
	}
	d.post("/admin/boards", "id", "a", "id", "b").wants(t, 422).has(t, "must be given once")
}

func TestABoardIsChangedAfterALookAtWhatChanges(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	secret := "a secret of the webhook"
	d.board("demo", func(s *store.Settings) {
		s.Webhook = &store.Webhook{URL: "https://game.example/hook", Secret: secret}
		s.Rewards = []store.Reward{{ID: "gold", Title: "Gold", Ranks: []int64{1, 1}, Delay: 90 * time.Minute, Data: []byte(`{"gems":[1,{"a":"<b>"}]}`)}}
		s.MaxStep = "5e2"
	})
	d.login()
	page := d.get("/admin/boards/demo").wants(t, 200)
	page.has(t, "https://game.example/hook", `&#34;id&#34;:&#34;gold&#34;`, "Watching here</dt><dd>7<")
	page.hasNot(t, secret, "Somebody has a score")

	d.follow(d.post("/admin/boards/demo", "live_top", "100")).has(t, "Everything is as it was")
	d.post("/admin/boards/demo", "live_top", "50", "schedule", "weekly", "step", "preview").wants(t, 200).
		has(t, "2 settings would change", "100</bdi></td><td><bdi>50", "manual</bdi></td><td><bdi>weekly", "Mon ")
	if got := d.state("demo").Settings.LiveTop; got != 100 {
		t.Errorf("a look changes the board: %d", got)
	}
	d.follow(d.post("/admin/boards/demo", "live_top", "50", "schedule", "weekly", "step", "save")).has(t, "Saved: schedule manual → weekly, places that move live 100 → 50")

	// What the form shows comes back as it was.
	rewards := d.state("demo").Settings.Rewards
	text := strings.NewReplacer("&#34;", `"`, "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(between(page.body, `rows="8" spellcheck="false">`, "</textarea>"))
	d.follow(d.post("/admin/boards/demo", "rewards", strings.ReplaceAll(text, "\n", "\r\n"), "webhook.url", "https://game.example/hook", "webhook.secret", "",
		"max_step", "5e2", "starts_at", d.state("demo").Settings.StartsAt.Format("2006-01-02T15:04:05.999"))).has(t, "Everything is as it was")
	s := d.state("demo").Settings
	if s.Webhook == nil || s.Webhook.Secret != secret || len(s.Rewards) != 1 || string(s.Rewards[0].Data) != string(rewards[0].Data) ||
		s.Rewards[0].Delay != 90*time.Minute {
		t.Errorf("got %+v, %+v", s.Webhook, s.Rewards)
	}
	page = d.post("/admin/boards/demo", "webhook.secret", "another long secret", "step", "save").wants(t, 303)
	if got := d.state("demo").Settings.Webhook.Secret; got != "another long secret" {
		t.Errorf("got the secret %q", got)
	}
	if all := strings.Join(d.acts(), "\n"); strings.Contains(all, "secret of") || strings.Contains(all, "another long") {
		t.Errorf("the audit tells a secret: %s", all)
	}
	d.follow(d.post("/admin/boards/demo", "webhook.url", "", "rewards", "")).wants(t, 200)
	if s := d.state("demo").Settings; s.Webhook != nil || s.Rewards != nil {
		t.Errorf("got %+v, %+v, want neither", s.Webhook, s.Rewards)
	}
}

func between(text, from, to string) string {
	_, rest, _ := strings.Cut(text, from)
	inside, _, _ := strings.Cut(rest, to)
	return inside
}

func TestWhatAnOrderRestsOnIsLockedWhileSomebodyHasAScore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", nil)
	d.score("demo", "ada", "Ada", 5)
	d.login()
	page := d.get("/admin/boards/demo")
	page.has(t, "Somebody has a score this season")
	for name, locked := range map[string]bool{"order": true, "decimals": true, "starts_at": true, "title": false, "schedule": false, "live_top": false} {
		field := between(page.body, `id="f-`+name+`"`, ">")
		if got := strings.Contains(field, " disabled"); got != locked {
			t.Errorf("%s: locked %v, want %v", name, got, locked)
		}
	}
	d.post("/admin/boards/demo", "decimals", "2").wants(t, 409).has(t, `role="alert"`, "Close the season first")
	if got := d.state("demo").Settings.Decimals; got != 0 {
		t.Errorf("got %d decimals", got)
	}
	acts := d.acts()
	if last := acts[len(acts)-1]; !strings.Contains(last, "board.put failed") {
		t.Errorf("the audit has %q", last)
	}
}

func TestTheStartOfAFirstSeasonThatIsClosedIsLocked(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", nil)
	d.login()
	d.post("/admin/boards/demo/close", "season", "1", "id", "demo", "reason", "end").wants(t, 303)
	field := between(d.get("/admin/boards/demo").body, `id="f-starts_at"`, ">")
	if !strings.Contains(field, " disabled") {
		t.Errorf("got %s, want it locked", field)
	}
	d.post("/admin/boards/demo", "starts_at", "2026-01-01T00:00").wants(t, 422).has(t, "Is that of the first season")
}

func TestTheAuditTellsManyChangesShortly(t *testing.T) {
	t.Parallel()
	d := newDesk(t).login()
	var rewards []string
	for i := range 100 {
		rewards = append(rewards, fmt.Sprintf(`{"id":"r%d","title":"%s","ranks":[1,1]}`, i, strings.Repeat("é", 90)))
	}
	d.post("/admin/boards", "id", "rich", "rewards", "["+strings.Join(rewards, ",")+"]").wants(t, 303)
	acts := d.acts()
	if last := acts[len(acts)-1]; len(last) > 1100 || !strings.HasSuffix(last, "…") || !utf8.ValidString(last) {
		t.Errorf("got %d bytes: %q", len(last), last)
	}
}

func TestABoardIsDeletedOnlyWithItsIDTyped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", nil)
	d.score("demo", "ada", "Ada", 5)
	d.login()
	d.get("/admin/boards/demo/delete").wants(t, 200).has(t, "with 1 player of season 1", "cannot be taken back", "demo")
	for _, typed := range []string{"", "Demo", "dem", "demo2"} {
		d.post("/admin/boards/demo/delete", "id", typed).wants(t, 422).has(t, "nothing was done", `aria-invalid="true"`)
	}
	d.state("demo")
	d.follow(d.post("/admin/boards/demo/delete", "id", " demo ")).wants(t, 200).has(t, "The board demo is deleted")
	for _, path := range adminRoutes(d, "GET") {
		if strings.Contains(path, "demo") {
			d.get(path+"?player=ada&season=1&held=1").wants(t, 404)
		}
	}
	d.post("/admin/boards/demo", "live_top", "5").wants(t, 404)
}

func TestTheListOfBoardsIsSortedAndNarrowedDown(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for id, title := range map[store.BoardID]string{"a": "Zebra", "b": "Élan <i>", "c": "apple"} {
		d.board(id, func(s *store.Settings) { s.Title = title })
	}
	d.score("b", "p", "P", 1)
	d.login()
	for query, want := range map[string]string{
		"": "apple Zebra Élan", "?sort=-board": "Élan Zebra apple", "?sort=-players": "Élan Zebra apple", "?sort=-players&filter=z": "Zebra",
		"?filter=ÉLAN+%3C": "Élan",
	} {
		body := d.get("/admin"+query).wants(t, 200).body
		var got []string
		for _, title := range []string{"Zebra", "Élan", "apple"} {
			if i := strings.Index(body, "<bdi>"+title); i >= 0 {
				got = append(got, title)
			}
		}
		order := strings.Fields(want)
		for i := 1; i < len(order); i++ {
			if strings.Index(body, "<bdi>"+order[i-1]) > strings.Index(body, "<bdi>"+order[i]) {
				t.Errorf("%q: %s stands behind %s", query, order[i-1], order[i])
			}
		}
		if len(got) != len(order) {
			t.Errorf("%q: got %v, want %v", query, got, order)
		}
	}
	d.get("/admin?sort=-players&filter=e").has(t, `aria-sort="descending"`, `href="/admin?filter=e&amp;sort=players"`, `name="sort" value="-players"`, `value="e"`)
	d.get("/admin?filter=%3Cscript%3E").has(t, "Nothing fits “&lt;script&gt;”")
	d.get("/admin?sort=colour").wants(t, 422)
	d.get("/admin?sort=board&sort=board").wants(t, 422)
}
