package templates_test

import "leaderboard/templates"

func page(title string) templates.Page {
	return templates.Page{Title: title, Description: "Who leads."}
}

func moment(words string) templates.Time {
	return templates.Time{Machine: "2026-05-03T14:03:22Z", Exact: "3 May 2026, 14:03:22 UTC", Words: words}
}

func row(rank, id, name, points string) templates.Row {
	return templates.Row{
		Player: id, Rank: rank, Name: name, Points: points, Exact: points, Address: "/b/arcade/p/" + "x",
		Mark: templates.Mark{Initials: "A", Hue: "hue-3"}, At: moment("3 min ago"),
	}
}

// rows has names that others' boards ran, broke or turned round.
func rows() []templates.Row {
	rows := []templates.Row{
		row("1", "ada", "Ada", "1 240"),
		row("2", "p2", "<img src=x onerror=alert(1)>", "1 200"),
		row("3", "p3", `" onmouseover="alert(1)`, "990"),
		row("4", "p4", "M&M's &lt;b&gt; {{7*7}}", "980"),
		row("5", "p5", "\u2067שלום\u2069", "970"),
		row("6", "p6", "👨‍👩‍👧‍👦", "960"),
	}
	rows[3].Mine = true
	return rows
}

func head() templates.BoardHead {
	return templates.BoardHead{
		ID: "arcade", Title: "Arcade", Address: "/b/arcade", Players: "1 204", Season: "3",
		Clock: templates.Clock{Label: "Ends in", Value: "2 d 15 h", End: moment("")}, AsOf: moment("14:03:22 UTC"),
	}
}

func board() templates.Board {
	all := rows()
	return templates.Board{
		Page: page("Arcade"), Head: head(), Live: templates.Live{Limit: "50", Player: "p4"},
		Rows: all, Range: "Top 50", Pager: templates.Pager{On: "/b/arcade?player=p4&offset=50"},
		Search: templates.Search{Action: "/b/arcade"},
		Place: &templates.Place{
			Row: all[3], Ordinal: "4th", Of: "of 1 204", Share: "99.7 %", ToNext: "10 points behind 3rd", Around: all[1:6],
		},
		Latest: []templates.Event{{Row: all[1], Text: "reached 1 200 points, 2nd"}},
		Past:   []templates.Link{{Address: "/b/arcade/seasons/2", Text: "Season 2"}},
	}
}

func emptyBoard() templates.Board {
	b := board()
	b.Rows, b.Pager, b.Place, b.Latest, b.Past = nil, templates.Pager{}, nil, nil, nil
	b.Live.Player, b.Curl = "", "curl http://127.0.0.1:3000/api/v1/boards/arcade/scores"
	b.Theme = "dark"
	return b
}

func searchedBoard() templates.Board {
	b := board()
	b.Search = templates.Search{
		Action: "/b/arcade", Query: "</title><script>", Asked: true, Found: rows()[1:2],
		Recent: []templates.Link{{Address: "/b/arcade?q=%3Cscript%3E", Text: "<script>"}},
	}
	b.Place = &templates.Place{Row: row("", "nobody", "nobody", ""), Absent: true}
	return b
}

func boardBeyond() templates.Board {
	b := board()
	b.Rows, b.Range, b.Beyond, b.Live = nil, "Place 2 001", "2 001", templates.Live{}
	b.Pager = templates.Pager{First: "/b/arcade", Back: "/b/arcade?offset=1950"}
	b.Search = templates.Search{Action: "/b/arcade", Query: "nobody", Asked: true}
	return b
}

func season() templates.Board {
	b := board()
	winner := rows()[1]
	b.Live, b.Place, b.Latest = templates.Live{}, nil, nil
	b.Head.Closed, b.Head.Winner = "Final", &winner
	b.Head.Clock = templates.Clock{Label: "Ended", Value: "3 May 2026"}
	b.Head.Older, b.Head.Newer, b.Head.Running = "/b/arcade/seasons/1", "/b/arcade/seasons/3", "/b/arcade"
	b.Past[0].Here = true
	return b
}

func home() templates.Home {
	return templates.Home{Page: page("Leaderboard"), Boards: []templates.BoardCard{
		{
			Address: "/b/arcade", Title: "Arcade <b>", Players: "1 204", Season: "3", Leaders: rows()[:3],
			Clock: templates.Clock{Label: "Ends in", Value: "2 d 15 h", End: moment("")},
		},
		{Address: "/b/new", Title: "new", Players: "0", Season: "1", Clock: templates.Clock{Label: "Ends", Value: "open"}},
	}}
}

func player() templates.Player {
	all := rows()
	return templates.Player{
		Page: page("\u2068<script>\u2069 on \u2068Arcade\u2069"), BoardID: "arcade", Row: all[1], Live: true,
		Board:   templates.Link{Address: "/b/arcade", Text: "Arcade"},
		Ordinal: "2nd", Share: "99.9 %", ToNext: "40 points behind 1st", Around: all[:3], Follow: "/b/arcade?player=p2",
		Facts: []templates.Fact{{Label: "Best place", Value: "1st"}},
		Chart: &templates.Chart{
			Title: "Points of \u2068<img src=x>\u2069 over time", Text: "From 10 to 1 200 points in 2 scores.",
			Line: "M0.00 900.00H400.00V100.00H1000.00", Area: "M0.00 900.00H400.00V100.00H1000.00V1000H0.00Z",
			High: "1 200", Low: "10", HighAt: "10.00%", LowAt: "90.00%", From: moment("1 May 10:00"), To: moment("now"),
			Dots: []templates.Dot{{
				X: "40.00%", Y: "10.00%", Value: "1 200 points", When: "3 May 14:03", Label: "1 200 points, 3 May 14:03 UTC",
				Anchor: "middle", Lift: "24",
			}},
		},
		Activity: []templates.Event{{Row: templates.Row{At: moment("3 min ago")}, Text: "climbed from 14th to 2nd with 1 200 points", Tone: "up"}},
		Played:   []templates.Played{{Link: templates.Link{Address: "/b/arcade/p/p2?season=2", Text: "Season 2"}, Ordinal: "4th", Of: "of 120"}},
		AsOf:     moment("14:03:22 UTC"),
	}
}

func problem() templates.Problem {
	return templates.Problem{
		Page: page("No such board"), Status: "404", Heading: "No such board", Words: "There is no board of this name.",
		Ways: []templates.Link{{Address: "/", Text: "All boards"}}, RequestID: "8f2c1a7e",
	}
}
