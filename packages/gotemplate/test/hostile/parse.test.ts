// Tests the limits for parsing: every string is either accepted as a template or rejected.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type TemplateError, parse } from '../../src/index.ts'
import { attempt } from './kit.ts'
import { unparsable } from './unparsable.ts'

describe('the limits of a parse', () => {
  test.each(unparsable)('%s is a parse error', (_, template) => {
    expect(attempt(template)?.phase).toBe('parse')
  })

  test('each limit is named when it is met', () => {
    const bound = (template: string, limits: object): unknown => {
      try {
        parse(template, { limits })
      } catch (error) {
        return (error as TemplateError).bound
      }
      return null
    }
    expect(bound('{{1}}', { length: 4 })).toBe('length')
    expect(bound('{{((1))}}', { nesting: 1 })).toBe('nesting')
    expect(bound('{{((1))}}', { nesting: 2 })).toBeNull()
    expect(bound('{{if 1}}{{if 1}}{{end}}{{end}}', { nesting: 1 })).toBe('nesting')
    expect(bound('{{1}}{{2}}{{3}}', { nodes: 5 })).toBe('nodes')
    expect(bound('{{1}}{{2}}{{3}}', { nodes: 6 })).toBeNull()
  })

  test('long chains of else if are no nesting', () => {
    const branches = Array.from({ length: 5000 }, (_, index) => `{{else if eq . ${index}}}${index}`).join('')
    expect(parse(`{{if false}}${branches}{{end}}`).execute(4999n, { steps: 1e6 })).toBe('4999')
  })
})

test('20,000 random texts as templates: rendered, or a TemplateError', () => {
  const pieces = fc.constantFrom(
    '{{',
    '}}',
    '{{-',
    ' -}}',
    '"',
    "'",
    '`',
    '(',
    ')',
    '|',
    '$',
    '.',
    ':=',
    '=',
    ',',
    '/*',
    '*/',
    'if',
    'range',
    'end',
    'else',
    'with',
    'define',
    'template',
    'block',
    'printf',
    '%',
    '[',
    '\\',
    '0x',
    '1e9',
    ' ',
    '\n',
  )
  const bytes = fc.uint8Array({ maxLength: 40 }).map((array) => Buffer.from(array).toString('latin1'))
  const mixture = fc
    .array(fc.oneof(pieces, fc.string({ unit: 'binary', maxLength: 3 })), { maxLength: 30 })
    .map((all) => all.join(''))
  const seen = { rendered: 0, parse: 0, exec: 0 }
  fc.assert(
    fc.property(fc.oneof(bytes, mixture), (template) => {
      seen[attempt(template)?.phase ?? 'rendered']++
    }),
    { numRuns: 20_000, seed: 1 },
  )
  expect(Math.min(seen.rendered, seen.parse)).toBeGreaterThan(100)
})
