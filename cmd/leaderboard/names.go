package main

// botNames are what simulated players are called: in many scripts, as players of a real game are.
var botNames = [...]string{
	"Mira", "玩家小明", "NightOwl", "Søren", "Ива́н", "zoë", "さくら", "Jorge_92", "अर्जुन", "KaiserWilli",
	"דנה", "Лисичка", "quietstorm", "민준", "Émile", "Thabo", "🦊 Foxtrot", "Anđela", "ליאור", "Pixel Pete",
	"حسن", "Yuki", "Åse", "Großmeister", "Νίκος", "Chidi", "ミライ", "Łukasz", "lady_lovelace", "สมชาย",
	"Beatriz", "Tamás", "Снежана", "風太郎", "Nguyễn An", "Dovilė", "Rajni", "Captain Crumb", "ليلى", "Jürgen",
	"ByteMe", "Óscar", "지우", "Ximena", "Mo", "🐙 Inky", "Əli", "Guðrún", "Бурундук", "Priya",
	"T-Rex", "Wanjiru", "林小雨", "Zofia", "Ambrosia", "Դավիթ", "Rasmus", "halfpipe", "தமிழ்", "Ines",
	"Kofi", "Márta", "გიორგი", "Sunny D", "Otto von B.", "花火", "Fatou", "Лев", "Ragnhild", "Señor Pato",
	"Cosmo", "সৌরভ", "Ulla", "Vikram", "Çağla", "nullpointer", "André", "Маша", "하늘", "Bo",
	"🚀 Liftoff", "Niamh", "Tuğba", "陈默", "Iolanda", "Wojtek", "Oma Erna", "Ștefan", "മീര", "Halcyon",
	"Freya", "Kwame", "יעל", "Rubén", "Tofu", "Žofie", "Aoife", "たぬき", "سارة", "Petrichor",
	"Jānis", "Dimitra", "Mei-Ling", "Big Sven", "Оля", "Ngozi", "Quill", "Amélie", "Tadeusz", "🌵 Saguaro",
	"Hiroshi", "Lucía", "Σοφία", "Marzipan", "Baraka", "Kateryna", "二郎", "Ferhat", "slowpoke", "Eilidh",
	"Pablo", "Ayşe", "Тимур", "Gwen", "కిరణ్", "Moss", "Henrique", "Saoirse", "ゆず", "Arvid",
	"Nadia", "Ľubica", "Tío Paco", "Juno", "Zanele", "현우", "Björk", "Ali Baba", "Pepper", "Ondřej",
	"🎲 Lucky", "Ганна", "Renée", "Malik", "Vesna", "Ciarán", "小熊", "Ada", "Tiago", "مریم",
	"Frida", "Robo Rob", "Ilze", "Sanjay", "Noor", "Hedda", "Kenji", "Luz", "Bogdan", "Wren",
}
