// Every notification, hint and socket checker receives a correct history, and histories with planted mistakes
// that it must find.
import { describe, expect, test } from 'vitest'
import {
  type Emit,
  type EmitHistory,
  type HintHistory,
  checkAccepted,
  checkHints,
  checkOncePerKey,
  findLate,
  findRefused,
  findLostOutsideOutage,
  computeResumeMs,
  listReturns,
} from './comms-checkers.ts'
import {
  duplicateNotification,
  hintTwice,
  lostAtSendingReplica,
  lostNotification,
  lostRecipient,
} from './comms-mutants.ts'
import type { SocketEvent } from './sockets.ts'

const emitOf = (key: string, recipients: string[], values: Partial<Emit> = {}): Emit => ({
  key,
  applicationId: 'app',
  recipients,
  attempts: [{ start: 0, end: 5, status: 202 }],
  accepted: [{ notificationId: `id-${key}`, recipientCount: recipients.length }],
  ...values,
})
const history: EmitHistory = {
  emits: [emitOf('a', ['ann', 'bob']), emitOf('b', ['bob'])],
  stored: [
    { id: 'id-a', key: 'a', recipients: ['bob', 'ann'] },
    { id: 'id-b', key: 'b', recipients: ['bob'] },
  ],
  inboxes: [
    { userId: 'ann', applicationId: 'app', ids: ['id-a'] },
    { userId: 'bob', applicationId: 'app', ids: ['id-b', 'id-a'] },
  ],
}

describe('accepted is kept', () => {
  test('in the database and in every inbox', () => {
    expect(checkAccepted(history)).toEqual([])
    expect(findRefused(history.emits)).toEqual([])
  })

  test('what was not accepted may be missing, and is named as refused', () => {
    const emits = [...history.emits, emitOf('c', ['ann'], { accepted: [] })]
    expect(checkAccepted({ ...history, emits })).toEqual([])
    expect(findRefused(emits)).toEqual(['c 202'])
  })

  test.each([
    ['the notification', { stored: history.stored.slice(1) }],
    ['a recipient', { stored: [{ id: 'id-a', key: 'a', recipients: ['bob'] }, ...history.stored.slice(1)] }],
    ['an inbox', { inboxes: history.inboxes.slice(1) }],
    [
      'a line of an inbox',
      { inboxes: [{ userId: 'ann', applicationId: 'app', ids: [] }, ...history.inboxes.slice(1)] },
    ],
    ['the application', { inboxes: history.inboxes.map((inbox) => ({ ...inbox, applicationId: 'other' })) }],
    [
      'somebody in the answer',
      { emits: [emitOf('a', ['ann', 'bob'], { accepted: [{ notificationId: 'id-a', recipientCount: 1 }] })] },
    ],
  ])('finds that it is lost: %s', (_what, change) => {
    expect(checkAccepted({ ...history, ...change })).not.toEqual([])
  })
})

describe('once for a key', () => {
  test('what was tried again is one', () => {
    const twice = emitOf('a', ['ann', 'bob'])
    twice.accepted.push(...twice.accepted)
    expect(checkOncePerKey({ ...history, emits: [twice, ...history.emits.slice(1)] })).toEqual([])
  })

  test.each([
    ['a second notification', { stored: [...history.stored, { id: 'id-2', key: 'a', recipients: ['ann'] }] }],
    [
      'a key that nobody sent',
      { stored: [...history.stored, { id: 'id-z', key: 'z', recipients: ['ann'] }] },
    ],
    ['somebody whom it is not for', { stored: [{ id: 'id-b', key: 'b', recipients: ['ann', 'bob'] }] }],
    ['a line of an inbox', { inboxes: [{ userId: 'ann', applicationId: 'app', ids: ['id-a', 'id-a'] }] }],
    [
      'another answer',
      {
        emits: [
          emitOf('a', ['ann'], {
            accepted: [
              { notificationId: 'id-a', recipientCount: 1 },
              { notificationId: 'id-2', recipientCount: 1 },
            ],
          }),
          emitOf('b', ['bob']),
        ],
        stored: history.stored.slice(1),
      },
    ],
  ])('finds more than one: %s', (_what, change) => {
    expect(checkOncePerKey({ ...history, ...change })).toHaveLength(1)
  })
})

// Sockets 0 and 1 are connected to the first replica, socket 2 to the second.
const hints: HintHistory = {
  replicaOfSocket: [0, 0, 1],
  sent: [
    { key: 'x', at: 1_000, replica: 0, sockets: [0, 2] },
    { key: 'y', at: 2_000, replica: 1, sockets: [0, 1, 2] },
  ],
  arrivals: [
    { key: 'x', socket: 0, at: 1_001 },
    { key: 'x', socket: 2, at: 1_002 },
    { key: 'y', socket: 0, at: 2_001 },
    { key: 'y', socket: 1, at: 2_001 },
    { key: 'y', socket: 2, at: 2_001 },
  ],
}
const [x, y] = hints.sent as [HintHistory['sent'][number], HintHistory['sent'][number]]
const without = (key: string, socket: number): HintHistory => ({
  ...hints,
  arrivals: hints.arrivals.filter((one) => one.key !== key || one.socket !== socket),
})

