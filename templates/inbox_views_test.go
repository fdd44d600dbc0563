package templates_test

import "leaderboard/templates"

func inbox() templates.Inbox {
	p := page("Rewards")
	p.Bell = &templates.Bell{Count: "2", Words: "2 rewards wait to be claimed.", Board: "arcade"}
	return templates.Inbox{
		Page: p, Player: `"><script>alert(1)</script>`, Mark: templates.Mark{Initials: "S", Hue: "hue-3"},
		Unclaimed: "2 rewards wait to be claimed.", Later: true, Next: "/inbox?after=7",
		Prizes: []templates.Prize{
			{
				ID: "9", Title: "<img src=x onerror=alert(1)>", From: "Season 3 of arcade", Season: "/b/arcade/seasons/3",
				At: moment("3 May 2026, 14:03 UTC"), Claim: "/inbox/9/claim",
			},
			{
				ID: "8", Title: "Gold chest", From: "Season 2 of arcade", Season: "/b/arcade/seasons/2",
				At: moment("1 May 2026, 10:00 UTC"), Claimed: moment("2 May 2026, 10:00 UTC"), Claim: "/inbox/8/claim",
			},
		},
	}
}

func emptyInbox() templates.Inbox {
	p := page("Rewards")
	p.Bell = &templates.Bell{Words: "Nothing waits to be claimed."}
	return templates.Inbox{Page: p, Player: "mira", Mark: templates.Mark{Initials: "M", Hue: "hue-1"}, Unclaimed: "Nothing waits to be claimed."}
}

func inboxDoor() templates.InboxDoor {
	return templates.InboxDoor{Page: page("Rewards"), Wrong: "This code opens nothing, or no more."}
}

func boardWithBell() templates.Board {
	b := board()
	b.Bell = &templates.Bell{Count: "99+", Words: "120 rewards wait to be claimed.", Board: "arcade"}
	return b
}
