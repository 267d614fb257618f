// The explanations of the call log cover every failure that the documentation lists.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findReason } from '../src/sections/calls/reasons.ts'

const read = (path: string): string => readFileSync(new URL(`../../../docs/${path}`, import.meta.url), 'utf8')
const listUnexplained = (failures: readonly string[]): readonly string[] =>
  failures.filter((failure) => findReason({ failure, responseStatus: 502 }) === 'other')

test('of a partner that could not be called', () => {
  const guide = read('guides/backends/why-did-my-call-fail.md')
  const start = guide.indexOf('## Why the partner could not be called')
  const parts = guide.slice(start, guide.indexOf('## For operators')).split('`')
  const failures = parts.filter((text) => /^the [^,.]+$/.test(text))
  expect(failures.length).toBeGreaterThan(20)
  expect(listUnexplained(failures)).toEqual([])
})

test('of a check of the gateway after the start of the call was logged', () => {
  const reference = read('reference/gateway.md')
  const start = reference.indexOf('| an enabled access row exists')
  const rows = reference.slice(start, reference.indexOf('| the upstream responds correctly')).split('\n')
  const failures = rows.flatMap((row) => row.split('`').at(-2) ?? [])
  expect(failures.length).toBeGreaterThan(10)
  expect(listUnexplained(failures)).toEqual([])
})
