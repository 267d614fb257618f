import { describe, expect, test } from 'vitest'
import { evaluateAttempt, parseRetryAfter } from './delivery-rules.pure.ts'

const rules = { retryDelaysMs: [5_000, 30_000, 120_000], maxRetryAfterMs: 300_000 }
const now = new Date('2026-11-16T00:00:00Z')
const judge = (result: Parameters<typeof evaluateAttempt>[0], attempt = 1, random = 0.5) =>
  evaluateAttempt(result, attempt, rules, { random, now })

describe('judgeAttempt', () => {
  test('2xx is delivered, and nothing else is', () => {
    for (let status = 200; status < 600; status++)
      expect(judge({ status }).outcome === 'delivered').toBe(status < 300)
  })

  test('retries exactly failures without answer, 408, 425, 429 and 5xx', () => {
    expect(judge({ failure: 'x' })).toMatchObject({ outcome: 'retry', status: null, failure: 'x' })
    for (let status = 300; status < 600; status++)
      expect(judge({ status }).outcome).toBe(
        [408, 425, 429].includes(status) || status >= 500 ? 'retry' : 'failed',
      )
  })

  test('spreads each delay by a fifth, and gives up after the last', () => {
    for (const [index, delay] of rules.retryDelaysMs.entries())
      for (const [random, factor] of [
        [0, 0.8],
        [0.5, 1],
        [1, 1.2],
      ] as const)
        expect(judge({ status: 500 }, index + 1, random)).toMatchObject({ delayMs: delay * factor })
    expect(judge({ status: 500 }, 4)).toMatchObject({
      outcome: 'failed',
      failure: 'the backend returned 500',
    })
  })
})

describe('parseRetryAfter', () => {
  test('reads seconds and dates, and nothing else', () => {
    expect(parseRetryAfter('120', now)).toBe(120_000)
    expect(parseRetryAfter('Mon, 16 Nov 2026 00:01:00 GMT', now)).toBe(60_000)
    expect(parseRetryAfter('Sun, 15 Nov 2026 00:01:00 GMT', now)).toBe(0)
    for (const text of [undefined, '', '-1', '1.5', 'soon', '2026-11-17', '9'.repeat(50), 'Mon'])
      expect(parseRetryAfter(text, now)).toBeNull()
  })
})
