// Tests that the budget stops every hostile template. time.nightly.test.ts measures how soon.
import { describe, expect, test } from 'vitest'
import { TemplateError, type TemplateFunction, parse } from '../../src/index.ts'
import { bombs } from './bombs.ts'
import { attempt, data, repeat } from './kit.ts'

describe('the budget of an execution', () => {
  test.each(bombs)('%s is stopped', (_, template, bound) => {
    expect(attempt(template)?.bound).toMatch(new RegExp(`^(${bound}|steps|outputBytes)$`))
  })

  test('steps are counted over the whole execution, and each pass counts', () => {
    expect(attempt('{{range 10}}{{end}}', { steps: 12 })).toBeNull()
    expect(attempt('{{range 20}}{{end}}', { steps: 12 })?.bound).toBe('steps')
    expect(attempt('{{range 10}}{{end}}{{range 10}}{{end}}', { steps: 12 })?.bound).toBe('steps')
  })

  test('output may fill its budget to the last byte, and not one more', () => {
    for (const [piece, bytes] of [
      ['x', 1],
      ['é', 2],
      ['日', 3],
      ['😀', 4],
    ] as const) {
      const template = `{{range .list}}${piece}{{end}}`
      expect(attempt(template, { outputBytes: 1000 * bytes })).toBeNull()
      expect(attempt(template, { outputBytes: 1000 * bytes - 1 })?.bound).toBe('outputBytes')
    }
  })

  test('what was written is at hand when the budget ends', () => {
    expect(attempt('0123456789{{range 5}}abcde{{end}}', { outputBytes: 22 })?.output).toBe(
      '0123456789abcdeabcde',
    )
  })

  test('depth counts templates that are open at once', () => {
    const calls = '{{define "a"}}{{template "b"}}{{end}}{{define "b"}}{{end}}{{template "a"}}{{template "a"}}'
    expect(attempt(calls, { depth: 3 })).toBeNull()
    expect(attempt(calls, { depth: 2 })?.bound).toBe('depth')
  })

  test('a generous budget does not let the stack run out', () => {
    const deep = `{{define "a"}}${repeat('{{if (print (print 1))}}', 60)}{{template "a"}}${repeat('{{end}}', 60)}{{end}}{{template "a"}}`
    expect(attempt(deep, { depth: 1_000_000, steps: 1e9 })).toMatchObject({
      bound: 'depth',
      reason: 'templates are nested too deeply',
    })
    const ranges = `{{define "a"}}${repeat('{{range $.list}}', 60)}{{template "a" $}}${repeat('{{end}}', 60)}{{end}}{{template "a" .}}`
    expect(attempt(ranges, { depth: 1_000_000, steps: 1e9 })?.reason).toBe('templates are nested too deeply')
    const plain = '{{define "a"}}{{template "a"}}{{end}}{{template "a"}}'
    expect(attempt(plain, { depth: 1_000_000, steps: 1e9 })?.reason).toBe('templates are nested too deeply')
  })

  test('functions of the host are counted by what they return and by what they charge', () => {
    const long: TemplateFunction<[]> = { parameters: [], call: () => data.text }
    const work: TemplateFunction<[]> = {
      parameters: [],
      call: (_, context) => context.charge({ steps: 1000 }) ?? '',
    }
    const loop = (name: string): TemplateError => {
      const template = parse(`{{range .}}{{$x := ${name}}}{{end}}`, { functions: { long, work } })
      try {
        template.execute(data.numbers)
      } catch (error) {
        return error as TemplateError
      }
      throw new Error('nothing stopped it')
    }
    expect(loop('long').bound).toBe('outputBytes')
    expect(loop('work').bound).toBe('steps')
  })

  test('bytes that a function charges beforehand are not counted twice', () => {
    const long: TemplateFunction<[]> = {
      parameters: [],
      call: (_, context) => {
        context.charge({ bytes: 1000 })
        return 'x'.repeat(1000)
      },
    }
    const template = parse(repeat('{{$x := long}}', 4), { functions: { long } })
    expect(template.execute(null, { outputBytes: 1000 })).toBe('')
    expect(() => template.execute(null, { outputBytes: 999 })).toThrow(TemplateError)
  })
})
