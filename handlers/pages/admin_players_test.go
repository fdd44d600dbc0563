package pages_test

import (
	"errors"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"leaderboard/store"
)

// tricky are ids that play tricks with paths, markup, queries and forms.
var tricky = []string{
	"..", ".", "../../admin", "a/b", "/", "%2e%2e%2f", "%", "a%00b", "?x=1", "#", "a&player=b", "a+b", "a b", "<script>alert(1)</script>",
	`" onmouseover="alert(1)`, "javascript:alert(1)", "{demo.1}:x", "*", "шум", "玩家", "👨‍👩‍👧‍👦", "\u2067שלום\u2069", "e\u0301", strings.Repeat("é", 64),
	"`${7*7}`", "{{7*7}}", "'; DROP TABLE", "\\\\evil\\share", "a\u200bb",
}

func TestPlayersWithTrickyIDsAreFoundBannedAndRemoved(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", nil)
	d.score("demo", "bystander", "By", 1)
	for i, text := range tricky {
		id, err := store.ParsePlayerID(text)
		if err != nil {
			t.Fatal(err)
		}
		d.score("demo", string(id), text[:min(len(text), 1)]+"x", int64(100+i))
	}
	d.login()
	for _, text := range tricky {
		id, _ := store.ParsePlayerID(text)
		at := "player=" + url.QueryEscape(text)
		shown := html.EscapeString(string(id))
		d.get("/admin/boards/demo/players?"+at).wants(t, 200).has(t, "<code><bdi>"+shown+"</bdi></code>", "joined in", "Ban…")
		d.get("/admin/boards/demo/players?q="+url.QueryEscape(text)).wants(t, 200).has(t, "player="+url.QueryEscape(string(id)))

		d.get("/admin/boards/demo/players/ban?"+at).wants(t, 200).has(t, "leaves every view of this board at once", `name="player" value="`+shown+`"`)
		page := d.follow(d.post("/admin/boards/demo/players/ban", "player", text, "reason", "<b>why</b>")).wants(t, 200)
		page.has(t, "is banned.", "Banned: &lt;b&gt;why&lt;/b&gt;", "Lift the ban")
		page.hasNot(t, "<script>alert", "onmouseover=\"alert", "<b>why")
		if _, err := d.store.Player(t.Context(), store.Look{Board: "demo"}, id); !errors.Is(err, store.ErrPlayerNotFound) {
			t.Errorf("%q is on the board: %v", text, err)
		}
		d.follow(d.post("/admin/boards/demo/players/unban", "player", text)).wants(t, 200).has(t, "is no longer banned")

		d.get("/admin/boards/demo/players/remove?"+at).wants(t, 200).has(t, "is taken off season 1", "cannot be taken back")
		for _, typed := range []string{"", "demo", text + "x"} {
			d.post("/admin/boards/demo/players/remove", "player", text, "id", typed).wants(t, 422)
		}
		d.follow(d.post("/admin/boards/demo/players/remove", "player", text, "id", text)).wants(t, 200).has(t, "is off the season")
	}
	top, err := d.store.Top(t.Context(), store.Look{Board: "demo"}, 0, 100)
	if err != nil || top.Total != 1 || top.Entries[0].Player != "bystander" {
		t.Errorf("left are %+v, %v, want the bystander", top.Entries, err)
	}
	acts, _, err := d.store.Acts(t.Context(), "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range tricky {
		id, _ := store.ParsePlayerID(text)
		for _, act := range []string{"player.ban", "player.unban", "player.remove"} {
			if !slices.ContainsFunc(acts, func(a store.Act) bool { return a.Act == act && a.Player == id && a.Board == "demo" && a.Who == "admin" }) {
				t.Errorf("the audit lacks %s of %q", act, text)
			}
		}
	}
}

func TestPlayersThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", nil)
	d.login()
	for _, id := range []string{"", " ", "a\nb", "a\x00", "\xff", strings.Repeat("a", 129), "\u2028\x85"} {
		for _, act := range []string{"ban", "unban", "remove"} {
			r := d.post("/admin/boards/demo/players/"+act, "player", id, "id", id)
			if r.status != 422 {
				t.Errorf("%s %q: got %d, want 422", act, id, r.status)
			}
			r.has(t, `role="alert"`, "Player must be")
		}
		for _, page := range []string{"/players?player=", "/players/ban?player=", "/players/remove?player="} {
			if r := d.get("/admin/boards/demo" + page + url.QueryEscape(id)); r.status != 422 {
				t.Errorf("%s%q: got %d, want 422", page, id, r.status)
			}
		}
	}
	d.post("/admin/boards/demo/players/ban", "player", "a", "player", "b").wants(t, 422)
	d.get("/admin/boards/demo/players/ban").wants(t, 422)
	d.post("/admin/boards/demo/players/unban", "player", "nobody").wants(t, 409).has(t, "not banned here")
	d.post("/admin/boards/demo/players/remove", "player", "nobody", "id", "nobody").wants(t, 404).has(t, "There is nothing of this player")
	d.get("/admin/boards/demo/players?player=nobody").wants(t, 200).has(t, "Nothing in the last thirty days", "Ban…")
	if got := d.acts()[1:]; len(got) != 4 || !strings.Contains(got[1], "player.unban failed") || !strings.Contains(got[3], "player.remove failed") {
		t.Errorf("the audit has %q", got)
	}
}

