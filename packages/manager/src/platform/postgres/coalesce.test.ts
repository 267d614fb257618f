import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createCoalescer } from './coalesce.ts'

/** Statements that stay pending until the test ends them. */
function createSilent(maxConcurrent: 1 | 2 = 1) {
  const begun: { keys: string[]; end: (error: Error | null) => void }[] = []
  const read = createCoalescer<string, string>({
    getKey: (key) => key,
    run: (keys) =>
      new Promise((resolve, reject) => {
        begun.push({ keys, end: (error) => (error === null ? resolve(keys) : reject(error)) })
      }),
    maxConcurrent,
  })
  return { begun, read }
}

const failureOf = async (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'none',
    (error: unknown) => (error as Error).message,
  )

/** Starts as many statements as may be in flight, and requests one more key. */
async function fill() {
  const { begun, read } = createSilent()
  const first = []
  for (const key of ['a', 'b', 'c', 'd']) {
    first.push(failureOf(read(key)))
    // Longer than the time after which a stalled statement no longer blocks the next one.
    await pause(150)
  }
  return { begun, read, first, late: failureOf(read('late')) }
}

it('lets nobody wait for a second timeout of a database that does not answer', async () => {
  const { begun, read, first, late } = await fill()
  await pause(550)
  const justNow = read('just now')
  begun[0]?.end(new Error('Query read timeout'))
  expect(await first[0]).toBe('Query read timeout')
  await pause(50)
  expect(begun.map(({ keys }) => keys.join())).toEqual(['a', 'b', 'c', 'd', 'just now'])
  expect(await late).toBe('the database is not responding; try again')
  for (const { end } of begun) end(null)
  expect(await justNow).toBe('just now')
})

it('goes on with those who wait after any other failure', async () => {
  const { begun, first, late } = await fill()
  await pause(550)
  begun[0]?.end(new Error('a key is wrong'))
  expect(await first[0]).toBe('a key is wrong')
  await pause(50)
  expect(begun.at(-1)?.keys).toEqual(['late'])
  for (const { end } of begun) end(null)
  expect(await late).toBe('none')
})
