// Tests the commit message rules that `npm run check` applies to new commits.
import { expect, test } from 'vitest'
import { findProblems } from '../tools/commits.ts'

test.each([
  'feat(comms): keep notifications for 90 days',
  'fix(db): apply the request deadline while waiting for a connection\n\nA caller waited for two timeouts.',
  'docs: explain how a trigger fires',
  'fix(gateway)!: bypass the cache for refused calls',
])('accepts %j', async (message) => {
  expect(await findProblems(message)).toEqual([])
})

test.each([
  ['The clock runs only outside the database', 'type may not be empty'],
  ['feature(comms): add an inbox', 'type must be one of'],
  ['feat(comms): Add an inbox', 'subject must not be'],
  ['feat(comms): add an inbox.', 'subject may not end with full stop'],
  [`feat(comms): add ${'x'.repeat(60)}`, 'header must not be longer than 72 characters'],
  ['feat(comms): adds an inbox', 'subject must be imperative'],
  ['fix(db): fixed the deadline', 'subject must be imperative'],
  ['test: moving files', 'subject must be imperative'],
])('rejects %j', async (message, problem) => {
  expect((await findProblems(message)).join('\n')).toContain(problem)
})
