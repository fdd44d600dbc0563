// Package storetest is what tests of stores share: a plain model of a board, the contract of package store as a suite for
// every implementation, and the Redis that a test runs on.
package storetest
