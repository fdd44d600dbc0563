package templates_test

import "leaderboard/templates"

// hostile is what somebody may have called anything that has a name.
const hostile = `<img src=x onerror=alert(1)>" onmouseover="alert(1)`

func frame(notice templates.Notice) templates.Admin {
	return templates.Admin{
		Page: page("Admin"), Heading: hostile, Board: "arcade", Token: "TOKEN", Notice: notice,
		Parts: []templates.Link{{Address: "/admin", Text: "Boards", Here: true}, {Address: "/admin/jobs", Text: "Jobs"}},
		Tabs:  []templates.Link{{Address: "/admin/boards/arcade", Text: "Overview", Here: true}, {Address: "/b/arcade", Text: "Public page"}},
	}
}

func done() templates.Notice { return templates.Notice{Text: "Saved: " + hostile} }
func bad() templates.Notice  { return templates.Notice{Text: "That is no " + hostile, Bad: true} }

func login() templates.Login {
	return templates.Login{Page: page("Log in"), Token: hostile, Wrong: "That did not open it."}
}

func tableOf(columns ...templates.Column) templates.Table {
	return templates.Table{
		Label: "Table of things", Columns: columns, Note: "The first 500.",
		Filter: templates.Filter{Action: "/admin", Name: "filter", Label: "Filter things", Value: hostile, Keep: []templates.Hidden{{Name: "sort", Value: hostile}}},
	}
}

func adminBoards() templates.AdminBoards {
	table := tableOf(
		templates.Column{Title: "Board", Sort: "/admin?sort=-board", Sorted: "ascending"},
		templates.Column{Title: "Players", Sort: "/admin?sort=players", Number: true}, templates.Column{Title: "Rules", Extra: true},
	)
	table.More = templates.Link{Address: "/admin/boards", Text: "Make a board"}
	return templates.AdminBoards{Admin: frame(done()), Table: table, Rows: []templates.AdminBoardRow{{
		Address: "/admin/boards/arcade", Title: hostile, ID: "arcade", Players: "1 204", Readers: "7", Season: "3", Ends: moment("3 May 2026 14:03"),
		Schedule: "weekly, Europe/Berlin", Rules: "high is better",
	}}}
}

func noAdminBoards() templates.AdminBoards {
	p := adminBoards()
	p.Rows, p.Table.Empty, p.Table.Filter.Action = nil, "Nothing fits “"+hostile+"”.", ""
	return p
}

func settings(locked string) templates.SettingsForm {
	return templates.SettingsForm{Action: "/admin/boards", Button: "Look at it", Locked: locked, Groups: []templates.Group{{
		Title: "Board", Hint: "What it is.", Fields: []templates.Field{
			{Name: "title", Label: "Title", Kind: "text", Value: hostile, Length: "100", Hint: "Empty: the id.", Wrong: "Must be short."},
			{Name: "order", Label: "Better is", Kind: "choice", Locked: locked != "", Options: []templates.Option{{Value: "desc", Label: "high", Chosen: true}, {Value: "asc", Label: "low"}}},
			{Name: "decimals", Label: "Decimals", Kind: "number", Value: "2", Min: "0", Max: "9", Needed: true},
			{Name: "schedule", Label: "Schedule", Kind: "text", Options: []templates.Option{{Value: "daily", Label: "at midnight"}}},
			{Name: "starts_at", Label: "Began", Kind: "datetime-local", Value: "2026-05-03T14:03:22"},
			{Name: "webhook.secret", Label: "Secret", Kind: "password"},
			{Name: "rewards", Label: "Rewards", Kind: "area", Value: "</textarea>" + hostile},
		},
	}}}
}

func boardForm() templates.BoardForm {
	return templates.BoardForm{Admin: frame(bad()), Form: settings("")}
}

func preview() templates.Preview {
	return templates.Preview{
		Admin: frame(templates.Notice{}), Words: "2 settings would change.",
		Changes: []templates.Change{{Label: "Title", Before: hostile, After: "</td>" + hostile}},
		Facts:   []templates.Fact{{Label: "Time is exact to", Value: "1 s"}}, Zone: "Asia/Kolkata",
		Resets: []templates.Reset{{Local: "Mon 4 May 2026, 00:00", At: moment("3 May 18:30 UTC")}},
		Action: "/admin/boards/arcade", Fields: []templates.Hidden{{Name: "title", Value: hostile}}, Button: "Save it",
	}
}

func adminBoard() templates.AdminBoard {
	return templates.AdminBoard{
		Admin: frame(templates.Notice{}), Facts: []templates.Fact{{Label: "Players", Value: "1 204"}}, Form: settings("Somebody has a score."),
		Close: "/admin/boards/arcade/close", Delete: "/admin/boards/arcade/delete",
	}
}

func confirm() templates.Confirm {
	return templates.Confirm{
		Admin: frame(bad()), Words: []string{hostile + " is taken off the season."}, ID: hostile, IDLabel: "To remove the player, type",
		Action: "/admin/boards/arcade/players/remove", Fields: []templates.Hidden{{Name: "player", Value: hostile}},
		Button: "Remove the player", Danger: true, Cancel: "/admin/boards/arcade/players", Wrong: "Id must be typed.",
	}
}

