import { expect, test } from 'vitest'
import type { Failure } from '../../api/failures.ts'
import { findBodyLanguage, listErrors, listWarnings } from './template-problems.ts'

const failure = (message: string, values: Partial<Failure> = {}): Failure => ({
  kind: 'invalid',
  message,
  fields: [],
  requestId: null,
  retryAfterMs: null,
  changedBy: null,
  ...values,
})

test('an error has the position that its message names, and only the reason as its text', () => {
  const text =
    "transformationTemplate cannot be parsed: template:3:7: malformed character constant: 'A'\n  {{env 'A'}}\n  ^"
  const expected = {
    severity: 'error',
    message: "malformed character constant: 'A'",
    position: { line: 3, column: 7 },
  }
  expect(listErrors(failure(text))).toEqual([expected])
  const fields = [{ path: 'input.transformationTemplate', message: text }]
  expect(listErrors(failure('input is invalid', { fields }))).toEqual([expected])
})

test('an error without a position is about the body or the request', () => {
  expect(listErrors(failure('the body is not JSON as the endpoint expects\nmore'))).toEqual([
    { severity: 'error', message: 'the body is not JSON as the endpoint expects', position: null },
  ])
})

test('a request that failed for another reason says nothing about the template', () => {
  expect(listErrors(failure('offline', { kind: 'offline' }))).toEqual([])
  expect(listErrors(null)).toEqual([])
})

test('warnings about the result have no position', () => {
  const warnings = [
    { message: 'a', line: 6, column: 23 },
    { message: 'b', line: null, column: null },
  ]
  expect(listWarnings({ output: '', contentType: '', warnings })).toEqual([
    { severity: 'warning', message: 'a', position: { line: 6, column: 23 } },
    { severity: 'warning', message: 'b', position: null },
  ])
  expect(listWarnings(undefined)).toEqual([])
})

test('the language of a body without a type follows from its first character', () => {
  expect(findBodyLanguage(null, ' <a/>')).toBe('xml')
  expect(findBodyLanguage(null, '[1]')).toBe('json')
  expect(findBodyLanguage(null, 'a=1')).toBe('text')
  expect(findBodyLanguage('JSON', '<a/>')).toBe('json')
  expect(findBodyLanguage('SOAP', '')).toBe('xml')
})
