import { describe, expect, test } from 'vitest'
import { readTraceContext, createTraceHeaders } from './trace-context.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const spanId = '00f067aa0ba902b7'
const valid = `00-${traceId}-${spanId}-01`
const stateOf = (tracestate: string): string | undefined =>
  readTraceContext({ traceparent: valid, tracestate })?.state

describe('traceparent', () => {
  test('a valid one is read, and written as it came', () => {
    const context = readTraceContext({ traceparent: valid, tracestate: 'congo=t61rcWkgMzE,rojo=00f067' })
    expect(context).toEqual({ traceId, spanId, flags: 1, state: 'congo=t61rcWkgMzE,rojo=00f067' })
    expect(createTraceHeaders(context)).toEqual([
      'traceparent',
      valid,
      'tracestate',
      'congo=t61rcWkgMzE,rojo=00f067',
    ])
  })

  test('one of a later version is read as far as this one knows it, and its unknown flags are not passed on', () => {
    const context = readTraceContext({ traceparent: `cc-${traceId}-${spanId}-ff-what-the-future-holds` })
    expect(createTraceHeaders(context)).toEqual(['traceparent', `00-${traceId}-${spanId}-03`])
  })

  test.each([
    ['none', undefined],
    ['empty', ''],
    ['upper case', valid.toUpperCase()],
    ['version ff', `ff${valid.slice(2)}`],
    ['version 00 with more', `${valid}-more`],
    ['a later version with more, without a hyphen', `cc${valid.slice(2)}more`],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
    ['a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
    ['a trace id that is too short', `00-${traceId.slice(1)}-${spanId}-01`],
    ['another alphabet', `00-${traceId.replace('4', 'g')}-${spanId}-01`],
    ['sent twice', `${valid}, ${valid}`],
    ['a line break', `${valid.slice(0, -1)}\n`],
    ['blanks', ` ${valid}`],
  ])('%s is as if it had not been sent', (_what, traceparent) => {
    expect(readTraceContext({ traceparent, tracestate: 'a=1' })).toBeNull()
    expect(createTraceHeaders(null)).toEqual([])
  })
})

describe('tracestate', () => {
  test('passes within its bounds', () => {
    expect(stateOf('a=1, b@c=2 ,,d/e=x y')).toBe('a=1,b@c=2,d/e=x y')
    expect(stateOf(`a=${'v'.repeat(256)}`)).toHaveLength(258)
    expect(stateOf(Array.from({ length: 32 }, (_, i) => `k${i}=v`).join(','))).toContain('k31=v')
  })

  test.each([
    ['more than 512 characters', `a=${'v'.repeat(250)},b=${'v'.repeat(250)},c=${'v'.repeat(20)}`],
    ['more than 32 members', Array.from({ length: 33 }, (_, i) => `k${i}=v`).join(',')],
    ['a member without a value', 'a=1,b'],
    ['two equals signs', 'a=1=2'],
    ['a key in upper case', 'A=1'],
    ['a value that is not ASCII', 'a=ü'],
  ])('%s: the whole of it is left out, and the traceparent stays', (_what, tracestate) => {
    expect(stateOf(tracestate)).toBe('')
  })
})