describe('hints', () => {
  test('all arrive where they shall', () => {
    expect(checkHints(hints)).toEqual({ local: [], remote: [], wrong: [] })
  })

  test('tells what the sending replica owes from what another one does', () => {
    expect(checkHints(without('x', 0))).toEqual({ local: [x], remote: [], wrong: [] })
    expect(checkHints(without('x', 2))).toEqual({ local: [], remote: [x], wrong: [] })
    expect(checkHints(without('y', 1))).toEqual({ local: [], remote: [y], wrong: [] })
  })

  test.each([
    { key: 'x', socket: 0, at: 9_000 },
    { key: 'x', socket: 1, at: 1_003 },
    { key: 'z', socket: 0, at: 1_003 },
  ])('finds one that comes twice, to others, or from nobody: %j', (arrival) => {
    const found = checkHints({ ...hints, arrivals: [...hints.arrivals, arrival] })
    expect(found.wrong).toHaveLength(1)
  })
})

describe('hints that flow again', () => {
  /** One hint every 500 ms. Those in `missed` did not arrive. */
  const hintAt = (at: number) => ({ key: String(at), at, replica: 0, sockets: [0] })
  const sent = Array.from({ length: 21 }, (_, index) => hintAt(index * 500))
  const after = (...missed: number[]): number => computeResumeMs(sent, missed.map(hintAt), 1_000)

  test('from the last of the outage on, whatever happens later', () => {
    expect(after()).toBe(0)
    expect(after(0, 500)).toBe(0)
    expect(after(0, 1_500, 2_000)).toBe(1_000)
    expect(after(1_500, 2_000, 7_000)).toBe(1_000)
  })

  test('one that arrives between others that do not is no end of the outage', () => {
    expect(after(1_500, 3_000)).toBe(2_000)
    expect(after(1_500, 3_000, 4_500, 6_000)).toBe(5_000)
  })

  test('never, when none of them arrive for long enough', () => {
    expect(after(1_500, 3_000, 4_500, 6_000, 7_500, 9_000)).toBe(Infinity)
  })

  test('what is lost before and after the outage is told from what the outage costs', () => {
    const missed = [500, 1_500, 2_000, 7_000].map(hintAt)
    expect(findLostOutsideOutage(missed, 1_000, 2_500).map(({ at }) => at)).toEqual([500, 7_000])
  })
})

describe('sockets that come back', () => {
  const closed = (socket: number, at: number, code = 4_000): SocketEvent => ({
    kind: 'closed',
    socket,
    at,
    code,
    jitterMs: 5_000,
  })
  const hello = (socket: number, at: number): SocketEvent => ({
    kind: 'hello',
    socket,
    at,
    jitterMs: 5_000,
    tookMs: 5,
  })

  test('within the jitter that they were told and the margin', () => {
    const returns = listReturns([
      hello(0, 0),
      closed(0, 100),
      hello(1, 150),
      hello(0, 6_000),
      closed(1, 200),
      hello(1, 300),
    ])
    expect(returns).toEqual([
      { socket: 0, code: 4_000, closedAt: 100, jitterMs: 5_000, backAt: 6_000 },
      { socket: 1, code: 4_000, closedAt: 200, jitterMs: 5_000, backAt: 300 },
    ])
    expect(findLate(returns, 1_000)).toEqual([])
  })

  test('finds one that is late, one that stays away, and does not take an earlier hello for a return', () => {
    expect(findLate(listReturns([closed(0, 0), hello(0, 6_001)]), 1_000)).toHaveLength(1)
    expect(findLate(listReturns([hello(0, 0), closed(0, 100)]), 1_000)).toHaveLength(1)
    const refused: SocketEvent = { kind: 'refused', socket: 0, at: 200, status: 503 }
    expect(findLate(listReturns([closed(0, 100), refused]), 1_000)).toHaveLength(1)
  })
})

describe('mutants', () => {
  test.each([lostNotification(), lostRecipient()])('$name', ({ plant }) => {
    expect(checkAccepted(plant(structuredClone(history)))).not.toEqual([])
  })

  test('a key has two notifications', () => {
    expect(checkOncePerKey(duplicateNotification().plant(history))).toHaveLength(1)
  })

  test('a hint that is missing at home, or comes twice', () => {
    expect(checkHints(lostAtSendingReplica().plant(hints)).local).toHaveLength(1)
    expect(checkHints(hintTwice().plant(hints)).wrong).toHaveLength(1)
  })
})
