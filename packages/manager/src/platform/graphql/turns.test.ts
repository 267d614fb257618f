// The requests of one person take turns. Other people's requests do not wait for them.
import { describe, expect, test } from 'vitest'
import { AppError } from '../errors.ts'
import { type Turn, createTurns } from './turns.ts'

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
const always = () => true
const never = () => false

type Turns = ReturnType<typeof createTurns>

async function inTurn<T>(newTurn: Turns, person: string, work: (turn: Turn) => Promise<T>): Promise<T> {
  const turn = newTurn(person)
  try {
    await turn.begin()
    return await turn.run(() => work(turn))
  } finally {
    turn.leave()
  }
}

/** Creates requests that run until `end` is called. */
function openRequests(newTurn: Turns) {
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const send = (person: string, name: string): Promise<string> =>
    inTurn(newTurn, person, async () => {
      started.push(name)
      await new Promise<void>((resolve) => ends.set(name, resolve))
      return name
    })
  return { started, send, end: (name: string) => ends.get(name)?.() }
}
const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  )

describe('requests', () => {
  test('run eight at a time for one person, the next ones in their order, and others do not wait', async () => {
    const { started, send, end } = openRequests(createTurns())
    const all = Array.from({ length: 11 }, (_, i) => send('anna', `a${i}`))
    const other = send('bert', 'b0')
    await settled()
    const eight = Array.from({ length: 8 }, (_, i) => `a${i}`)
    expect(started).toEqual([...eight, 'b0'])
    end('a3')
    await settled()
    expect(started.at(-1)).toBe('a8')
    end('a8')
    end('a0')
    await settled()
    expect(started.slice(-2)).toEqual(['a9', 'a10'])
    for (const name of started) end(name)
    expect(await Promise.all(all)).toHaveLength(11)
    expect(await other).toBe('b0')
  })

  test('that fail pass their turn on too', async () => {
    const newTurn = createTurns()
    const fail = () => inTurn(newTurn, 'anna', () => Promise.reject(new Error('broken')))
    const failures = await Promise.all(Array.from({ length: 30 }, () => failureOf(fail())))
    expect(new Set(failures.map((error) => (error as Error).message))).toEqual(new Set(['broken']))
    expect(await inTurn(newTurn, 'anna', () => Promise.resolve('served'))).toBe('served')
  })

  test('of whoever has the most are refused with 503 while 1,000 wait, and those of others are not', async () => {
    const newTurn = createTurns()
    const { send, end, started } = openRequests(newTurn)
    const all = Array.from({ length: 8 + 1_000 }, (_, i) => send('anna', `a${i}`))
    const refused = await failureOf(send('anna', 'one too many'))
    expect(refused).toBeInstanceOf(AppError)
    const { status, retryAfterSeconds } = refused as AppError
    expect([status, retryAfterSeconds]).toEqual([503, 1])
    const other = send('bert', 'b')
    await settled()
    end('b')
    expect(await other).toBe('b')
    for (let i = 0; i < started.length; i++) {
      end(started[i] as string)
      await settled()
    }
    expect(await Promise.all(all)).toHaveLength(8 + 1_000)
    expect(await inTurn(newTurn, 'anna', () => Promise.resolve('served'))).toBe('served')
  })

  test('of a caller who leaves stop waiting', async () => {
    const newTurn = createTurns()
    const { send, started, end } = openRequests(newTurn)
    const all = Array.from({ length: 8 }, (_, i) => send('anna', `a${i}`))
    const left = newTurn('anna')
    const begun = failureOf(left.begin())
    const next = send('anna', 'next')
    left.leave()
    expect(await begun).toBeInstanceOf(AppError)
    end('a0')
    await settled()
    expect(started.at(-1)).toBe('next')
    for (const name of started) end(name)
    await Promise.all([...all, next])
  })
})

describe('large responses', () => {
  test('of one person are built one after the other, those of others at the same time', async () => {
    const newTurn = createTurns()
    const order: string[] = []
    const ends = new Map<string, () => void>()
    const build = (person: string, name: string): Promise<void> =>
      inTurn(newTurn, person, async (turn) => {
        // Even if several fields call `reserveLargeResponse`, the request waits only once.
        await Promise.all([turn.reserveLargeResponse(), turn.reserveLargeResponse()])
        expect(turn.reserveLargeResponse()).toBeNull()
        order.push(name)
        await new Promise<void>((resolve) => ends.set(name, resolve))
      })
    const fail = inTurn(newTurn, 'anna', async (turn) => {
      await settled()
      void turn.reserveLargeResponse()
      throw new Error('gone')
    })
    const all = [build('anna', 'a0'), build('anna', 'a1'), build('bert', 'b0'), build('anna', 'a2')]
    expect(await failureOf(fail)).toBeInstanceOf(Error)
    expect(order).toEqual(['a0', 'b0'])
    for (const name of ['a0', 'a1', 'a2']) {
      ends.get(name)?.()
      await settled()
    }
    ends.get('b0')?.()
    await Promise.all(all)
    expect(order).toEqual(['a0', 'b0', 'a1', 'a2'])
  })
})

describe('documents', () => {
  const check = (newTurn: Turns, person: string, ...how: Parameters<Turn['check']>) =>
    inTurn(newTurn, person, (turn) => turn.check(...how))
  const busyFor = (ms: number) => (): number => {
    const until = performance.now() + ms
    while (performance.now() < until);
    return performance.now()
  }

  test('of one person are judged one at a time, with a pause of nine times as long after each refused one', async () => {
    const newTurn = createTurns()
    const startedAt = performance.now()
    const ends = await Promise.all(
      Array.from({ length: 4 }, () => check(newTurn, 'anna', true, busyFor(5), always) as Promise<number>),
    )
    for (const [index, end] of ends.entries()) expect(end - startedAt).toBeGreaterThan(5 + index * 49)
  })

  test('wait for the pause also when nothing else of the person is under way', async () => {
    const newTurn = createTurns()
    const first = (await check(newTurn, 'anna', true, busyFor(5), always)) as number
    const second = (await check(newTurn, 'anna', false, () => performance.now(), never)) as number
    expect(second - first).toBeGreaterThan(44)
  })

  test('of other people are judged in that pause, and the event loop turns before each costly one', async () => {
    const newTurn = createTurns()
    const order: string[] = []
    const note = (name: string) => () => void order.push(name)
    const all = Array.from({ length: 3 }, (_, i) => check(newTurn, 'anna', true, note(`a${i}`), always))
    const others = Array.from({ length: 20 }, (_, i) => check(newTurn, `p${i}`, true, note('other'), never))
    setImmediate(note('loop'))
    await Promise.all([...all, ...others])
    expect(order.filter((name) => name !== 'other')).toEqual(['loop', 'a0', 'a1', 'a2'])
    expect(order.lastIndexOf('other')).toBeLessThan(order.indexOf('a1'))
  })

  test('that cannot be judged do not block the next ones', async () => {
    const newTurn = createTurns()
    const broken = (): never => {
      throw new Error('broken')
    }
    expect(await failureOf(check(newTurn, 'anna', true, broken, never))).toBeInstanceOf(Error)
    expect(await check(newTurn, 'anna', true, () => 'judged', never)).toBe('judged')
  })
})