func closing() templates.Confirm {
	c := confirm()
	c.Notice, c.Wrong, c.Closing, c.Leaders = templates.Notice{}, "", true, rows()[:3]
	c.Prizes = []templates.Won{{Text: hostile + " (gold) for the 1st", Winners: "1 player: " + hostile}}
	c.Reason = templates.Field{Name: "reason", Label: "Reason", Kind: "text", Value: hostile, Needed: true}
	return c
}

func adminPlayers() templates.AdminPlayers {
	picked := row("2", hostile, hostile, "1 200")
	return templates.AdminPlayers{
		Admin: frame(templates.Notice{}), Table: tableOf(templates.Column{Title: "Player"}), Pager: templates.Pager{On: "/admin/boards/arcade/players?offset=50"},
		Rows: []templates.AdminPlayerRow{{Row: rows()[0]}, {Row: picked, Here: true}},
		Picked: &templates.AdminPlayer{
			Row: picked, ID: hostile, Facts: []templates.Fact{{Label: "Place", Value: "2nd"}}, Banned: true, Ban: "Banned: " + hostile, Known: true,
			Activity: []templates.Event{{Row: templates.Row{At: moment("3 min ago")}, Text: "joined in 2nd place", Tone: "up"}},
			BanAt:    "/admin/boards/arcade/players/ban", UnbanAt: "/admin/boards/arcade/players/unban", RemoveAt: "/admin/boards/arcade/players/remove",
		},
		Bans:   templates.Table{Label: "Table of bans", Columns: []templates.Column{{Title: "Player"}, {Title: "Why"}, {}}},
		Banned: []templates.AdminBanRow{{Player: hostile, Name: "Ada", Reason: hostile, Address: "/x", UnbanAt: "/admin/boards/arcade/players/unban"}},
	}
}

func adminHeld() templates.AdminHeld {
	return templates.AdminHeld{
		Admin: frame(templates.Notice{}), Table: tableOf(templates.Column{Title: "No."}), Accept: "/admin/boards/arcade/held/accept",
		Rows: []templates.AdminHeldRow{{
			ID: "7", Player: hostile, Name: hostile + "!", Address: "/x", Points: "9 000", Present: "10", Gain: "8 990", Season: "3", At: moment("now"),
			Reject: "/admin/boards/arcade/held/reject?held=7",
		}},
	}
}

func adminSeasons() templates.AdminSeasons {
	return templates.AdminSeasons{
		Admin: frame(templates.Notice{}), Running: "Season 3 runs.", Close: "/admin/boards/arcade/close",
		Table: tableOf(templates.Column{Title: "Season", Sorted: "descending"}),
		Rows: []templates.AdminSeasonRow{
			{Number: "2", Address: "/b/arcade/seasons/2", Started: moment("1 May"), Ended: moment("2 May"), Players: "9", Reason: hostile, Reopen: "/x"},
			{Number: "1", Address: "/b/arcade/seasons/1", Started: moment("1 Apr"), Ended: moment("1 May"), Players: "9", Reason: "schedule", State: "is paid"},
		},
	}
}

func adminKeys() templates.AdminKeys {
	return templates.AdminKeys{
		Admin: frame(templates.Notice{}), Table: tableOf(templates.Column{Title: "Name"}), Wrong: "Scope must be one at least.",
		Made:   &templates.MadeKey{Name: hostile, Token: "lb_id_secret", Curl: "export KEY=lb_id_secret"},
		Rows:   []templates.AdminKeyRow{{Name: hostile, ID: "id", Scopes: "admin", Boards: "all", Limit: "usual", Expires: moment("1 May"), Expired: true, Used: moment("now"), Revoke: "/x"}},
		Fields: []templates.Field{{Name: "name", Label: "Name", Kind: "text", Value: hostile, Needed: true}},
		Scopes: []templates.Option{{Value: "admin", Label: "everything", Chosen: true}}, Boards: []templates.Option{{Value: "arcade", Label: "arcade"}},
	}
}

func adminJobs() templates.AdminJobs {
	return templates.AdminJobs{
		Admin: frame(templates.Notice{}), Warning: "A job runs for more than 30 seconds.", Paused: true, Dead: true,
		Facts: []templates.Fact{{Label: "Next due", Value: "nothing waits"}}, Table: tableOf(templates.Column{Title: "Job"}),
		States: []templates.Link{{Address: "/admin/jobs?state=dead", Text: "dead 1", Here: true}}, Turn: []templates.Link{{Address: "/x", Text: "Further →"}},
		Rows: []templates.AdminJobRow{{ID: hostile, Kind: "payout", Priority: "3", Due: moment("now"), Deliveries: "12", Reason: hostile, Discard: "/x"}},
	}
}

func adminAudit() templates.AdminAudit {
	return templates.AdminAudit{
		Admin: frame(templates.Notice{}), Table: tableOf(templates.Column{Title: "When"}), Turn: []templates.Link{{Address: "/x", Text: "Older →"}},
		Rows: []templates.AdminActRow{{At: moment("now"), Who: hostile, Act: "season.close failed", Failed: true, Board: "arcade", Player: hostile, Details: hostile}},
	}
}
