// Mistakes that are planted in the history of a row about comms, each of which one of its checkers has to find.
import { randomUUID } from 'node:crypto'
import type { Emit, EmitHistory, HintHistory, SentHint, Stored } from './comms-checkers.ts'
import type { Mutant } from './row.ts'

/** A notification that was accepted is gone. */
export const lostNotification = <H extends EmitHistory>(): Mutant<H> => ({
  name: 'an accepted notification is lost',
  breaks: 'accepted_lost',
  plant: (history) => ({ ...history, stored: history.stored.slice(1) }),
})

/** One of the people does not see it. */
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

/** What was tried again was stored again. */
export const duplicateNotification = <H extends EmitHistory>(): Mutant<H> => ({
  name: 'a key has two notifications',
  breaks: 'dup',
  plant: (history) => {
    const [stored] = history.stored as [Stored]
    return { ...history, stored: [...history.stored, { ...stored, id: randomUUID() }] }
  },
})

/** An emit ends with an error. */
export const refusedEmit = <H extends { emits: Emit[] }>(breaks: string): Mutant<H> => ({
  name: 'an emit is not accepted',
  breaks,
  plant: (history) => {
    const [first, ...others] = history.emits as [Emit]
    return { ...history, emits: [{ ...first, accepted: [] }, ...others] }
  },
})

/** A socket of the replica that sends gets nothing. */
export const lostAtHome = <H extends HintHistory>(): Mutant<H> => ({
  name: 'a socket of the sending replica misses a hint',
  breaks: 'own_sockets_missed',
  plant: (history) => {
    const hint = history.sent.find(({ sockets, replica }) =>
      sockets.some((socket) => history.heldBy[socket] === replica),
    ) as SentHint
    const socket = hint.sockets.find((one) => history.heldBy[one] === hint.replica)
    return {
      ...history,
      arrivals: history.arrivals.filter((one) => one.key !== hint.key || one.socket !== socket),
    }
  },
})

/** A hint reaches a socket twice. */
export const hintTwice = <H extends HintHistory>(): Mutant<H> => ({
  name: 'a hint comes twice',
  breaks: 'wrong',
  plant: (history) => ({ ...history, arrivals: [...history.arrivals, ...history.arrivals.slice(0, 1)] }),
})

/** Takes from the sockets of other replicas what was sent in these times. */
const withoutRemote = <H extends HintHistory>(history: H, isLost: (hint: SentHint) => boolean): H => {
  const lost = new Map(history.sent.filter(isLost).map(({ key, replica }) => [key, replica]))
  return {
    ...history,
    arrivals: history.arrivals.filter(
      ({ key, socket }) => !lost.has(key) || history.heldBy[socket] === lost.get(key),
    ),
  }
}

/** Hints do not reach the sockets of other replicas any more. */
export const neverResumed = <H extends HintHistory & { healedAt: number }>(): Mutant<H> => ({
  name: 'hints do not flow again',
  breaks: 'resume_ms',
  plant: (history) => withoutRemote(history, ({ at }) => at >= history.healedAt),
})

/** Hints are lost while nothing is wrong. */
export const lossyHints = <H extends HintHistory & { harmedAt: number }>(): Mutant<H> => ({
  name: 'hints are lost while Redis is well',
  breaks: 'lost_meanwhile',
  plant: (history) => withoutRemote(history, ({ at }) => at < history.harmedAt - 600),
})

/** A replica says that it cannot work. */
export const unready = <H extends { samples: { status: number }[] }>(): Mutant<H> => ({
  name: 'a replica is not ready for a moment',
  breaks: 'not_ready',
  plant: (history) => ({
    ...history,
    samples: history.samples.map((sample, index) => (index === 0 ? { ...sample, status: 503 } : sample)),
  }),
})