func TestPlayersAreShownByPlaceAPageAtATime(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", func(s *store.Settings) { s.Decimals = 2 })
	for i := range 60 {
		d.score("demo", fmt.Sprint("p", i), fmt.Sprint("Player ", i), int64(1000-i))
	}
	d.login()
	d.get("/admin/boards/demo/players").wants(t, 200).has(t, "1\u202f000.00", "Player 49", "?offset=50", "Nobody is banned").hasNot(t, "Player 50")
	d.get("/admin/boards/demo/players?offset=50").has(t, "Player 50", "Player 59", "?offset=0").hasNot(t, "Player 49")
	d.get("/admin/boards/demo/players?offset=99").has(t, "Nobody stands here")
	d.get("/admin/boards/demo/players?offset=-1").wants(t, 422)
	d.get("/admin/boards/demo/players?q=player+5&player=p7").has(t, "Player 59", "8th of 60", "q=player+5").hasNot(t, "Player 49")
	d.get("/admin/boards/demo/players?q=zoe").has(t, "Nobody on the board has a name that begins like “zoe”")
	for i := range 3 {
		if _, err := d.store.Ban(t.Context(), "demo", store.PlayerID(fmt.Sprint("p", i)), fmt.Sprint("reason ", 3-i)); err != nil {
			t.Fatal(err)
		}
	}
	page := d.get("/admin/boards/demo/players?sort=why&bans=reason").has(t, "reason 1", "reason 2", "reason 3")
	if strings.Index(page.body, "reason 1") > strings.Index(page.body, "reason 3") {
		t.Error("the bans are not sorted by reason")
	}
	d.get("/admin/boards/demo/players?bans=reason+2").has(t, "reason 2").hasNot(t, "reason 1", "reason 3")
}

func TestHeldScoresAreAcceptedOrDropped(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.board("demo", func(s *store.Settings) { s.Decimals = 1 })
	d.login()
	d.get("/admin/boards/demo/held").wants(t, 200).has(t, "Nothing waits", "its largest step is open")
	d.score("demo", "ada", "Ada <b>", 10)
	d.board("demo", func(s *store.Settings) { s.MaxStep = "100" })
	for i, player := range []string{"ada", "bo", "..", "cy"} {
		d.score("demo", player, "", int64(1000+i))
	}
	page := d.get("/admin/boards/demo/held").wants(t, 200)
	page.has(t, "1\u202f000.0", "10.0", "990.0", "none", `name="held" value="1"`, "/held/reject?held=2")
	d.get("/admin/boards/demo/held?sort=-points&filter=c").has(t, "cy").hasNot(t, ">bo<")

	d.follow(d.post("/admin/boards/demo/held/accept", "held", "1")).has(t, "has 1\u202f000.0 points now, 1st place").hasNot(t, `value="1"/>`)
	d.post("/admin/boards/demo/held/accept", "held", "1").wants(t, 404).has(t, "This score no longer waits", "Held scores")
	d.get("/admin/boards/demo/held/reject?held=2").wants(t, 200).has(t, "The score of \u2068bo\u2069, 1\u202f001.0 points, is dropped")
	d.post("/admin/boards/demo/held/reject", "held", "2", "id", "3").wants(t, 422)
	d.follow(d.post("/admin/boards/demo/held/reject", "held", "2", "id", "2")).has(t, "is dropped")
	d.get("/admin/boards/demo/held/reject?held=2").wants(t, 404)
	d.get("/admin/boards/demo/held/reject").wants(t, 404)
	d.get("/admin/boards/demo/held/reject?held=x").wants(t, 422)
	d.post("/admin/boards/demo/held/accept", "held", "../3").wants(t, 422)
	d.post("/admin/boards/demo/held/accept").wants(t, 422)

	// A ban, and then the end of the season, leave nothing to accept.
	if _, err := d.store.Ban(t.Context(), "demo", "..", ""); err != nil {
		t.Fatal(err)
	}
	d.post("/admin/boards/demo/held/accept", "held", "3").wants(t, 409).has(t, "Lift the ban first")
	d.post("/admin/boards/demo/close", "season", "1", "id", "demo", "reason", "end").wants(t, 303)
	d.post("/admin/boards/demo/held/accept", "held", "4").wants(t, 409).has(t, "The season that this score was posted in is over")
	d.follow(d.post("/admin/boards/demo/held/reject", "held", "4", "id", "4")).wants(t, 200)
	acts := strings.Join(d.acts(), "\n")
	for _, want := range []string{
		"admin|held.accept|demo|ada|number 1, 1\u202f000.0 points in season 1", "admin|held.reject|demo|bo|number 2", "admin|held.accept failed|demo|..|number 3",
	} {
		if !strings.Contains(acts, want) {
			t.Errorf("the audit lacks %q:\n%s", want, acts)
		}
	}
}
