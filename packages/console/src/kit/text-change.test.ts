import { expect, test } from 'vitest'
import { findChange } from './text-change.ts'

const changed = (before: string, after: string): [string, string] | null => {
  const change = findChange(before, after)
  return change === null ? null : [before.slice(...change.before), after.slice(...change.after)]
}

test.each([
  ['help@acme.example', 'mail@acme.example', ['help', 'mail']],
  ['30', '30', ['', '']],
  ['abc', 'abcd', ['', 'd']],
  ['aaaa', 'aaa', ['a', '']],
  ['light', 'dark', null],
  ['', 'x', null],
] as const)('the part that differs between %j and %j', (before, after, expected) => {
  expect(changed(before, after)).toEqual(expected)
})
