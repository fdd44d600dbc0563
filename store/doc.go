// Package store holds the words of the game and the rules that need no storage: boards, seasons, points, players,
// entries, and the errors that every part of the program knows.
//
// What an implementation of a store promises:
//
//   - Order. Better points stand first. Among equal points whoever reached them first stands first, whatever the
//     clocks of servers do, as long as the points value has free slots (see [Season]).
//   - Acknowledged means kept. A result that was returned is in the store; an error of the kind [ErrUnavailable] means
//     that nothing is known about the outcome. Nothing is applied twice on its own account.
//   - One look. Everything in one reply was true at one moment.
//   - Sharing. All methods may be called from many goroutines. Values that are returned belong to the caller.
package store
