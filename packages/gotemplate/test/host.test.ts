// Tests the interface to a host: functions, builtins, hints, values and messages.
import { describe, expect, test } from 'vitest'
import { TemplateError, type TemplateFunction, goTime, parse } from '../src/index.ts'

/** Returns the error that `run` throws. Fails if it throws nothing. */
function failure(run: () => unknown): TemplateError {
  try {
    run()
  } catch (error) {
    if (error instanceof TemplateError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const join: TemplateFunction<['any', 'string']> = {
  parameters: ['any', 'string'],
  call: ([list, separator]) => (list as string[]).join(separator),
}

describe('functions of the host', () => {
  test('arguments arrive by the types that were declared, constants converted as in Go', () => {
    const seen: unknown[] = []
    const look: TemplateFunction = {
      parameters: ['any', 'string', 'int', 'float64', 'bool'],
      call: (args) => {
        seen.push(...args)
        return ''
      },
    }
    parse('{{look .x "s" 1.0 1 true}}', { functions: { look } }).execute({ x: [1] })
    expect(seen).toEqual([[1], 's', 1n, 1, true])
  })

  test('a piped value is the last argument, and a missing one is null for any', () => {
    const functions = {
      join,
      isNull: { parameters: ['any'], call: ([x]) => x === null } as TemplateFunction<['any']>,
    }
    expect(parse('{{"+" | join .l}} {{isNull .nope}}', { functions }).execute({ l: ['a', 'b'] })).toBe(
      'a+b true',
    )
  })

  test('a variadic function takes any number of arguments for its last parameter', () => {
    const count: TemplateFunction = {
      parameters: ['string', 'any'],
      variadic: true,
      call: (args) => BigInt(args.length),
    }
    const options = { functions: { count } }
    expect(parse('{{count "a"}}{{count "a" 1}}{{count "a" 1 2 3}}', options).execute(null)).toBe('124')
    expect(failure(() => parse('{{count}}', options).execute(null)).reason).toMatch(/want at least 1 got 0/)
  })

  test('results are values: number is float64, bigint is int, objects and lists are read on', () => {
    const give: TemplateFunction<[]> = {
      parameters: [],
      call: () => ({ n: 1e6, i: 1000000n, l: [null], u: undefined }),
    }
    const text = '{{$x := give}}{{$x.n}} {{$x.i}} {{$x.l}} {{printf "%T %T %v" $x.n $x.i $x.u}}'
    expect(parse(text, { functions: { give } }).execute(null)).toBe('1e+06 1000000 [<nil>] float64 int <nil>')
  })

  test('what a function throws ends the execution and is the cause of its error', () => {
    const boom: TemplateFunction<[]> = {
      parameters: [],
      call: () => {
        throw new TypeError('out of order')
      },
    }
    const error = failure(() => parse('before {{boom}}', { functions: { boom } }).execute(null))
    expect(error).toMatchObject({
      phase: 'exec',
      reason: 'error calling boom: out of order',
      output: 'before ',
    })
    expect(error.cause).toBeInstanceOf(TypeError)
  })

  test.each([
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a promise', Promise.resolve(1)],
    ['a Date', new Date(0)],
    [
      'a class instance',
      new (class Thing {
        x = 1
      })(),
    ],
    ['bytes', new Uint8Array(2)],
    ['an integer of 65 bits', 2n ** 64n],
  ])('%s is no value', (_, value) => {
    const give: TemplateFunction<[]> = { parameters: [], call: () => value }
    expect(failure(() => parse('{{give}}', { functions: { give } }).execute(null)).phase).toBe('exec')
    expect(failure(() => parse('{{.v}}').execute({ v: value })).phase).toBe('exec')
  })

  test('context.print is what Go prints', () => {
    const show: TemplateFunction<['any']> = { parameters: ['any'], call: ([x], context) => context.print(x) }
    const data = { m: { b: 1e6, a: [null, 'x'] } }
    expect(parse('{{show .m}}|{{show .nope}}|{{show "s"}}', { functions: { show } }).execute(data)).toBe(
      'map[a:[<nil> x] b:1e+06]|<nil>|s',
    )
  })

  test('a function of the host stands in front of a builtin of the same name', () => {
    const and: TemplateFunction<['any', 'any']> = {
      parameters: ['any', 'any'],
      call: ([a, b]) => `${String(a)}&${String(b)}`,
    }
    expect(parse('{{and false (print "x")}}', { functions: { and } }).execute(null)).toBe('false&x')
  })
})

describe('builtins', () => {
  test('are there unless the host takes them away', () => {
    expect(parse('{{len "ab"}}').execute(null)).toBe('2')
    expect(failure(() => parse('{{len "ab"}}', { builtins: false })).phase).toBe('parse')
  })

  test('may be enabled one by one', () => {
    expect(parse('{{len "ab"}}', { builtins: ['len'] }).execute(null)).toBe('2')
    expect(failure(() => parse('{{print (len "ab")}}', { builtins: ['len'] })).reason).toBe(
      'function "print" not defined',
    )
  })

  test('the host adds a hint to the error for an unknown function', () => {
    const hint = (name: string, isBuiltin: boolean): string => (isBuiltin ? `${name} is switched off` : '')
    expect(failure(() => parse('{{len .}}', { builtins: false, hint })).reason).toBe(
      'function "len" not defined; len is switched off',
    )
    expect(failure(() => parse('{{nope .}}', { builtins: false, hint })).reason).toBe(
      'function "nope" not defined',
    )
  })
})

describe('errors', () => {
  test('a parse error names line and column and points at the place', () => {
    const error = failure(() => parse('first\n\tsecond {{ nope }} rest\nthird', { name: 'mail' }))
    expect(error).toMatchObject({ phase: 'parse', line: 2, column: 12, bound: null, name: 'TemplateError' })
    expect(error.message).toBe(
      'mail:2:12: function "nope" not defined\n  \tsecond {{ nope }} rest\n  \t          ^',
    )
  })

  test('so does an execution error, with what was written before', () => {
    const error = failure(() => parse('a\nbc {{ .x.y }}').execute({ x: 'text' }))
    expect(error).toMatchObject({ phase: 'exec', line: 2, column: 7, output: 'a\nbc ' })
    expect(error.excerpt).toBe('  bc {{ .x.y }}\n        ^')
    expect(error.reason).toBe("can't evaluate field y in type string")
  })

  test('columns count characters, and long lines are shown in part', () => {
    const error = failure(() => parse(`${'😀'.repeat(100)}{{ nope }}${'x'.repeat(200)}`))
    expect(error.column).toBe(104)
    const [line = '', caret = ''] = error.excerpt.split('\n')
    expect(Array.from(line).length).toBeLessThan(90)
    expect(Array.from(line)[caret.length - 1]).toBe('n')
  })

  test('an error in a template that is called points into that template', () => {
    const text = '{{define "row"}}\n{{.x.y}}{{end}}\n{{template "row" .}}'
    expect(failure(() => parse(text).execute({ x: 1 }))).toMatchObject({ line: 2, column: 3 })
  })
})

describe('values', () => {
  test('a Map is a map', () => {
    const data = new Map<string, unknown>([
      ['b', 1],
      ['a', new Map([['x', 'y']])],
    ])
    expect(
      parse('{{.}} {{.a.x}} {{len .}} {{index . "b"}} {{range $k, $v := .}}{{$k}}{{end}}').execute(data),
    ).toBe('map[a:map[x:y] b:1] y 2 1 ab')
    expect(failure(() => parse('{{.}}').execute(new Map([[1, 2]]))).phase).toBe('exec')
  })

  test('bigint is int, also in data', () => {
    expect(parse('{{.n}} {{printf "%05d" .n}} {{eq .n 42}}').execute({ n: 42n })).toBe('42 00042 true')
  })

  test('numbers that JSON has not are printed as in Go', () => {
    const data = { nan: Number.NaN, inf: Number.POSITIVE_INFINITY, low: Number.NEGATIVE_INFINITY, zero: -0 }
    expect(
      parse(
        '{{.nan}} {{.inf}} {{.low}} {{.zero}} {{printf "%5.1f|%+f|% v|%05v" .nan .nan .inf .low}}',
      ).execute(data),
    ).toBe('NaN +Inf -Inf -0   NaN|+NaN| Inf| -Inf')
    expect(
      parse(
        '{{if .nan}}T{{end}}{{if .zero}}T{{else}}F{{end}}{{lt .nan 1.0}}{{gt .nan 1.0}}{{eq .nan .nan}}',
      ).execute(data),
    ).toBe('TFfalsetruefalse')
  })

  test('a time of the host is a Go time', () => {
    const t = goTime(new Date('2026-11-14T08:09:10.120Z'))
    expect(parse('{{.t}} {{.t.Format "Jan 2, 2006 at 3:04pm"}} {{.t.Weekday}}').execute({ t })).toBe(
      '2026-11-14 08:09:10.12 +0000 UTC Nov 14, 2026 at 8:09am Saturday',
    )
    expect(JSON.stringify({ t })).toBe('{"t":"2026-11-14T08:09:10.12Z"}')
    expect(() => goTime(new Date('nonsense'))).toThrow(RangeError)
  })

  test('a template may be executed again and again, with other data', () => {
    const template = parse('{{$n := 0}}{{range .}}{{$n = .}}{{end}}{{$n}}')
    expect([[1, 2], [3], []].map((data) => template.execute(data))).toEqual(['2', '3', '0'])
    expect(template.name).toBe('template')
  })

  test('bytes that are no text leave as U+FFFD', () => {
    expect(parse(String.raw`{{"\xff"}}{{"\xc3"}}{{"\xa9"}}{{slice "é" 0 1}}`).execute(null)).toBe(
      '\ufffdé\ufffd',
    )
  })
})
