// Mistakes that are planted in the history of a comms scenario. The scenario's checkers must find every
// mistake.
import { randomUUID } from 'node:crypto'
import type { Emit, EmitHistory, HintHistory, SentHint, Stored } from './comms-checkers.ts'
import type { Mutant } from './row.ts'

export const lostNotification = <H extends EmitHistory>(): Mutant<H> => ({
  name: 'an accepted notification is lost',
  breaks: 'accepted_lost',
  plant: (history) => ({ ...history, stored: history.stored.slice(1) }),
})

export const lostRecipient = <H extends EmitHistory>(): Mutant<H> => ({
  name: 'a notification is missing from an inbox',
  breaks: 'accepted_lost',
  plant: (history) => {
    const index = history.inboxes.findIndex(({ ids }) => ids.length > 0)
    return {
      ...history,
      inboxes: history.inboxes.map((inbox, at) =>
        at === index ? { ...inbox, ids: inbox.ids.slice(1) } : inbox,
      ),
    }
  },
})

/** A retry was stored as a second notification. */
export const duplicateNotification = <H extends EmitHistory>(): Mutant<H> => ({
  name: 'a key has two notifications',
  breaks: 'dup',
  plant: (history) => {
    const [stored] = history.stored as [Stored]
    return { ...history, stored: [...history.stored, { ...stored, id: randomUUID() }] }
  },
})

export const refusedEmit = <H extends { emits: Emit[] }>(breaks: string): Mutant<H> => ({
  name: 'an emit is not accepted',
  breaks,
  plant: (history) => {
    const [first, ...others] = history.emits as [Emit]
    return { ...history, emits: [{ ...first, accepted: [] }, ...others] }
  },
})

export const lostAtSendingReplica = <H extends HintHistory>(): Mutant<H> => ({
  name: 'a socket of the sending replica misses a hint',
  breaks: 'own_sockets_missed',
  plant: (history) => {
    const hint = history.sent.find(({ sockets, replica }) =>
      sockets.some((socket) => history.replicaOfSocket[socket] === replica),
    ) as SentHint
    const socket = hint.sockets.find((one) => history.replicaOfSocket[one] === hint.replica)
    return {
      ...history,
      arrivals: history.arrivals.filter((one) => one.key !== hint.key || one.socket !== socket),
    }
  },
})

export const hintTwice = <H extends HintHistory>(): Mutant<H> => ({
  name: 'a hint arrives twice',
  breaks: 'wrong',
  plant: (history) => ({ ...history, arrivals: [...history.arrivals, ...history.arrivals.slice(0, 1)] }),
})

/** Removes the arrivals of these hints at other replicas' sockets. */
const withoutRemote = <H extends HintHistory>(history: H, isLost: (hint: SentHint) => boolean): H => {
  const lost = new Map(history.sent.filter(isLost).map(({ key, replica }) => [key, replica]))
  return {
    ...history,
    arrivals: history.arrivals.filter(
      ({ key, socket }) => !lost.has(key) || history.replicaOfSocket[socket] === lost.get(key),
    ),
  }
}

/** Hints never reach the sockets of other replicas again, even after Redis has recovered. */
export const neverResumed = <H extends HintHistory & { healedAt: number }>(): Mutant<H> => ({
  name: 'hint delivery does not resume',
  breaks: 'resume_ms',
  plant: (history) => withoutRemote(history, ({ at }) => at >= history.healedAt),
})

export const lossyHints = <H extends HintHistory & { brokenAt: number }>(): Mutant<H> => ({
  name: 'hints are lost while Redis is healthy',
  breaks: 'lost_outside_outage',
  plant: (history) => withoutRemote(history, ({ at }) => at < history.brokenAt - 600),
})

export const unready = <H extends { samples: { status: number }[] }>(): Mutant<H> => ({
  name: 'a replica is briefly not ready',
  breaks: 'not_ready',
  plant: (history) => ({
    ...history,
    samples: history.samples.map((sample, index) => (index === 0 ? { ...sample, status: 503 } : sample)),
  }),
})
