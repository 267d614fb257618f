// Tests bad upstream responses: the caller gets 502 or an incomplete response, the log has one row, and
// nothing else is left behind. The nightly test file of the same name covers late responses.
import { expect, test } from 'vitest'
import type { Message } from '@manager/harness/http-messages.ts'
import { type BadAnswer, brokenAnswers, largeAnswers } from '@manager/harness/bad-answers.ts'
import { type Seen, useBadUpstream } from './bad-upstream.ts'
import { oddAnswers } from './odd-responses.ts'

const { expectOutcome, expectAllSlotsFree, expectNothingLeft, seenOf } = useBadUpstream({
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

test('afterwards all places are free, no more and no less', () => expectAllSlotsFree())
test('afterwards no connection is left on either side, and nothing unforeseen was logged', () =>
  expectNothingLeft())
