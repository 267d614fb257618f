// Stops the work for a response when its connection closes.
import type { FastifyReply } from 'fastify'
import { unavailable } from '../errors.ts'

/** Runs the work when the response or its connection has closed; immediately if it already has. */
export function runWhenClosed({ raw }: FastifyReply, work: () => void): void {
  if (raw.closed) work()
  else raw.once('close', work)
}

/** Returns a signal that aborts when the response or its connection has closed; the reason is a 503 error. */
export function createCloseSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  runWhenClosed(reply, () => controller.abort(unavailable('the client disconnected')))
  return controller.signal
}
