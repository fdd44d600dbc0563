// Package live shows boards as they are now: it keeps the top of each board that is watched or read, and pushes its
// changes to everybody who watches.
//
// What it promises:
//
//   - Order. On one connection the frames of a board form an unbroken chain: a delta begins at the version at which
//     the frame before it ended, and whatever breaks the chain is a snapshot.
//   - Freshness. A kept top is as new as the last change that this process heard of or made. A change that it did not
//     hear of is found within five seconds.
//   - Blocking. Publishing never blocks, and nobody waits for anybody's socket but their own.
//   - Memory. A board is a state, not a history: a reader who is slow holds no queue and skips to the newest state.
//   - Sharing. Every method may be called from many goroutines. A [Kept] and a frame never change, so all share them.
//   - Ending. Every goroutine has an owner that stops it and waits for it.
package live
