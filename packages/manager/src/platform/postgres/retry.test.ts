// Tests which errors are retried, and how often.
import { expect, test } from 'vitest'
import { type RetryKind, createRetry } from './retry.ts'

const lost = (): Error => new Error('Connection terminated unexpectedly')
const counting = (failures: readonly Error[]) => {
  const state = { tries: 0 }
  return {
    state,
    attempt: () => {
      const error = failures[state.tries++]
      return error === undefined ? Promise.resolve('done') : Promise.reject(error)
    },
  }
}
const options = { kind: 'read', withinMs: 60_000 } as const

test('what a lost connection broke is tried again, at most twice, and counted', async () => {
  const kinds: RetryKind[] = []
  const retry = createRetry({ getPauseMs: () => 0 }, (kind) => kinds.push(kind))
  const healed = counting([lost(), lost()])
  expect(await retry(healed.attempt, options)).toBe('done')
  expect(kinds).toEqual(['read', 'read'])
  const hopeless = counting([lost(), lost(), lost(), lost()])
  await expect(retry(hopeless.attempt, options)).rejects.toThrow('terminated')
  expect(hopeless.state.tries).toBe(3)
})

test('nothing else is tried again', async () => {
  const retry = createRetry({ getPauseMs: () => 0 })
  const broken = counting([new Error('Query read timeout')])
  await expect(retry(broken.attempt, options)).rejects.toThrow('timeout')
  expect(broken.state.tries).toBe(1)
})

test('nor when the time is over, or when connecting is to wait for long', async () => {
  const late = counting([lost()])
  await expect(
    createRetry({ getPauseMs: () => 0 })(late.attempt, { ...options, withinMs: 0 }),
  ).rejects.toThrow()
  const paced = counting([lost()])
  await expect(createRetry({ getPauseMs: () => 900 })(paced.attempt, options)).rejects.toThrow()
  expect([late.state.tries, paced.state.tries]).toEqual([1, 1])
})
