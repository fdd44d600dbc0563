// Package worker runs what happens behind the pages: it works off the job queue and sends webhooks.
//
// What it promises:
//
//   - At least once. A job or a parcel leaves the store when it is done, never before. Whoever handles a job marks its
//     effect with the job's id in the store, and so happens once.
//   - Time. Nothing starts before it is due. A handler is told by its context to end after [store.JobTime]; its slot is
//     free again when it has really returned.
//   - Containment. A panic, a hanging handler or a job that cannot be read costs that job its delivery and no other.
//   - Blocking. Handlers run at once, up to a number; nothing queues up in the process, so what a process holds when it
//     dies is what it was working on.
//   - Ending. Run returns when what runs has ended, or has been handed back.
package worker
