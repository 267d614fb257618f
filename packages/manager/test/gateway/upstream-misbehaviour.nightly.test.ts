// Tests bad upstream responses in real time: late or silent upstreams time out, and no other case blocks a caller for
// longer.
import { expect, test } from 'vitest'
import { type BadAnswer, brokenAnswers, largeAnswers, slowAnswers } from '@manager/harness/bad-answers.ts'
import { useBadUpstream } from './bad-upstream.ts'
import { oddAnswers } from './odd-responses.ts'

const timeoutMs = 1_000
const marginMs = 1_300

const { expectOutcome, expectAllSlotsFree, expectNothingLeft, seenOf } = useBadUpstream(
  { together: slowAnswers, others: [...largeAnswers, ...brokenAnswers, ...oddAnswers] },
  { SVC_ESB_FORWARD_TIMEOUT: `${timeoutMs}ms` },
)
const expectInTime = (bad: BadAnswer): void => {
  expectOutcome(bad)
  for (const { ms } of seenOf(bad)) expect(ms).toBeLessThan(timeoutMs + marginMs)
}

test.each(slowAnswers)('[esb.forward-limits] late: $name', (bad) => {
  expectInTime(bad)
  for (const { ms } of seenOf(bad)) expect(ms).toBeGreaterThan(timeoutMs - 10)
})
test.each([...largeAnswers, ...brokenAnswers, ...oddAnswers])('in time: $name', (bad) => expectInTime(bad))

test('afterwards all places are free, no more and no less', () => expectAllSlotsFree())
test('afterwards no connection is left on either side, and nothing unforeseen was logged', () =>
  expectNothingLeft())
