import { expect, test } from 'vitest'
import { de } from '../../texts/de.ts'
import { en } from '../../texts/en.ts'
import { createTranslate } from '../../texts/texts.ts'
import { formatDuration, measureRun } from './run-duration.ts'
import { describeOutcome, describeReason } from './run-words.ts'

const english = createTranslate(en)
const german = createTranslate(de)

test('a failure is described in the language of the page', () => {
  const failed = (failure: string) => ({ outcome: 'failed', failure })
  expect(describeReason(failed('the backend returned 503'), english)).toBe('The backend returned status 503.')
  expect(describeReason(failed('the backend returned 503'), german)).toBe(
    'Das Backend antwortete mit Status 503.',
  )
  expect(describeReason(failed('the upstream refuses connections'), german)).toBe(
    'Das Backend lehnt Verbindungen ab.',
  )
})

test('a message of a newer Manager is shown unchanged', () => {
  expect(describeReason({ outcome: 'failed', failure: 'something new' }, english)).toBe('something new')
  expect(describeOutcome('postponed', english)).toEqual({ kind: 'off', word: 'postponed' })
})

test('a run that was never sent has a reason, a delivered run has none', () => {
  expect(describeReason({ outcome: 'skipped_overlap', failure: null }, english)).toBe(
    'The previous run had not ended at this time.',
  )
  expect(describeReason({ outcome: 'delivered', failure: null }, english)).toBe(null)
})

test('a duration is shown in seconds, and in minutes from one minute', () => {
  expect(measureRun({ executedAt: '2026-11-19T10:00:00.000Z', finishedAt: '2026-11-19T10:00:00.420Z' })).toBe(
    420,
  )
  expect(measureRun({ executedAt: null, finishedAt: '2026-11-19T10:00:00.420Z' })).toBe(null)
  expect([420, 6_130, 42_900, 161_000].map((ms) => formatDuration(ms, 'en-US'))).toEqual([
    '0.42 sec',
    '6.13 sec',
    '43 sec',
    '2 min 41 sec',
  ])
})
