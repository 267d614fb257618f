// Upstreams that answer badly: the caller is told 502, or sees that their answer is incomplete, the log has one row, and
// nothing of it stays behind. Those that are late stand in upstream-misbehaviour.nightly.test.ts.
import { expect, test } from 'vitest'
import type { Message } from '@manager/harness/http-messages.ts'
import { type BadAnswer, brokenAnswers, largeAnswers } from '@manager/harness/bad-answers.ts'
import { type Seen, useBadUpstream } from './bad-upstream.ts'
import { oddAnswers } from './odd-answers.ts'

const { expectOutcome, expectAllFree, expectNothingLeft, seenOf } = useBadUpstream({
  others: [...largeAnswers, ...brokenAnswers, ...oddAnswers],
})

test.each(largeAnswers)('[esb.forward-limits] large: $name', (bad) => expectOutcome(bad))
test.each(brokenAnswers)('[esb.forward-failure] broken off: $name', (bad) => expectOutcome(bad))
test.each(oddAnswers)('[esb.forward-failure] [esb.response] odd: $name', (bad) => expectOutcome(bad))

test('a small answer that would be large is passed on and logged as it came', () => {
  const bomb = oddAnswers.find(({ name }) => name.includes('compressed')) as BadAnswer
  const [basic, full] = seenOf(bomb) as [Seen, Seen]
  const [answer] = full.answers as [Message]
  expect(answer.body.length).toBeLessThan(20_000)
  expect(full.rows).toMatchObject([{ response_body: `[binary, ${answer.body.length} bytes]` }])
  expect(basic.rows).toMatchObject([{ response_body: null }])
})

test('afterwards all places are free, no more and no less', () => expectAllFree())
test('afterwards no connection is left on either side, and nothing unforeseen was logged', () =>
  expectNothingLeft())
