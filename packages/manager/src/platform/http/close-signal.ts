// Whoever has left needs no report: what was begun for a response ends with its connection.
import type { FastifyReply } from 'fastify'
import { unavailable } from '../errors.ts'

/** Runs the work when the response has ended or its connection has: at once if it has already. */
export function whenClosed({ raw }: FastifyReply, work: () => void): void {
  if (raw.closed) work()
  else raw.once('close', work)
}

/** Aborts when the response has ended or its connection has; the reason is an error that may be thrown. */
export function closeSignalOf(reply: FastifyReply): AbortSignal {
  const closing = new AbortController()
  whenClosed(reply, () => closing.abort(unavailable('the caller has left')))
  return closing.signal
}
